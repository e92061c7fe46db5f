import { randomInt } from 'node:crypto';
import { ConsumeError } from '../../../src/component/consume-error.js';
import { uuidV7 } from '../../../src/signal/ids.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { storeToKill } from '../../storage/duckdb/store-to-kill.js';
import { aLog } from '../../support/log-records.js';
import { aPoint } from '../../support/metric-points.js';
import { aSpanRecord, aTrace, NOON } from '../../support/run-records.js';

/**
 * A process that a test kills: it opens the store (first argument) and writes endlessly for a user (second argument) under a limit (third
 * argument), several batches at a time: runs, more spans of them, repeats, log records and points, all of which count. It prints a line
 * for each response.
 */

export interface QuotaLine {
  readonly kind: 'done';
  readonly isTaken: boolean;
}

const WRITERS = 4;
const [, , path = '', tenant = '', limit = ''] = process.argv;

const quota = { monthly_items: Number(limit) };
const context = { receivedAt: NOON };
const store = await storeToKill(path);
await Promise.all(Array.from({ length: WRITERS }, () => write()));

async function write(): Promise<never> {
  let last = aTrace(1);
  for (;;) {
    const kind = randomInt(5);
    // A run without spans leaves no trace of having been counted.
    if (kind === 0) last = aTrace(randomInt(1, 6));
    else if (kind === 1) last = withMoreSpans(last, randomInt(3));
    print({ kind: 'done', isTaken: await isTaken(() => writeOne(kind, last)) });
  }
}

/** Kinds 0 and 1 add something new, 2 repeats it. */
async function writeOne(kind: number, trace: TraceRecord): Promise<unknown> {
  if (kind <= 2) return await store.writer.traces({ tenant, items: [trace], quota }, context);
  const times = Array.from({ length: randomInt(1, 6) }, () => NOON + randomInt(1000));
  if (kind === 3) {
    const items = times.map((timestamp) => aLog({ id: uuidV7(Date.now()), timestamp, body: 'written' }));
    return await store.writer.logs({ tenant, items, quota }, context);
  }
  const items = times.map((timestamp) => aPoint({ timestamp }));
  return await store.writer.metrics({ tenant, items, quota }, context);
}

function withMoreSpans({ trace, spans }: TraceRecord, more: number): TraceRecord {
  const added = Array.from({ length: more }, () => aSpanRecord(trace.trace_id));
  return { trace: { ...trace }, spans: [...spans, ...added] };
}

async function isTaken(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof ConsumeError && error.code === 'quota_exceeded') return false;
    throw error;
  }
}

function print(line: QuotaLine): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
