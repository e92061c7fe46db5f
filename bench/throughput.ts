import { join } from 'node:path';
import { Api } from './api.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import type { LoadKind, LoadPlan, LoadResult } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { cpuSeconds, mainThreadSeconds, MemoryWatch } from './process-usage.js';
import { bytesOf, formatLatency, lines, microsPer, ms, type Print } from './report.js';
import { verifyStored, type Verdict } from './verify.js';

const SAMPLES = 200;
const VERDICTS: Readonly<Record<string, string>> = { true: 'complete: ', false: 'NOT COMPLETE: ', null: '' };
/** Names of an item of each kind. */
const ITEM_NAMES: Readonly<Record<LoadKind, readonly [singular: string, plural: string]>> = {
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
  /** Items per second (open loop). Absent: closed loop. */
  readonly rate?: number | undefined;
  readonly seconds: number;
  /** Items to send, instead of `seconds`. */
  readonly items?: number | undefined;
  readonly warmup: number;
  /** Number of different bodies. */
  readonly bodies: number;
  readonly without?: readonly string[];
  readonly config?: string;
  /** Daemons over the same stores that share the load. Default: 1. */
  readonly daemons?: number;
  /** Whether the stores discard everything, so that nothing can be verified. */
  readonly isDiscarded?: boolean;
  /** Directory for CPU profiles of the daemon's threads. */
  readonly profile?: string;
  /** CPU time of the stores' engines so far, in seconds, by name. */
  readonly otherCpu?: () => Promise<OtherCpu>;
}

/** Seconds by name; undefined if unknown. */
type OtherCpu = Readonly<Record<string, number | undefined>>;

/** Results of one run. Memory and CPU time are undefined off Linux. */
export interface ThroughputStats {
  readonly load: LoadResult;
  readonly verdict: Verdict;
  readonly bytesPerItem: number;
  /** Maximum over all daemons. */
  readonly memory: { readonly maxMiB: number | undefined; readonly endMiB: number | undefined };
  /** CPU time of all daemons, and of their main threads, during the measurement. */
  readonly daemonCpuSeconds: number | undefined;
  readonly mainThreadSeconds: number | undefined;
  /** CPU time of the stores' engines during the measurement. */
  readonly otherCpuSeconds: OtherCpu;
  readonly stopMs: number;
}

/**
 * Sends requests of one kind to a new daemon, prints the results, and compares what is stored with what was
 * acknowledged.
 */
export async function throughput(options: ThroughputOptions, print: Print): Promise<ThroughputStats> {
  const stats = await withTempDirectory((directory) => measure(options, directory));
  printStats(stats, options, print);
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
    if (first === undefined) throw new RangeError('At least one daemon is required.');
    const urls = others.map(({ url }) => url);
    load = await LoadProcess.start({ ...planOf(options, first.url), otherUrls: urls });
    load.go();
    const otherCpu = async (): Promise<OtherCpu> => (await options.otherCpu?.()) ?? {};
    await load.measuring;
    const [before, othersBefore] = await Promise.all([cpuTimes(daemons), otherCpu()]);
    const result = await load.result;
    const [after, othersAfter] = await Promise.all([cpuTimes(daemons), otherCpu()]);
    const uses = await Promise.all(watches.map((watch) => watch.stop()));
    const api = new Api(first.url, BENCH_KEY);
    const verdict =
      options.isDiscarded === true
        ? { isComplete: null, text: 'not checked, everything was discarded' }
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

/** Returns the CPU time of the daemons so far, in seconds. */
async function cpuTimes(daemons: readonly DaemonProcess[]) {
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
    ...(items === undefined ? { seconds } : { items }),
    times: 'now',
    samples: SAMPLES,
  };
}

function printStats(stats: ThroughputStats, options: ThroughputOptions, print: Print): void {
  const { load, memory, daemonCpuSeconds, mainThreadSeconds, verdict } = stats;
  const { measured, acknowledged } = load;
  const [one, many] = ITEM_NAMES[options.kind];
  const errors = Object.entries(load.errors).map(([name, count]) => `${name}: ${count}`);
  const cores = (seconds: number) =>
    `${seconds.toFixed(1)} s (${(seconds / measured.seconds).toFixed(2)} cores)`;
  const perItem = (seconds: number | undefined) => microsPer(measured.items, seconds);
  const mib = (value: number | undefined) => (value === undefined ? 'unknown' : `${value.toFixed(0)} MiB`);
  print(
    lines([
      ['bodies', `${options.bodies}, ${options.itemsPerRequest} ${many} and ${load.bodyBytes} bytes each`],
      ['measured', `${measured.seconds.toFixed(1)} s after ${options.warmup} s of warm-up`],
      [`${many}/s acknowledged`, (measured.items / measured.seconds).toFixed(0)],
      ['acknowledgement', formatLatency(measured.latency)],
      ['longest gap', `${ms(measured.longestGapMs)} ms`],
      ...(options.rate === undefined ? [] : [['due but not sent', `${measured.unsent} requests`] as const]),
      ['errors', errors.length === 0 ? 'none' : errors.join(', ')],
      ['rejected', String(load.rejected)],
      ['daemon memory', `max ${mib(memory.maxMiB)}, at the end ${mib(memory.endMiB)}`],
      ['daemon CPU', daemonCpuSeconds === undefined ? 'unknown' : cores(daemonCpuSeconds)],
      [`CPU per ${one}`, `${perItem(daemonCpuSeconds)}, main thread ${perItem(mainThreadSeconds)}`],
      ['generator CPU', cores(measured.cpuSeconds)],
      ['store on disk', `${stats.bytesPerItem.toFixed(0)} bytes per ${one} of ${acknowledged.items} ${many}`],
      ['shutdown', `${ms(stats.stopMs)} ms`],
      ['stored', `${VERDICTS[String(verdict.isComplete)]}${verdict.text}`],
    ]),
  );
}
