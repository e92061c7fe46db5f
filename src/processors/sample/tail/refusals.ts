import { ConsumeError } from '../../../component/consume-error.js';
import { MS_PER_SECOND } from '../../../signal/time-units.js';

/** The error if there is no space for a sender's runs. */
export function noRoom(processor: string): ConsumeError {
  return new ConsumeError(`Processor "${processor}" is full of undecided runs: send the batch again later`, {
    code: 'overloaded',
    retryable: true,
    retryAfterMs: MS_PER_SECOND,
  });
}

/** The error if the disk cannot be written. */
export function notWritable(processor: string, cause: unknown): ConsumeError {
  return new ConsumeError(`The journal of processor "${processor}" cannot be written`, {
    code: 'storage_unavailable',
    retryable: true,
    retryAfterMs: MS_PER_SECOND,
    cause,
  });
}

/** The error for a batch with attached quota or service map data, which would be lost here. */
export function outOfOrder(processor: string): ConsumeError {
  return new ConsumeError(
    `Processor "${processor}" creates new batches: list it before quota and service_map in its pipeline`,
    { code: 'internal_error', retryable: true },
  );
}
