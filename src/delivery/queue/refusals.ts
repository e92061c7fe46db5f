import { ConsumeError } from '../../component/consume-error.js';

/** Retry delay sent to the sender. */
const RETRY_MS = 1000;

/** There is no room for a batch. @param exporter the exporter's id */
export function queueIsFull(exporter: string): ConsumeError {
  return new ConsumeError(`The queue of exporter "${exporter}" is full: send the batch again later`, {
    code: 'overloaded',
    retryable: true,
    retryAfterMs: RETRY_MS,
  });
}

/** The queue is being emptied for good. @param exporter the exporter's id */
export function isStopping(exporter: string): ConsumeError {
  return new ConsumeError(`Exporter "${exporter}" is stopping: send the batch again later`, {
    code: 'shutting_down',
    retryable: true,
    retryAfterMs: RETRY_MS,
  });
}
