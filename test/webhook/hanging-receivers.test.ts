import { fork } from 'node:child_process';
import { on } from 'node:events';
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t, { type Test } from 'tap';
import { startSender, TIMEOUT_MS } from '../support/webhook-sender.js';
import type { Message } from './hanging-receivers.js';

const RECEIVERS = 1000;
const WAYS = ['silence', 'hints', 'headers', 'body'];
const MIB = 1024 * 1024;

interface Memory {
  readonly heap: number;
  readonly whole: number;
}

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** What this process holds once nobody needs the rest any more, in MiB. */
async function memory(): Promise<Memory> {
  for (let i = 0; i < 3; i++) {
    collect();
    await new Promise(setImmediate);
  }
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed / MIB, whole: rss / MIB };
}

async function startReceivers(
  t: Test,
): Promise<{ port: number; waitFor: (requests: number) => Promise<void> }> {
  const child = fork(fileURLToPath(new URL('./hanging-receivers.js', import.meta.url)));
  t.teardown(() => {
    child.disconnect();
  });
  const messages = on(child, 'message') as AsyncIterableIterator<[Message]>;
  const next = async (): Promise<Message> => {
    const { value } = (await messages.next()) as { value: [Message] };
    return value[0];
  };
  const first = await next();
  return {
    port: 'port' in first ? first.port : 0,
    waitFor: async (requests) => {
      for (;;) {
        const message = await next();
        if ('requests' in message && message.requests === requests) return;
      }
    },
  };
}

void t.test(`memory stays flat with ${RECEIVERS} hanging receivers`, async (t) => {
  const { port, waitFor } = await startReceivers(t);
  const { send, clock } = await startSender(t);
  const { signal } = new AbortController();
  const hold = async (requests: number): Promise<{ during: Memory; after: Memory }> => {
    const attempts = Array.from({ length: RECEIVERS }, (_, i) =>
      send(`https://r${i}.hook.test:${port}/${WAYS[i % WAYS.length] ?? ''}`, signal),
    );
    await waitFor(requests);
    const during = await memory();
    clock.advance(TIMEOUT_MS);
    const results = await Promise.all(attempts);
    t.equal(results.filter(({ error }) => error !== null).length, RECEIVERS, 'each attempt has failed');
    return { during, after: await memory() };
  };
  const before = await memory();
  const first = await hold(RECEIVERS);
  const second = await hold(2 * RECEIVERS);
  // Measured: 70 KiB for each, most of it for TLS.
  t.ok(first.during.whole - before.whole < 250, `during: ${told(before)}, then ${told(first.during)}`);
  t.ok(second.after.heap - first.after.heap < 8, `heap: ${told(first.after)}, then ${told(second.after)}`);
  t.ok(second.after.whole - first.after.whole < 100, 'nor does what lies outside of it grow');
});

function told({ heap, whole }: Memory): string {
  return `${heap.toFixed()} MiB of ${whole.toFixed()} MiB`;
}
