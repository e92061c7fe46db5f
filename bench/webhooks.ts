import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { stringify } from 'yaml';
import { AUTHORITY } from '../test/support/webhook-certificates.js';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { EventSource, timedOutRun } from './event-source.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { Latency } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { post } from './post.js';
import { cpuSecondsFrom } from './process-usage.js';
import { lines, ms, printSetup, type Print } from './report.js';
import { WebhookReceiver, type Received } from './webhook-receiver.js';

const CONNECTIONS = 64;
const SPANS_PER_REQUEST = 100;
const BODIES = 500;
const WARMUP_SECONDS = 10;
const ENDPOINTS = '/org/default/webhooks/endpoints';
/** Deliveries that are under way when nothing is sent any more; also what lies between two turns. */
const SETTLE_MS = 3000;

export interface WebhooksOptions {
  readonly endpoints: number;
  /** Events per second; each goes to every endpoint. */
  readonly events: number;
  /** Likewise beside ingestion, of which some runs time out, too. */
  readonly eventsDuringIngestion: number;
  /** Events that are offered at once, to a daemon that does nothing else; 0 leaves that out. */
  readonly burst: number;
  /** Whether only that is measured. */
  readonly onlyBurst?: true;
  /** Where daemons leave CPU profiles of their threads. */
  readonly profile?: string;
  /** Of each turn. */
  readonly seconds: number;
  /** How often ingestion is measured without deliveries and with them, in turns; 0 leaves that out. */
  readonly turns: number;
  /** Spans per second that are due; absent: as many as the daemon takes. */
  readonly ingestRate?: number;
}

/** What came of deliveries over some time. */
interface Delivered {
  readonly seconds: number;
  /** By trace, when it was acknowledged. */
  readonly acknowledged: ReadonlyMap<string, number>;
  readonly failed: number;
  readonly received: Received;
}

/** Processor time that was spent on deliveries, in seconds; undefined where it cannot be known. */
interface Spent {
  readonly daemon: number | undefined;
  readonly receiver: number | undefined;
}

/**
 * `npm run bench -- webhooks`: signed deliveries per second to a local HTTPS receiver, how long after its event the first
 * attempt arrives, and what deliveries cost ingestion.
 */
export async function webhooks(options: WebhooksOptions, print: Print): Promise<void> {
  printSetup(print, 'webhooks', { ...options });
  const receiver = await WebhookReceiver.start();
  try {
    if (options.burst > 0) {
      print('\nas many deliveries as the daemon makes');
      printBurst(print, await burstAlone(options, receiver), options);
    }
    if (options.onlyBurst) return;
    print('\ndeliveries alone');
    const alone = await deliveriesAlone(options, receiver);
    printDelivered(print, alone, options);
    printSpent(print, alone);
    if (options.turns === 0) return;
    print('\ndeliveries beside ingestion');
    await duringIngestion(options, receiver, print);
  } finally {
    receiver.kill();
  }
}

async function burstAlone(options: WebhooksOptions, receiver: WebhookReceiver): Promise<Burst> {
  const { burst: events, endpoints } = options;
  return await withDaemon(options, receiver, async (daemon) => {
    // The thread that sends begins with the first delivery.
    await burst(daemon, receiver, { events: 1, endpoints });
    return await burst(daemon, receiver, { events, endpoints });
  });
}

async function deliveriesAlone(
  options: WebhooksOptions,
  receiver: WebhookReceiver,
): Promise<Delivered & Spent> {
  return await withDaemon(options, receiver, async (daemon) => {
    receiver.reset();
    const [ofDaemon, ofReceiver] = [await cpuSecondsFrom(daemon.pid), await cpuSecondsFrom(receiver.pid)];
    const source = new EventSource(daemon.url, options.events);
    await sleep(options.seconds * 1000);
    const delivered = await endOf(source, options.seconds, receiver);
    return { ...delivered, daemon: await ofDaemon(), receiver: await ofReceiver() };
  });
}

