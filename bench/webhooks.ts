import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { stringify } from 'yaml';
import { AUTHORITY } from '../test/support/webhook-certificates.js';
import { Api } from './api.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
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
/** Time for pending deliveries after the last event. */
const DRAIN_MS = 3000;

export interface WebhooksOptions {
  readonly endpoints: number;
  /** Events per second, each delivered to every endpoint. */
  readonly events: number;
  /** Events per second during ingestion, in addition to its own. */
  readonly eventsDuringIngestion: number;
  /** Events to send at once to an idle daemon. 0: skip this measurement. */
  readonly burst: number;
  /** Whether to measure only the burst. */
  readonly onlyBurst?: true;
  /** Directory for CPU profiles of the daemons' threads. */
  readonly profile?: string;
  /** Seconds to measure each turn. */
  readonly seconds: number;
  /** Times to measure ingestion without and with deliveries, alternating. 0: skip this measurement. */
  readonly turns: number;
  /** Spans per second of ingestion. Absent: closed loop. */
  readonly ingestRate?: number;
}

/** Deliveries during a measurement. */
interface Delivered {
  readonly seconds: number;
  /** Time of acknowledgement by trace id. */
  readonly acknowledged: ReadonlyMap<string, number>;
  readonly failed: number;
  readonly received: Received;
}

/** CPU time spent on deliveries, in seconds; undefined if unknown. */
interface CpuTime {
  readonly daemon: number | undefined;
  readonly receiver: number | undefined;
}

/**
 * `npm run bench -- webhooks`: signed deliveries per second to a local HTTPS receiver, the latency of first attempts, and
 * the cost of deliveries for ingestion.
 */
export async function webhooks(options: WebhooksOptions, print: Print): Promise<void> {
  printSetup(print, 'webhooks', { ...options });
  const receiver = await WebhookReceiver.start();
  try {
    if (options.burst > 0) {
      print('\nmaximum rate of deliveries');
      printBurst(print, await burstAlone(options, receiver), options);
    }
    if (options.onlyBurst) return;
    print('\ndeliveries alone');
    const alone = await deliveriesAlone(options, receiver);
    printDelivered(print, alone, options);
    printCpuTime(print, alone);
    if (options.turns === 0) return;
    print('\ndeliveries during ingestion');
    await duringIngestion(options, receiver, print);
  } finally {
    receiver.kill();
  }
}

async function burstAlone(options: WebhooksOptions, receiver: WebhookReceiver): Promise<Burst> {
  const { burst: events, endpoints } = options;
  return await withDaemon(options, receiver, async (daemon) => {
    // The first delivery starts the sender thread.
    await burst(daemon, receiver, { events: 1, endpoints });
    return await burst(daemon, receiver, { events, endpoints });
  });
}

async function deliveriesAlone(
  options: WebhooksOptions,
  receiver: WebhookReceiver,
): Promise<Delivered & CpuTime> {
  return await withDaemon(options, receiver, async (daemon) => {
    receiver.reset();
    const [daemonSeconds, receiverSeconds] = [
      await cpuSecondsFrom(daemon.pid),
      await cpuSecondsFrom(receiver.pid),
    ];
    const source = new EventSource(daemon.url, options.events);
    await sleep(options.seconds * 1000);
    const delivered = await finishDeliveries(source, options.seconds, receiver);
    return { ...delivered, daemon: await daemonSeconds(), receiver: await receiverSeconds() };
  });
}

