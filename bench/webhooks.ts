import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stringify } from 'yaml';
import { AUTHORITY } from '../test/support/webhook-certificates.js';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { EventSource } from './event-source.js';
import { LoadProcess } from './load-process.js';
import { lines, ms, printSetup, type Print } from './report.js';
import { WebhookReceiver, type Received } from './webhook-receiver.js';

const CONNECTIONS = 64;
const SPANS_PER_REQUEST = 100;
const BODIES = 500;
const WARMUP_SECONDS = 5;
/** Deliveries that are under way when nothing is sent any more. */
const SETTLE_MS = 5000;

export interface WebhooksOptions {
  readonly endpoints: number;
  /** Events per second; each goes to every endpoint. */
  readonly events: number;
  readonly seconds: number;
  /** Spans per second that are due; absent: as many as the daemon takes. */
  readonly ingestRate?: number;
}

/** What came of one round. */
interface Round {
  readonly spansPerSecond: number | null;
  readonly events: { readonly acknowledged: number; readonly failed: number } | null;
  readonly received: Received | null;
}

/**
 * `npm run bench -- webhooks`: signed deliveries per second to a local HTTPS receiver, how long after its event the first
 * attempt arrives, and what deliveries cost ingestion.
 */
export async function webhooks(options: WebhooksOptions, print: Print): Promise<void> {
  printSetup(print, 'webhooks', { ...options });
  const receiver = await WebhookReceiver.start();
  try {
    // A daemon of its own for each: ingestion is measured over stores of the same size.
    printRound(
      print,
      'deliveries alone',
      await round(options, receiver, { ingests: false, delivers: true }),
      options,
    );
    const alone = await round(options, receiver, { ingests: true, delivers: false });
    printRound(print, 'ingestion alone', alone, options);
    const both = await round(options, receiver, { ingests: true, delivers: true });
    printRound(print, 'both', both, options);
    const ratio = (both.spansPerSecond ?? 0) / (alone.spansPerSecond ?? 1);
    print(
      lines([
        ['ingestion beside deliveries', `${(ratio * 100).toFixed(1)} % of ingestion alone (goal: over 90 %)`],
      ]),
    );
  } finally {
    receiver.kill();
  }
}

async function round(
  options: WebhooksOptions,
  receiver: WebhookReceiver,
  { ingests, delivers }: { readonly ingests: boolean; readonly delivers: boolean },
): Promise<Round> {
  return await inFreshDirectory(async (directory) => {
    const daemon = await startDaemon(directory);
    const load = ingests ? await startLoad(daemon.url, options) : null;
    let source: EventSource | null = null;
    try {
      await subscribe(daemon.url, receiver.url, options.endpoints);
      load?.go();
      await load?.measuring;
      receiver.reset();
      if (delivers) source = new EventSource(daemon.url, options.events);
      const result = load === null ? await sleep(options.seconds * 1000, null) : await load.result;
      await source?.stop();
      if (source !== null) await sleep(SETTLE_MS);
      const received = source === null ? null : await receiver.received();
      return {
        spansPerSecond: result === null ? null : result.measured.items / result.measured.seconds,
        events: source === null ? null : { acknowledged: source.acknowledged, failed: source.failed },
        received,
      };
    } finally {
      await load?.kill();
      await daemon.kill();
    }
  });
}

async function startDaemon(directory: string): Promise<DaemonProcess> {
  const ca = join(directory, 'authority.pem');
  await writeFile(ca, AUTHORITY);
  const extra = join(directory, 'webhooks.yaml');
  const targets = { allow_cidrs: ['127.0.0.1/32'], ca_file: ca };
  await writeFile(extra, stringify({ exporters: { webhook: { targets } } }));
  return await DaemonProcess.start(await writeDaemonConfig({ directory, key: BENCH_KEY, extra }));
}

async function startLoad(url: string, { seconds, ingestRate }: WebhooksOptions): Promise<LoadProcess> {
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
    seconds,
    times: 'now',
    samples: 0,
  });
}

async function subscribe(url: string, receiverUrl: string, endpoints: number): Promise<void> {
  const api = new Api(url, BENCH_KEY);
  for (let number = 1; number <= endpoints; number++) {
    const endpoint = { url: `${receiverUrl}/${number}`, event_types: ['trace.timed_out'] };
    await api.post('/org/default/webhooks/endpoints', endpoint);
  }
  await api.close();
}

function printRound(
  print: Print,
  name: string,
  { spansPerSecond, events, received }: Round,
  options: WebhooksOptions,
): void {
  const rows: (readonly [string, string])[] = [];
  if (spansPerSecond !== null) rows.push(['spans/s acknowledged', spansPerSecond.toFixed(0)]);
  if (events !== null && received !== null) {
    const { latency, requests, repeats } = received;
    const due = events.acknowledged * options.endpoints;
    rows.push(
      ['events', `${events.acknowledged} acknowledged, ${events.failed} not`],
      ['deliveries/s', `${(requests / options.seconds).toFixed(0)} (goal: at least 200)`],
      [
        'delivered',
        `${latency.count} of ${due}, ${repeats} repeats, ${requests - repeats - latency.count} of other events`,
      ],
      [
        'event to first attempt',
        `p50 ${ms(latency.p50)}  p95 ${ms(latency.p95)}  p99 ${ms(latency.p99)}  max ${ms(latency.max)} ms (goal: p95 under 500 ms)`,
      ],
    );
  }
  print(`\n${name}`);
  print(lines(rows));
}
