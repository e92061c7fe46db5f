import type { BatchBody, RunBody } from '../src/cli/demo/body.js';
import { playRun, readRecording } from '../src/cli/demo/recording.js';
import { MS_PER_MINUTE } from '../src/signal/time-units.js';
import { Random } from './random.js';

/** Number of runs to select from: enough that one or two of them fit almost always. */
const POOL_SIZE = 60;
/** If at most this many spans are missing, runs are selected by size. */
const FIT_THRESHOLD = 40;

/** Generates requests of whole runs of the demo's recording. All have the same number of spans. */
export function* exactBatches(options: {
  readonly seed: string;
  /** Spans per request. */
  readonly spans: number;
  /** Latest end of the runs, in milliseconds since the epoch. */
  readonly untilMs: number;
}): Generator<BatchBody, never> {
  const runs = endlessRuns(options.seed, options.untilMs);
  const pool: RunBody[] = [];
  for (;;) {
    const traces: RunBody[] = [];
    let missing = options.spans;
    while (missing > 0) {
      while (pool.length < POOL_SIZE) pool.push(runs.next().value);
      const selected = missing <= FIT_THRESHOLD ? findFit(pool, missing) : pool.slice(0, 1);
      if (selected === undefined) {
        // Nothing fits: return the last run to the pool and enlarge it.
        const last = traces.pop();
        if (last !== undefined) pool.push(last);
        missing += last?.spans.length ?? 0;
        pool.push(runs.next().value);
        continue;
      }
      for (const run of selected) {
        pool.splice(pool.indexOf(run), 1);
        traces.push(run);
        missing -= run.spans.length;
      }
    }
    yield { traces };
  }
}

/** Finds one or two runs with exactly this many spans together. */
function findFit(runs: readonly RunBody[], spans: number): readonly RunBody[] | undefined {
  for (const [index, first] of runs.entries()) {
    if (first.spans.length === spans) return [first];
    const second = runs.slice(index + 1).find((run) => run.spans.length === spans - first.spans.length);
    if (second !== undefined) return [first, second];
  }
  return undefined;
}

/** Repeats the recording. The seed determines the first run and the ids. */
function* endlessRuns(seed: string, untilMs: number): Generator<RunBody, never> {
  const recording = readRecording();
  const { length } = recording.runs;
  const first = new Random(seed).integer(0, length - 1);
  for (let number = first; ; number += 1) {
    const startMs = untilMs - (length - (number % length)) * MS_PER_MINUTE;
    yield playRun(recording, number % length, startMs, `${seed}/${String(Math.floor(number / length))}`).body;
  }
}