/**
 * Measures ingestion alternately with inactive and active endpoints, within one run: the speed of the machine changes, and
 * the store grows, so two separate runs would not be comparable.
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
      const [withoutDeliveries, withDeliveries]: [number[], number[]] = [[], []];
      const acknowledged = new Map<string, number>();
      let failed = 0;
      let received = await receiver.received();
      for (let turn = 0; turn < options.turns; turn++) {
        await endpoints.activate(false);
        const idle = new EventSource(url, options.eventsDuringIngestion);
        withoutDeliveries.push(await spansPerSecond(load, options.seconds));
        await idle.stop();
        await endpoints.activate(true);
        const source = new EventSource(url, options.eventsDuringIngestion);
        withDeliveries.push(await spansPerSecond(load, options.seconds));
        const delivered = await finishDeliveries(source, options.seconds, receiver);
        for (const [traceId, at] of delivered.acknowledged) acknowledged.set(traceId, at);
        failed += delivered.failed;
        ({ received } = delivered);
      }
      const seconds = options.turns * options.seconds;
      printDelivered(print, { seconds, acknowledged, failed, received }, options);
      const ratio = sum(withDeliveries) / sum(withoutDeliveries);
      print(
        lines([
          ['spans/s without deliveries', withoutDeliveries.map((rate) => rate.toFixed(0)).join(', ')],
          ['spans/s with deliveries', withDeliveries.map((rate) => rate.toFixed(0)).join(', ')],
          ['ingestion with deliveries', `${(ratio * 100).toFixed(1)} % (goal: over 90 %)`],
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

/** Stops the source and waits for pending deliveries. */
async function finishDeliveries(
  source: EventSource,
  seconds: number,
  receiver: WebhookReceiver,
): Promise<Delivered> {
  await source.stop();
  await sleep(DRAIN_MS);
  const { acknowledged, failed } = source;
  return { seconds, acknowledged, failed, received: await receiver.received() };
}

/** Runs `measure` on a new daemon with subscribed endpoints. */
async function withDaemon<T>(
  options: WebhooksOptions,
  receiver: WebhookReceiver,
  measure: (daemon: DaemonProcess, endpoints: Endpoints) => Promise<T>,
): Promise<T> {
  const { profile } = options;
  return await withTempDirectory(async (directory) => {
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

/** The webhook endpoints of a receiver. */
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
      ['daemon CPU', perDelivery(cpu, deliveries)],
    ]),
  );
}

function printCpuTime(print: Print, { daemon, receiver, received }: Delivered & CpuTime): void {
  print(
    lines([
      ['daemon CPU', perDelivery(daemon, received.requests)],
      ['receiver CPU', perDelivery(receiver, received.requests)],
    ]),
  );
}

function perDelivery(seconds: number | undefined, deliveries: number): string {
  return seconds === undefined ? 'unknown' : `${((seconds / deliveries) * 1000).toFixed(2)} ms per delivery`;
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

/** Latency from acknowledgement to arrival. An attempt may arrive before the acknowledgement, which counts as 0. */
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
const BURST_POLL_MS = 250;
const BURST_TIMEOUT_MS = 120_000;

/** Result of events sent at once. */
interface Burst {
  /** Number of first attempts that arrived. */
  readonly deliveries: number;
  /** From the first to the last arrival. */
  readonly seconds: number;
  /** CPU time of the daemon, in seconds; undefined if unknown. */
  readonly cpu: number | undefined;
}

/** Sends many events in few requests and waits until all deliveries have arrived: the maximum rate of an idle daemon. */
async function burst(
  daemon: { readonly url: string; readonly pid: number },
  receiver: WebhookReceiver,
  { events, endpoints }: { readonly events: number; readonly endpoints: number },
): Promise<Burst> {
  receiver.reset();
  const used = await cpuSecondsFrom(daemon.pid);
  await sendEvents(daemon.url, events);
  const end = performance.now() + BURST_TIMEOUT_MS;
  let { arrivals } = await receiver.received();
  while (arrivals.length < events * endpoints && performance.now() < end) {
    await sleep(BURST_POLL_MS);
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

async function sendEvents(url: string, events: number): Promise<void> {
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
      if (status !== 200) throw new Error(`The daemon refused a burst of events with status ${status}.`);
    }
  } finally {
    await pool.close();
  }
}
