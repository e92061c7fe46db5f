import type { JsonObject } from '../../signal/attributes.js';
import type { Recorder } from './recorder.js';
import type { Rhythm } from './rhythm.js';

/** How a run ended, in the eyes of whoever judges it. */
export interface Verdict {
  /** Absent where nobody has said. */
  readonly success?: boolean;
  readonly outcome: string;
}

/** One agent of the demo. */
export interface AgentProfile {
  readonly name: string;
  /** Its share of all runs, relative to the others'. */
  readonly weight: number;
  readonly rhythm: Rhythm;
  readonly sdkVersion: string;
  /** What its runs say of themselves. */
  readonly metadata: JsonObject;
  /** Does one run. Failures of steps pass through it; they end the run as failed. */
  readonly run: (recorder: Recorder) => Verdict;
}

/** An ending and how likely it is. */
export interface Ending extends Verdict {
  readonly weight: number;
}

/** Draws an ending; the better the quality of the day, the more of the good ones. */
export function drawVerdict(recorder: Recorder, endings: readonly Ending[]): Verdict {
  const { success, outcome } = recorder.random.weighted(endings, (ending) =>
    ending.success === true ? ending.weight * recorder.conditions.quality ** 4 : ending.weight,
  );
  return success === undefined ? { outcome } : { success, outcome };
}
