import type { Micros } from '../../../signal/time.js';

/** Whose quota a change counts for. */
export interface Counted {
  readonly tenant: number;
  /** When it came. */
  readonly at: Micros;
  /** Events a month; Infinity for no limit. */
  readonly limit: number;
}
