import { ConsumeError } from '../../component/consume-error.js';

/**
 * Why delivery of a batch ended. `permanent`: it can never be delivered. `retries_exhausted`: it reached a retry limit. `shutdown`:
 * the daemon stopped.
 */
export type DropReason = 'permanent' | 'retries_exhausted' | 'shutdown';

/** Delivery of a batch has failed for good. The cause is the error of the last attempt. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly reason: DropReason;
  /** For `retries_exhausted`: the limit that was reached. */
  readonly limit: 'too_old' | 'too_often' | undefined;

  constructor(reason: DropReason, cause: unknown, limit?: 'too_old' | 'too_often') {
    super(cause instanceof Error ? cause.message : String(cause), { cause });
    this.reason = reason;
    this.limit = limit;
  }
}

/** The log fields of a failed attempt: a stack only for an error that no exporter expects. */
export function failureFields(error: unknown): object {
  return error instanceof ConsumeError ? { error: error.message } : { err: error };
}
