import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import type { Clock } from '../../component/telemetry.js';
import type { Micros } from '../../signal/time.js';
import { pause } from '../../telemetry/pause.js';
import { backoffMs, type RetryOptions } from '../backoff.js';
import { DeliveryError } from './delivery-error.js';

export interface RetryTools {
  readonly clock: Clock;
  /** From 0 to 1, as `Math.random`. */
  readonly random: () => number;
  /** Aborted when the daemon begins to stop: from then on delays are short. */
  readonly abortPending: AbortSignal;
  /** Whether undelivered batches survive the stop: then there are no more attempts once it begins. */
  readonly isKept: () => boolean;
  /** Called after each failed attempt. @param waitMs until the next one; null when there will be none */
  readonly onFailure: (error: unknown, waitMs: number | null) => void;
}

/** Upper bound of a requested retry delay: its reason may pass earlier, and recovery should not require a restart. */
const MAX_RETRY_AFTER_MS = 5 * 60_000;

/** @param since from when its time counts; from the first attempt where absent */
interface RetryingConsumer<B> extends Consumer<B> {
  consume(batch: B, context: ConsumeContext, since?: Micros): Promise<Receipt>;
}

/**
 * Retries a batch after retryable errors and after any other thrown value. When the daemon begins to stop, the current delay ends and
 * later ones are short; the context's `abort` ends all attempts.
 *
 * Rejects with a {@link DeliveryError} only.
 */
export function withRetry<B>(
  inner: Consumer<B>,
  options: RetryOptions,
  tools: RetryTools,
): RetryingConsumer<B> {
  const { clock, random, abortPending, isKept, onFailure } = tools;

  /** Milliseconds to wait after a failure. @throws DeliveryError if there is no further attempt */
  const waitAfter = (error: unknown, failures: number, startedAt: number, abort?: AbortSignal): number => {
    if (error instanceof ConsumeError && !error.retryable) throw new DeliveryError('permanent', error);
    if (abort?.aborted === true || (isKept() && abortPending.aborted))
      throw new DeliveryError('shutdown', error);
    const { isEnabled, maxAttempts = 0, maxElapsedMs } = options;
    if (!isEnabled || (maxAttempts > 0 && failures >= maxAttempts))
      throw new DeliveryError('retries_exhausted', error, 'too_often');
    const askedMs = error instanceof ConsumeError ? (error.retryAfterMs ?? 0) : 0;
    const retryAfterMs = Math.min(askedMs, options.maxMs, MAX_RETRY_AFTER_MS);
    const waitMs = backoffMs(options, abortPending.aborted ? 1 : failures, retryAfterMs, random());
    const elapsedMs = (clock.now() - startedAt) / 1000;
    if (maxElapsedMs > 0 && elapsedMs + waitMs > maxElapsedMs)
      throw new DeliveryError('retries_exhausted', error, 'too_old');
    return waitMs;
  };

  return {
    async consume(batch: B, context: ConsumeContext, since?: Micros): Promise<Receipt> {
      const startedAt = since ?? clock.now();
      for (let failures = 1; ; failures++) {
        let waitMs: number;
        let last: unknown;
        try {
          return await inner.consume(batch, context);
        } catch (error) {
          last = error;
          try {
            waitMs = waitAfter(error, failures, startedAt, context.abort);
          } catch (end) {
            onFailure(error, null);
            throw end;
          }
          onFailure(error, waitMs);
        }
        await pause(clock, waitMs, ...endsOf(context.abort, abortPending));
        if (context.abort?.aborted === true || (isKept() && abortPending.aborted))
          throw new DeliveryError('shutdown', last);
      }
    },
  };
}

/** The signals that end a delay. After the stop has begun, only `abort` ends a delay. */
function endsOf(abort: AbortSignal | undefined, abortPending: AbortSignal): readonly AbortSignal[] {
  return [...(abort ? [abort] : []), ...(abortPending.aborted ? [] : [abortPending])];
}
