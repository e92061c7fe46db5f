import { parentPort } from 'node:worker_threads';
import { MessageBatcher } from '../../src/worker/message-batcher.js';
import { Transfer, type ThreadMessage } from '../../src/worker/thread-protocol.js';
import { serve } from '../../src/worker/thread-server.js';

/** A thread that follows instructions: responds, transfers buffers, throws, hangs or exits. */

class OddError extends TypeError {
  override readonly name = 'OddError';
  readonly code = 'odd';
  readonly isRetryable = true;
  readonly details = { not: 'plain' };
}

if (parentPort !== null) {
  let [isAborted, abortPending] = [false, (): void => undefined];
  serve(parentPort, new MessageBatcher<ThreadMessage>(parentPort), {
    echo: (value: unknown) => value,
    later: async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms, ms)),
    bytes: (count: number) => {
      const bytes = new Uint8Array(count).fill(7);
      return new Transfer({ bytes }, [bytes.buffer]);
    },
    fail: () => {
      throw new OddError('it is odd', { cause: new Error('the deeper reason') });
    },
    failOddly: () => {
      // eslint-disable-next-line @typescript-eslint/only-throw-error -- as some libraries do
      throw 'a text';
    },
    abortPending: () => {
      isAborted = true;
      abortPending();
    },
    comeToAnEnd: async () => {
      if (!isAborted) await new Promise<void>((resolve) => (abortPending = resolve));
    },
    silence: () => new Promise(() => undefined),
    crash: () => {
      setImmediate(() => {
        throw new Error('nobody catches this');
      });
    },
    end: () => process.exit(3),
  });
}
