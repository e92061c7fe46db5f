import { ConsumeError } from '../../component/consume-error.js';

/**
 * Why a batch was given up. `permanent`: it can never be delivered. `retries_exhausted`: it may no longer be tried.
 * `shutdown`: the daemon had to stop.
 */
export type DropReason = 'permanent' | 'retries_exhausted' | 'shutdown';

/** A batch was given up. The cause is what the last attempt failed with. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly reason: DropReason;
  /** Of `retries_exhausted`: what it has passed. */
  readonly limit: 'too_old' | 'too_often' | undefined;

  constructor(reason: DropReason, cause: unknown, limit?: 'too_old' | 'too_often') {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.reason = reason;
    this.limit = limit;
  }
}

/** What the log says of a failed attempt: a stack only for an error that no exporter expects. */
export function failureFields(error: unknown): object {
  return error instanceof ConsumeError ? { error: error.message } : { err: error };
}