/**
 * Ingestion goes on all the time, and so do the runs that may be events; in every second turn the endpoints are active. The
 * machine's speed changes within a minute, and the store grows, so that two runs one after the other do not compare.
 */
async function duringIngestion(
  options: WebhooksOptions,
  receiver: WebhookReceiver,
  print: Print,
): Promise<void> {
  await withDaemon(options, receiver, async ({ url }, endpoints) => {
    const load = await startLoad(url, options);
    try {
      load.go();
      await load.measuring;
      receiver.reset();
      const [without, withIngestion]: [number[], number[]] = [[], []];
      const acknowledged = new Map<string, number>();
      let failed = 0;
      let received = await receiver.received();
      for (let turn = 0; turn < options.turns; turn++) {
        await endpoints.activate(false);
        const idle = new EventSource(url, options.eventsDuringIngestion);
        without.push(await spansPerSecond(load, options.seconds));
        await idle.stop();
        await endpoints.activate(true);
        const source = new EventSource(url, options.eventsDuringIngestion);
        withIngestion.push(await spansPerSecond(load, options.seconds));
        const delivered = await endOf(source, options.seconds, receiver);
        for (const [traceId, at] of delivered.acknowledged) acknowledged.set(traceId, at);
        failed += delivered.failed;
        ({ received } = delivered);
      }
      const seconds = options.turns * options.seconds;
      printDelivered(print, { seconds, acknowledged, failed, received }, options);
      const ratio = sum(withIngestion) / sum(without);
      print(
        lines([
          ['spans/s without deliveries', without.map((rate) => rate.toFixed(0)).join(', ')],
          ['spans/s meanwhile', withIngestion.map((rate) => rate.toFixed(0)).join(', ')],
          ['ingestion beside deliveries', `${(ratio * 100).toFixed(1)} % (goal: over 90 %)`],
        ]),
      );
    } finally {
      await load.kill();
    }
  });
}

async function spansPerSecond(load: LoadProcess, seconds: number): Promise<number> {
  const [before, since] = [load.acknowledgedItems, performance.now()];
  await sleep(seconds * 1000);
  return (load.acknowledgedItems - before) / ((performance.now() - since) / 1000);
}

/** Ends the source, and lets what is under way arrive. */
async function endOf(source: EventSource, seconds: number, receiver: WebhookReceiver): Promise<Delivered> {
  await source.stop();
  await sleep(SETTLE_MS);
  const { acknowledged, failed } = source;
  return { seconds, acknowledged, failed, received: await receiver.received() };
}

/** A daemon of its own, with endpoints that subscribe. */
async function withDaemon<T>(
  options: WebhooksOptions,
  receiver: WebhookReceiver,
  measure: (daemon: DaemonProcess, endpoints: Endpoints) => Promise<T>,
): Promise<T> {
  const { profile } = options;
  return await inFreshDirectory(async (directory) => {
    const daemon = await startDaemon(directory, profile);
    try {
      const endpoints = await Endpoints.subscribe(daemon.url, receiver.url, options.endpoints);
      try {
        return await measure(daemon, endpoints);
      } finally {
        await endpoints.close();
        if (profile !== undefined) await daemon.stop();
      }
    } finally {
      await daemon.kill();
    }
  });
}

async function startDaemon(directory: string, profile?: string): Promise<DaemonProcess> {
  const ca = join(directory, 'authority.pem');
  await writeFile(ca, AUTHORITY);
  const extra = join(directory, 'webhooks.yaml');
  const targets = { allow_cidrs: ['127.0.0.1/32'], ca_file: ca };
  await writeFile(extra, stringify({ exporters: { webhook: { targets } } }));
  return await DaemonProcess.start(await writeDaemonConfig({ directory, key: BENCH_KEY, extra }), profile);
}

