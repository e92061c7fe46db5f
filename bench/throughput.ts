import { join } from 'node:path';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import type { LoadKind, LoadPlan, LoadResult } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { cpuSeconds, mainThreadSeconds, MemoryWatch } from './process-usage.js';
import { bytesOf, formatLatency, lines, ms, type Print } from './report.js';
import { verifyStored, type Verdict } from './verify.js';

const SAMPLES = 200;
const WORDS: Readonly<Record<string, string>> = { true: 'complete: ', false: 'NOT COMPLETE: ', null: '' };
/** What an item of each kind is called, one and many. */
const NAMES: Readonly<Record<LoadKind, readonly [one: string, many: string]>> = {
  batch: ['span', 'spans'],
  traces: ['span', 'spans'],
  prompts: ['span', 'spans'],
  metrics: ['point', 'points'],
  logs: ['record', 'records'],
};

/** An item is a span, a metric point or a log record. */
export interface ThroughputOptions {
  readonly kind: LoadKind;
  readonly itemsPerRequest: number;
  readonly connections: number;
  /** Items per second, open loop; absent: closed loop. */
  readonly rate?: number | undefined;
  readonly seconds: number;
  /** All that is sent, instead of `seconds`. */
  readonly items?: number | undefined;
  readonly warmup: number;
  /** Different bodies. */
  readonly bodies: number;
  readonly without?: readonly string[];
  readonly config?: string;
  /** Daemons over the same stores that share the load; 1 where absent. */
  readonly daemons?: number;
  /** Whether what is sent goes nowhere, so that there is nothing to look for afterwards. */
  readonly isDiscarded?: boolean;
  /** Directory for CPU profiles of the daemon's threads. */
  readonly profile?: string;
  /** Processor time so far of what the daemons stand on, in seconds, by name. */
  readonly otherCpu?: () => Promise<OtherCpu>;
}

/** Undefined where it is unknown. */
type OtherCpu = Readonly<Record<string, number | undefined>>;

/** The figures of one run. Memory and CPU are absent off Linux. */
export interface ThroughputStats {
  readonly load: LoadResult;
  readonly verdict: Verdict;
  readonly bytesPerItem: number;
  /** Of the daemon that had the most of it. */
  readonly memory: { readonly maxMiB: number | undefined; readonly endMiB: number | undefined };
  /** Of all daemons while it was measured; of their main threads alone. */
  readonly daemonCpuSeconds: number | undefined;
  readonly mainThreadSeconds: number | undefined;
  /** Likewise of what they stand on. */
  readonly otherCpuSeconds: OtherCpu;
  readonly stopMs: number;
}

/**
 * Sends requests of one kind to a fresh daemon, prints what it made of them, and compares what is stored with what was
 * acknowledged.
 */
export async function throughput(options: ThroughputOptions, print: Print): Promise<ThroughputStats> {
  const stats = await inFreshDirectory((directory) => measure(options, directory));
  serializeStats(stats, options, print);
  return stats;
}

async function measure(options: ThroughputOptions, directory: string): Promise<ThroughputStats> {
  const daemons: DaemonProcess[] = [];
  const watches: MemoryWatch[] = [];
  let load: LoadProcess | undefined;
  try {
    for (let i = 0; i < (options.daemons ?? 1); i++) {
      const daemon = await startDaemon(options, i === 0 ? directory : join(directory, `daemon-${i}`));
      daemons.push(daemon);
      watches.push(new MemoryWatch(daemon.pid));
    }
    const [first, ...others] = daemons;
    if (first === undefined) throw new RangeError('a load needs a daemon');
    const urls = others.map(({ url }) => url);
    load = await LoadProcess.start({ ...planOf(options, first.url), others: urls });
    load.go();
    const otherCpu = async (): Promise<OtherCpu> => (await options.otherCpu?.()) ?? {};
    await load.measuring;
    const [before, othersBefore] = await Promise.all([usedBy(daemons), otherCpu()]);
    const result = await load.result;
    const [after, othersAfter] = await Promise.all([usedBy(daemons), otherCpu()]);
    const uses = await Promise.all(watches.map((watch) => watch.stop()));
    const api = new Api(first.url, BENCH_KEY);
    const verdict =
      options.isDiscarded === true
        ? { isComplete: null, text: 'what was sent was discarded' }
        : await verifyStored(api, options.kind, result);
    await api.close();
    const stops = await Promise.all(daemons.map((daemon) => daemon.stop()));
    const bytes = await bytesOf(join(directory, 'data'));
    return {
      load: result,
      verdict,
      bytesPerItem: bytes / Math.max(1, result.acknowledged.items),
      memory: {
        maxMiB: greatest(uses.map(({ maxMiB }) => maxMiB)),
        endMiB: greatest(uses.map(({ endMiB }) => endMiB)),
      },
      daemonCpuSeconds: difference(before.whole, after.whole),
      mainThreadSeconds: difference(before.main, after.main),
      otherCpuSeconds: Object.fromEntries(
        Object.entries(othersAfter).map(([name, until]) => [name, difference(othersBefore[name], until)]),
      ),
      stopMs: Math.max(...stops),
    };
  } finally {
    for (const watch of watches) await watch.stop();
    await load?.kill();
    for (const daemon of daemons) await daemon.kill();
  }
}

