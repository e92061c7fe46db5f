import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import type { Clock } from '../../component/telemetry.js';

/**
 * Limits the time of one attempt. A late attempt is aborted by the context's `abort` and no longer awaited; the same happens if the
 * caller's own `abort` fires. It then fails with a retryable {@link ConsumeError}.
 */
export function withTimeout<B>(inner: Consumer<B>, ms: number, clock: Clock): Consumer<B> {
  return {
    async consume(batch: B, context: ConsumeContext): Promise<Receipt> {
      const { abort: outer } = context;
      if (outer?.aborted === true) throw stopped();
      const attempt = new AbortController();
      let end = (): void => undefined;
      const ended = new Promise<never>((_, reject) => {
        const stop = (error: ConsumeError) => {
          attempt.abort();
          reject(error);
        };
        const onAbort = () => {
          stop(stopped());
        };
        const cancel = clock.after(ms, () => {
          stop(retryable(`No response within ${ms} ms`));
        });
        outer?.addEventListener('abort', onAbort);
        end = () => {
          cancel();
          outer?.removeEventListener('abort', onAbort);
        };
      });
      try {
        return await Promise.race([inner.consume(batch, { ...context, abort: attempt.signal }), ended]);
      } finally {
        end();
      }
    },
  };
}

function stopped(): ConsumeError {
  return retryable('The attempt was cancelled because the daemon is stopping');
}

function retryable(message: string): ConsumeError {
  return new ConsumeError(message, { code: 'overloaded', retryable: true });
}
