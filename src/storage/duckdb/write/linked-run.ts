import type { CountedRun } from '../stats/counted-run.js';

/** What a run contributes to the figures of a prompt version that it used. */
export type LinkedRun = Pick<CountedRun, 'success' | 'cost' | 'durationMs'>;

/** A stored run, and the number of a prompt version that it used. */
export interface LinkedPrompt {
  readonly promptNo: number;
  readonly run: LinkedRun;
}
