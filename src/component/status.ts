/**
 * `degraded`: does all its work, but somebody should look after something. `recoverable`: will work again by itself. `permanent`:
 * does not work until somebody acts. `fatal`: the daemon must stop.
 */
export type StatusLevel = 'ok' | 'degraded' | 'recoverable' | 'permanent' | 'fatal';

export interface Status {
  readonly level: StatusLevel;
  /** What is wrong, and the cure if there is one. */
  readonly message?: string;
}
