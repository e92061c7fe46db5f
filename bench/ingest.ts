import { join } from 'node:path';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import type { LoadPlan, LoadResult } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { cpuSeconds, MemoryWatch } from './process-usage.js';
import { bytesOf, formatLatency, lines, ms, printSetup, type Print } from './report.js';
import { verifyStored, type Verdict } from './verify.js';

const SPANS_PER_REQUEST = 100;
const SAMPLES = 200;

export interface IngestOptions {
  readonly connections: number;
  /** Spans per second, open loop; absent: closed loop. */
  readonly rate?: number;
  readonly seconds: number;
  readonly spans?: number;
  readonly warmup: number;
  /** Different bodies. */
  readonly bodies: number;
  readonly without?: readonly string[];
  readonly config?: string;
  /** Directory for CPU profiles of the daemon's threads. */
  readonly profile?: string;
}

/** The figures of one run. Memory and CPU are absent off Linux. */
export interface IngestFigures {
  readonly load: LoadResult;
  readonly verdict: Verdict;
  readonly bytesPerSpan: number;
  readonly memory: { readonly maxMiB: number | undefined; readonly endMiB: number | undefined };
  readonly daemonCpuSeconds: number | undefined;
  readonly stopMs: number;
}

/** `npm run bench -- ingest`: spans per second, acknowledged after their commit. */
export async function ingest(options: IngestOptions, print: Print): Promise<IngestFigures> {
  printSetup(print, 'ingest', { loop: options.rate === undefined ? 'closed' : 'open', ...options });
  const figures = await inFreshDirectory((directory) => measure(options, directory));
  printFigures(figures, options, print);
  return figures;
}

async function measure(options: IngestOptions, directory: string): Promise<IngestFigures> {
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
    const verdict = await verifyStored(api, result);
    await api.close();
    const stopMs = await daemon.stop();
    const bytes = await bytesOf(join(directory, 'data'));
    return {
      load: result,
      verdict,
      bytesPerSpan: bytes / Math.max(1, result.acknowledged.spans),
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

function planOf(options: IngestOptions, url: string): LoadPlan {
  const { connections, rate, seconds, spans, warmup, bodies } = options;
  return {
    url,
    key: BENCH_KEY,
    seed: 'bench',
    connections,
    ...(rate !== undefined && { spansPerSecond: rate }),
    spansPerRequest: SPANS_PER_REQUEST,
    templates: bodies,
    warmupSeconds: warmup,
    // A number of spans is an end of its own.
    ...(spans === undefined ? { seconds } : { spans }),
    times: 'now',
    samples: SAMPLES,
  };
}

function printFigures(figures: IngestFigures, options: IngestOptions, print: Print): void {
  const { load, memory, daemonCpuSeconds, verdict } = figures;
  const { measured, acknowledged } = load;
  const errors = Object.entries(load.errors).map(([name, count]) => `${name}: ${count}`);
  const cores = (seconds: number) =>
    `${seconds.toFixed(1)} s (${(seconds / measured.seconds).toFixed(2)} cores)`;
  const mib = (value: number | undefined) => (value === undefined ? 'unknown' : `${value.toFixed(0)} MiB`);
  print(
    lines([
      ['bodies', `${options.bodies}, ${SPANS_PER_REQUEST} spans and ${load.bodyBytes} bytes each`],
      ['measured', `${measured.seconds.toFixed(1)} s after ${options.warmup} s of warm-up`],
      ['spans/s acknowledged', (measured.spans / measured.seconds).toFixed(0)],
      ['acknowledgement', formatLatency(measured.latency)],
      ['longest silence', `${ms(measured.longestSilenceMs)} ms`],
      ...(options.rate === undefined ? [] : [['due but not sent', `${measured.unsent} requests`] as const]),
      ['errors', errors.length === 0 ? 'none' : errors.join(', ')],
      ['rejected traces', String(load.rejectedTraces)],
      ['daemon memory', `max ${mib(memory.maxMiB)}, at the end ${mib(memory.endMiB)}`],
      ['daemon CPU', daemonCpuSeconds === undefined ? 'unknown' : cores(daemonCpuSeconds)],
      ['generator CPU', cores(measured.cpuSeconds)],
      ['store on disk', `${figures.bytesPerSpan.toFixed(0)} bytes a span, of ${acknowledged.spans} spans`],
      ['orderly stop', `${ms(figures.stopMs)} ms`],
      ['stored', `${verdict.isComplete ? 'complete' : 'NOT COMPLETE'}: ${verdict.text}`],
    ]),
  );
}
