import { ConsumeError } from '../../../component/consume-error.js';

/** The store cannot be asked: it is not open, not open any more, or its thread has ended. */
export function controlUnavailable(message: string, cause?: unknown): ConsumeError {
  return new ConsumeError(message, {
    code: 'storage_unavailable',
    retryable: true,
    retryAfterMs: 5000,
    cause,
  });
}
