import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';

/** A place in a thread's work where it waits until the test lets it go on. */
export interface Place {
  /** What to give to {@link waitAt} in the thread. */
  readonly name: string;
  /** Resolves when a thread has come there. */
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

/** In the thread: says that it is at the place, and waits there. */
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
