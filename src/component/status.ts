/**
 * `degraded`: does all its work, but somebody should see to something. `recoverable`: works again by itself. `permanent`: does
 * not work until somebody acts. `fatal`: the daemon must stop.
 */
export type StatusLevel = 'ok' | 'degraded' | 'recoverable' | 'permanent' | 'fatal';

export interface Status {
  readonly level: StatusLevel;
  /** What is wrong, and where there is one, the cure. */
  readonly message?: string;
}
