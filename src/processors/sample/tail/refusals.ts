import { ConsumeError } from '../../../component/consume-error.js';
import { MS_PER_SECOND } from '../../../signal/time-units.js';

/** What a sender is told where there is no room for its runs. */
export function noRoom(processor: string): ConsumeError {
  return new ConsumeError(`Processor "${processor}" is full of undecided runs: send the batch again later`, {
    code: 'overloaded',
    retryable: true,
    retryAfterMs: MS_PER_SECOND,
  });
}

/** And where nothing can be kept on the disk. */
export function notWritable(processor: string, cause: unknown): ConsumeError {
  return new ConsumeError(`The journal of processor "${processor}" cannot be written`, {
    code: 'storage_unavailable',
    retryable: true,
    retryAfterMs: MS_PER_SECOND,
    cause,
  });
}

/** Of a batch of which something is noted that would be lost: a limit would hold no more, or a map would lack it. */
export function outOfOrder(processor: string): ConsumeError {
  return new ConsumeError(
    `Processor "${processor}" creates new batches: list it before quota and service_map in its pipeline`,
    { code: 'internal_error', retryable: true },
  );
}
