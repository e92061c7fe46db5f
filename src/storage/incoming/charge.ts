import type { Micros } from '../../signal/time.js';

/** The user and month whose quota a change counts for. */
export interface Charge {
  readonly tenant: number;
  /** When it was received, which decides the month. */
  readonly at: Micros;
  /** Monthly limit in items; Infinity for no limit. */
  readonly limit: number;
}
