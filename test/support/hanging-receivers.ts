import { fork } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import type { Message } from './hanging-receivers-main.js';

/** The paths of hanging receivers. */
const WAYS = ['silence', 'hints', 'headers', 'body'];

export interface HangingReceivers {
  /** The URL of one; its name resolves to 127.0.0.1. */
  readonly urlOf: (index: number) => string;
  /** Resolves after that many requests. */
  readonly waitFor: (requests: number) => Promise<void>;
}

/** Starts them in a separate process, so that their memory is not counted here. */
export async function startHangingReceivers(t: Pick<Test, 'teardown'>): Promise<HangingReceivers> {
  const child = fork(fileURLToPath(new URL('./hanging-receivers-main.js', import.meta.url)));
  t.teardown(() => {
    child.disconnect();
  });
  const messages = on(child, 'message') as AsyncIterableIterator<[Message]>;
  const next = async (): Promise<Message> => {
    const { value } = (await messages.next()) as { value: [Message] };
    return value[0];
  };
  const first = await next();
  const port = 'port' in first ? first.port : 0;
  return {
    urlOf: (index) => `https://r${index}.hook.test:${port}/${WAYS[index % WAYS.length] ?? ''}`,
    waitFor: async (requests) => {
      for (;;) {
        const message = await next();
        if ('requests' in message && message.requests === requests) return;
      }
    },
  };
}
