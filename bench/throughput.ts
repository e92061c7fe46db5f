import { join } from 'node:path';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import type { LoadKind, LoadPlan, LoadResult } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { cpuSeconds, MemoryWatch } from './process-usage.js';
import { bytesOf, formatLatency, lines, ms, type Print } from './report.js';
import { verifyStored, type Verdict } from './verify.js';

const SAMPLES = 200;
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
  /** Directory for CPU profiles of the daemon's threads. */
  readonly profile?: string;
}

/** The figures of one run. Memory and CPU are absent off Linux. */
export interface ThroughputFigures {
  readonly load: LoadResult;
  readonly verdict: Verdict;
  readonly bytesPerItem: number;
  readonly memory: { readonly maxMiB: number | undefined; readonly endMiB: number | undefined };
  readonly daemonCpuSeconds: number | undefined;
  readonly stopMs: number;
}

/**
 * Sends requests of one kind to a fresh daemon, prints what it made of them, and compares what is stored with what was
 * acknowledged.
 */
export async function throughput(options: ThroughputOptions, print: Print): Promise<ThroughputFigures> {
  const figures = await inFreshDirectory((directory) => measure(options, directory));
  printFigures(figures, options, print);
  return figures;
}

async function measure(options: ThroughputOptions, directory: string): Promise<ThroughputFigures> {
  const { without, config: extra } = options;
  const files = await writeDaemonConfig({
    directory,
    key: BENCH_KEY,
    ...(without && { without }),
    extra,
  });
  const daemon = await DaemonProcess.start(files, options.profile);
  let load: LoadProcess | undefined;
  const memory = new MemoryWatch(daemon.pid);
  try {
    load = await LoadProcess.start(planOf(options, daemon.url));
    load.go();
    await load.measuring;
    const cpuBefore = await cpuSeconds(daemon.pid);
    const result = await load.result;
    const cpuAfter = await cpuSeconds(daemon.pid);
    const memoryUse = await memory.stop();
    const api = new Api(daemon.url, BENCH_KEY);
    const verdict = await verifyStored(api, options.kind, result);
    await api.close();
    const stopMs = await daemon.stop();
    const bytes = await bytesOf(join(directory, 'data'));
    return {
      load: result,
      verdict,
      bytesPerItem: bytes / Math.max(1, result.acknowledged.items),
      memory: memoryUse,
      daemonCpuSeconds: cpuBefore === undefined || cpuAfter === undefined ? undefined : cpuAfter - cpuBefore,
      stopMs,
    };
  } finally {
    await memory.stop();
    await load?.kill();
    await daemon.kill();
  }
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

function printFigures(figures: ThroughputFigures, options: ThroughputOptions, print: Print): void {
  const { load, memory, daemonCpuSeconds, verdict } = figures;
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
      [
        'store on disk',
        `${figures.bytesPerItem.toFixed(0)} bytes a ${one}, of ${acknowledged.items} ${many}`,
      ],
      ['orderly stop', `${ms(figures.stopMs)} ms`],
      ['stored', `${verdict.isComplete ? 'complete' : 'NOT COMPLETE'}: ${verdict.text}`],
    ]),
  );
}