async function startLoad(url: string, { ingestRate }: WebhooksOptions): Promise<LoadProcess> {
  return await LoadProcess.start({
    kind: 'batch',
    url,
    key: BENCH_KEY,
    seed: 'bench',
    connections: CONNECTIONS,
    ...(ingestRate !== undefined && { itemsPerSecond: ingestRate }),
    itemsPerRequest: SPANS_PER_REQUEST,
    templates: BODIES,
    warmupSeconds: WARMUP_SECONDS,
    times: 'now',
    samples: 0,
  });
}

/** Those of one receiver. */
class Endpoints {
  readonly #api: Api;
  readonly #paths: readonly string[];

  private constructor(api: Api, paths: readonly string[]) {
    this.#api = api;
    this.#paths = paths;
  }

  static async subscribe(url: string, receiverUrl: string, count: number): Promise<Endpoints> {
    const api = new Api(url, BENCH_KEY);
    const paths: string[] = [];
    for (let number = 1; number <= count; number++) {
      const endpoint = { url: `${receiverUrl}/${number}`, event_types: ['trace.timed_out'] };
      const { id } = (await api.post(ENDPOINTS, endpoint)) as { readonly id: string };
      paths.push(`${ENDPOINTS}/${id}`);
    }
    return new Endpoints(api, paths);
  }

  async activate(isActive: boolean): Promise<void> {
    for (const path of this.#paths) await this.#api.patch(path, { is_active: isActive });
  }

  async close(): Promise<void> {
    await this.#api.close();
  }
}

function printBurst(print: Print, { deliveries, seconds, cpu }: Burst, options: WebhooksOptions): void {
  print(
    lines([
      ['delivered', `${deliveries} of ${options.burst * options.endpoints}`],
      ['deliveries/s', `${(deliveries / seconds).toFixed(0)} (goal: at least 1000)`],
      ['CPU of the daemon', perDelivery(cpu, deliveries)],
    ]),
  );
}

function printSpent(print: Print, { daemon, receiver, received }: Delivered & Spent): void {
  print(
    lines([
      ['CPU of the daemon', perDelivery(daemon, received.requests)],
      ['CPU of the receiver', perDelivery(receiver, received.requests)],
    ]),
  );
}

function perDelivery(seconds: number | undefined, deliveries: number): string {
  return seconds === undefined ? 'unknown' : `${((seconds / deliveries) * 1000).toFixed(2)} ms a delivery`;
}

function printDelivered(
  print: Print,
  { seconds, acknowledged, failed, received }: Delivered,
  { endpoints }: WebhooksOptions,
): void {
  const { latency, requests, repeats } = received;
  const others = requests - repeats - latency.count;
  print(
    lines([
      ['events', `${acknowledged.size} acknowledged, ${failed} not`],
      ['deliveries/s', `${(requests / seconds).toFixed(0)} (goal: at least 200)`],
      [
        'delivered',
        `${latency.count} of ${acknowledged.size * endpoints}, ${repeats} repeats, ${others} of other events`,
      ],
      ['request to first attempt', latencyText(latency)],
      [
        'acknowledged to first attempt',
        `${latencyText(afterAcknowledgement(acknowledged, received))} (goal: p95 under 500 ms)`,
      ],
    ]),
  );
}

/** An acknowledgement follows the commit; where the attempt was faster than it, none was waited for. */
function afterAcknowledgement(
  acknowledged: ReadonlyMap<string, number>,
  { arrivals }: Pick<Received, 'arrivals'>,
): Latency {
  const latency = new LatencyRecorder();
  for (const { traceId, at } of arrivals) latency.record(Math.max(0, at - (acknowledged.get(traceId) ?? at)));
  return latency.summary();
}

function latencyText({ p50, p95, p99, max }: Latency): string {
  return `p50 ${ms(p50)}  p95 ${ms(p95)}  p99 ${ms(p99)}  max ${ms(max)} ms`;
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

const RUNS_PER_REQUEST = 100;
const LOOK_MS = 250;
const GIVE_UP_MS = 120_000;

/** What came of events that were offered at once. */
interface Burst {
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
async function burst(
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
