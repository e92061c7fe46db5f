import type { Micros } from '../../signal/time.js';

/** Whose quota a change counts for, and in which month. */
export interface Counted {
  readonly tenant: number;
  /** When it came, which decides the month. */
  readonly at: Micros;
  /** Items a month; Infinity for no limit. */
  readonly limit: number;
}
