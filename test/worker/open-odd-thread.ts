import type { Test } from 'tap';
import { ThreadClient } from '../../src/worker/thread-client.js';
import type { SerializedError } from '../../src/worker/thread-protocol.js';

/** A transferred error with all its fields. */
export class DeserializedError extends Error {
  readonly serialized: SerializedError;
  constructor(serialized: SerializedError) {
    super(serialized.message);
    this.serialized = serialized;
  }
}

/** A thread that follows instructions: see odd-thread.ts. */
export function openOddThread(t: Pick<Test, 'teardown'>) {
  const crashes: Error[] = [];
  const thread = new ThreadClient({
    module: new URL('./odd-thread.js', import.meta.url),
    name: 'odd',
    workerData: {},
    deserializeError: (serialized) => new DeserializedError(serialized),
    ended: (reason) => new Error('the thread is no more', { cause: reason }),
    onNotice: () => undefined,
    onCrash: (error) => crashes.push(error),
  });
  t.teardown(() => thread.close());
  return { thread, crashes };
}
