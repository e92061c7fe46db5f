/**
 * `degraded`: does all its work, but needs attention. `recoverable`: not working; retrying automatically. `permanent`: not working
 * until an operator acts. `fatal`: the daemon must stop.
 */
export type StatusLevel = 'ok' | 'degraded' | 'recoverable' | 'permanent' | 'fatal';

export interface Status {
  readonly level: StatusLevel;
  /** The problem, and the remedy if there is one. */
  readonly message?: string;
}