async function startDaemon(
  { without, config: extra, profile }: ThroughputOptions,
  directory: string,
): Promise<DaemonProcess> {
  const files = await writeDaemonConfig({ directory, key: BENCH_KEY, ...(without && { without }), extra });
  return await DaemonProcess.start(files, profile);
}

/** Processor time of several daemons so far, in seconds. */
async function usedBy(daemons: readonly DaemonProcess[]) {
  const sum = (all: readonly (number | undefined)[]): number | undefined =>
    all.reduce((total, one) => (total === undefined || one === undefined ? undefined : total + one), 0);
  return {
    whole: sum(await Promise.all(daemons.map(({ pid }) => cpuSeconds(pid)))),
    main: sum(await Promise.all(daemons.map(({ pid }) => mainThreadSeconds(pid)))),
  };
}

function difference(before: number | undefined, after: number | undefined): number | undefined {
  return before === undefined || after === undefined ? undefined : after - before;
}

function greatest(values: readonly (number | undefined)[]): number | undefined {
  return values.reduce(
    (most, value) => (value === undefined || (most ?? 0) > value ? most : value),
    undefined,
  );
}

function planOf(options: ThroughputOptions, url: string): LoadPlan {
  const { kind, itemsPerRequest, connections, rate, seconds, items, warmup, bodies } = options;
  return {
    kind,
    url,
    key: BENCH_KEY,
    seed: 'bench',
    connections,
    ...(rate !== undefined && { itemsPerSecond: rate }),
    itemsPerRequest,
    templates: bodies,
    warmupSeconds: warmup,
    // A number of items is an end of its own.
    ...(items === undefined ? { seconds } : { items }),
    times: 'now',
    samples: SAMPLES,
  };
}

function serializeStats(stats: ThroughputStats, options: ThroughputOptions, print: Print): void {
  const { load, memory, daemonCpuSeconds, verdict } = stats;
  const { measured, acknowledged } = load;
  const [one, many] = NAMES[options.kind];
  const errors = Object.entries(load.errors).map(([name, count]) => `${name}: ${count}`);
  const cores = (seconds: number) =>
    `${seconds.toFixed(1)} s (${(seconds / measured.seconds).toFixed(2)} cores)`;
  const mib = (value: number | undefined) => (value === undefined ? 'unknown' : `${value.toFixed(0)} MiB`);
  print(
    lines([
      ['bodies', `${options.bodies}, ${options.itemsPerRequest} ${many} and ${load.bodyBytes} bytes each`],
      ['measured', `${measured.seconds.toFixed(1)} s after ${options.warmup} s of warm-up`],
      [`${many}/s acknowledged`, (measured.items / measured.seconds).toFixed(0)],
      ['acknowledgement', formatLatency(measured.latency)],
      ['longest silence', `${ms(measured.longestSilenceMs)} ms`],
      ...(options.rate === undefined ? [] : [['due but not sent', `${measured.unsent} requests`] as const]),
      ['errors', errors.length === 0 ? 'none' : errors.join(', ')],
      ['rejected', String(load.rejected)],
      ['daemon memory', `max ${mib(memory.maxMiB)}, at the end ${mib(memory.endMiB)}`],
      ['daemon CPU', daemonCpuSeconds === undefined ? 'unknown' : cores(daemonCpuSeconds)],
      ['generator CPU', cores(measured.cpuSeconds)],
      ['store on disk', `${stats.bytesPerItem.toFixed(0)} bytes a ${one}, of ${acknowledged.items} ${many}`],
      ['orderly stop', `${ms(stats.stopMs)} ms`],
      ['stored', `${WORDS[String(verdict.isComplete)]}${verdict.text}`],
    ]),
  );
}
