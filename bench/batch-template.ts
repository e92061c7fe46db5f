import type { BatchBody } from '../src/cli/demo/body.js';
import type { BodyTemplate, RefreshContext } from './body-template.js';
import type { SampledTrace } from './load-plan.js';

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const TIME = /"(?:started_at|ended_at)":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)"/g;
const TIME_LENGTH = 24;

/** Offsets of the values of a run in the body. */
interface RunOffsets {
  readonly spans: number;
  readonly durationMs: number;
  readonly traceId: readonly number[];
  readonly times: readonly { readonly offset: number; readonly afterStartMs: number }[];
}

/** A request of the batch route in JSON. */
export class BatchTemplate implements BodyTemplate {
  readonly bytes: Buffer;
  readonly items: number;
  readonly runs: readonly RunOffsets[];
  /** Offsets of each id that is not a trace id. */
  readonly #spanIds: readonly (readonly number[])[];

  constructor(batch: BatchBody) {
    this.bytes = Buffer.from(JSON.stringify(batch));
    this.items = batch.traces.reduce((sum, run) => sum + run.spans.length, 0);
    // In Latin-1, positions in the text are offsets in the buffer.
    const text = this.bytes.toString('latin1');
    const offsets = idOffsets(text);
    this.runs = runOffsets(batch, text, offsets);
    const traceIds = new Set(batch.traces.map((run) => run.trace.trace_id));
    this.#spanIds = [...offsets].filter(([id]) => !traceIds.has(id)).map(([, positions]) => positions);
  }

  get units(): number {
    return this.runs.length;
  }

  refresh({ ids, times, startMs }: RefreshContext): void {
    for (const offsets of this.#spanIds) ids.write(this.bytes, offsets);
    for (const [index, run] of this.runs.entries()) {
      ids.write(this.bytes, run.traceId);
      const runStartMs = startMs(index / this.runs.length, run.durationMs);
      for (const { offset, afterStartMs } of run.times) {
        times.write(this.bytes, offset, runStartMs + afterStartMs);
      }
    }
  }

  sample(): SampledTrace | undefined {
    const run = this.runs[Math.floor(Math.random() * this.runs.length)];
    return run && { traceId: this.traceId(run), spans: run.spans };
  }

  /** Returns the current id of a run. */
  traceId(run: RunOffsets): string {
    const offset = run.traceId[0] ?? 0;
    return this.bytes.toString('latin1', offset, offset + 36);
  }
}

function idOffsets(text: string): Map<string, number[]> {
  const offsets = new Map<string, number[]>();
  for (const match of text.matchAll(UUID)) {
    const positions = offsets.get(match[0]);
    if (positions) positions.push(match.index);
    else offsets.set(match[0], [match.index]);
  }
  return offsets;
}

function runOffsets(
  batch: BatchBody,
  text: string,
  offsets: ReadonlyMap<string, readonly number[]>,
): RunOffsets[] {
  let end = 0;
  return batch.traces.map((run) => {
    const bytes = Buffer.byteLength(JSON.stringify(run));
    const start = text.indexOf('{"trace":', end);
    end = start + bytes;
    const startMs = Date.parse(run.trace.started_at);
    const times = [...text.slice(start, end).matchAll(TIME)].map((match) => ({
      offset: start + match.index + match[0].length - 1 - TIME_LENGTH,
      afterStartMs: Date.parse(match[1] ?? '') - startMs,
    }));
    return {
      spans: run.spans.length,
      durationMs: Math.max(0, ...times.map((time) => time.afterStartMs)),
      traceId: offsets.get(run.trace.trace_id) ?? [],
      times,
    };
  });
}
