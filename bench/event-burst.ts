import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { BENCH_KEY } from './bench-directory.js';
import { timedOutRun } from './event-source.js';
import { post } from './post.js';
import { cpuSecondsFrom } from './process-usage.js';
import type { WebhookReceiver } from './webhook-receiver.js';

const RUNS_PER_REQUEST = 100;
const LOOK_MS = 250;
const GIVE_UP_MS = 120_000;

/** What came of events that were offered at once. */
export interface Burst {
  /** First attempts that arrived. */
  readonly deliveries: number;
  /** From the first to the last of them. */
  readonly seconds: number;
  /** Processor time of the daemon meanwhile, in seconds; undefined where it cannot be known. */
  readonly cpu: number | undefined;
}

/**
 * Offers more than the daemon can send, in as few requests as can be, and waits until all has arrived: how fast it sends when it does
 * nothing else.
 */
export async function burst(
  daemon: { readonly url: string; readonly pid: number },
  receiver: WebhookReceiver,
  { events, endpoints }: { readonly events: number; readonly endpoints: number },
): Promise<Burst> {
  receiver.reset();
  const used = await cpuSecondsFrom(daemon.pid);
  await offer(daemon.url, events);
  const end = performance.now() + GIVE_UP_MS;
  let { arrivals } = await receiver.received();
  while (arrivals.length < events * endpoints && performance.now() < end) {
    await sleep(LOOK_MS);
    ({ arrivals } = await receiver.received());
  }
  const cpu = await used();
  const first = arrivals.reduce((least, { at }) => Math.min(least, at), Infinity);
  const last = arrivals.reduce((most, { at }) => Math.max(most, at), 0);
  return {
    deliveries: arrivals.length,
    seconds: Math.max(0, last - first) / 1000,
    cpu,
  };
}

async function offer(url: string, events: number): Promise<void> {
  const pool = new Pool(url, { connections: 1, pipelining: 1 });
  try {
    const headers = { authorization: `Bearer ${BENCH_KEY}`, 'content-type': 'application/json' };
    for (let sent = 0; sent < events; sent += RUNS_PER_REQUEST) {
      const traces = Array.from({ length: Math.min(RUNS_PER_REQUEST, events - sent) }, () => ({
        trace: timedOutRun(),
        spans: [],
      }));
      const body = Buffer.from(JSON.stringify({ traces }));
      const { status } = await post(pool, '/api/v1/traces/batch', headers, body);
      if (status !== 200) throw new Error(`The daemon answered a burst of events with status ${status}.`);
    }
  } finally {
    await pool.close();
  }
}
