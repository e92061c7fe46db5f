import type { CountedRun } from '../stats/counted-run.js';

/** The fields of a run that count in the stats of a prompt version. */
export type LinkedRun = Pick<CountedRun, 'success' | 'cost' | 'durationMs'>;

/** A stored run, and the number of a prompt version that it used. */
export interface LinkedPrompt {
  readonly promptNo: number;
  readonly run: LinkedRun;
}
