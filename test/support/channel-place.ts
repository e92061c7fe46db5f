import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';

/** A point in the work of a thread at which it waits for the test. */
export interface Place {
  /** The argument of {@link waitAt} in the thread. */
  readonly name: string;
  /** Resolves when a thread has reached it. */
  readonly reached: Promise<void>;
  goOn(): void;
}

export function aPlace(t: Test): Place {
  const name = randomUUID();
  const channel = new BroadcastChannel(name);
  t.teardown(() => {
    channel.close();
  });
  return {
    name,
    reached: new Promise((resolve) => {
      channel.onmessage = () => {
        resolve();
      };
    }),
    goOn: () => {
      channel.postMessage('go on');
    },
  };
}

/** In the thread: announces the point and waits there. */
export async function waitAt(name: string): Promise<void> {
  const channel = new BroadcastChannel(name);
  await new Promise<void>((resolve) => {
    channel.onmessage = () => {
      resolve();
    };
    channel.postMessage('here');
  });
  channel.close();
}
