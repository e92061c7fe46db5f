import type { BatchBody, RunBody } from '../src/cli/demo/body.js';
import { playRun, readRecording } from '../src/cli/demo/recording.js';
import { MS_PER_MINUTE } from '../src/signal/time-units.js';
import { Random } from './random.js';

/** So many runs are at hand to choose from; enough that some one or two of them fill nearly every gap. */
const AT_HAND = 60;
/** A gap of so many spans is filled by choice, a larger one by the next run in line. */
const GAP = 40;

/** Requests without end, each of whole runs of the demo's recording with exactly so many spans together. */
export function* exactBatches(options: {
  readonly seed: string;
  readonly spans: number;
  /** The runs end before. Milliseconds since the epoch. */
  readonly untilMs: number;
}): Generator<BatchBody, never> {
  const runs = endlessRuns(options.seed, options.untilMs);
  const waiting: RunBody[] = [];
  for (;;) {
    const traces: RunBody[] = [];
    let missing = options.spans;
    while (missing > 0) {
      while (waiting.length < AT_HAND) waiting.push(runs.next().value);
      const chosen = missing <= GAP ? fill(waiting, missing) : waiting.slice(0, 1);
      if (chosen === undefined) {
        // Nothing fits here: give the last run back, and have more to choose from.
        const last = traces.pop();
        if (last !== undefined) waiting.push(last);
        missing += last?.spans.length ?? 0;
        waiting.push(runs.next().value);
        continue;
      }
      for (const run of chosen) {
        waiting.splice(waiting.indexOf(run), 1);
        traces.push(run);
        missing -= run.spans.length;
      }
    }
    yield { traces };
  }
}

/** @returns the one or two runs that have exactly so many spans, if there are any */
function fill(runs: readonly RunBody[], spans: number): readonly RunBody[] | undefined {
  for (const [index, first] of runs.entries()) {
    if (first.spans.length === spans) return [first];
    const second = runs.slice(index + 1).find((run) => run.spans.length === spans - first.spans.length);
    if (second !== undefined) return [first, second];
  }
  return undefined;
}

/** The recording in a loop. The seed chooses where it begins, and makes the ids. */
function* endlessRuns(seed: string, untilMs: number): Generator<RunBody, never> {
  const recording = readRecording();
  const { length } = recording.runs;
  const first = new Random(seed).integer(0, length - 1);
  for (let place = first; ; place += 1) {
    const startMs = untilMs - (length - (place % length)) * MS_PER_MINUTE;
    yield playRun(recording, place % length, startMs, `${seed}/${String(Math.floor(place / length))}`).body;
  }
}
