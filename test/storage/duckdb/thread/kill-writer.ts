import { randomInt, randomUUID } from 'node:crypto';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { storeToKill } from '../store-to-kill.js';

/**
 * A process to be killed: opens the store of its first argument and writes for the user of its second, several
 * batches at a time, forever. Prints a line before each write (`sent`) and after its response (`done`), each naming
 * the traces as JSON with the spans the write adds and whether it completes the run.
 */

export interface Line {
  readonly kind: 'sent' | 'done';
  readonly writes: readonly { readonly id: string; readonly spans: number; readonly completes: boolean }[];
}

const WRITERS = 4;
const [, , path = '', tenant = ''] = process.argv;

const store = await storeToKill(path);
await Promise.all(Array.from({ length: WRITERS }, () => write()));

async function write(): Promise<never> {
  const open: string[] = [];
  for (;;) {
    const items = Array.from({ length: randomInt(1, 4) }, () => next(open));
    const writes = items.map(({ trace, spans }) => ({
      id: trace.trace_id,
      spans: spans.length,
      completes: trace.status === 'completed',
    }));
    print({ kind: 'sent', writes });
    await store.writer.traces({ tenant, items }, { receivedAt: NOON });
    print({ kind: 'done', writes });
  }
}

/** A new run, more spans of a running one, or its completion. */
function next(open: string[]): TraceRecord {
  const id = randomInt(3) === 0 ? open.shift() : undefined;
  if (id !== undefined) {
    const status = randomInt(2) === 0 ? 'completed' : 'running';
    if (status === 'running') open.push(id);
    const { trace } = aTrace(0, { trace_id: id, status });
    return { trace, spans: spans(id, randomInt(0, 5)) };
  }
  const { trace } = aTrace(0, { trace_id: randomUUID(), status: 'running' });
  open.push(trace.trace_id);
  return { trace, spans: spans(trace.trace_id, randomInt(0, 10)) };
}

function spans(traceId: string, count: number) {
  return Array.from({ length: count }, () =>
    aSpanRecord(traceId, { input_data: { text: 'x'.repeat(randomInt(2000)) }, total_tokens: 1 }),
  );
}

function print(line: Line): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
