import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from './api.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { LoadProcess } from './load-process.js';
import { lines, ms, printSetup, type Print } from './report.js';
import { verifyStored, type Verdict } from './verify.js';

const SPANS_PER_REQUEST = 100;
const SAMPLES = 500;
const POLL_MS = 20;

export interface RestartOptions {
  /** Acknowledged spans at which the daemon is killed. */
  readonly spans: number;
  readonly connections: number;
  readonly bodies: number;
}

export interface RestartStats {
  readonly readyMs: number;
  readonly acknowledgedSpans: number;
  readonly verdict: Verdict;
}

/** `npm run bench -- restart`: kills the daemon during ingestion, then measures its restart and checks what is stored. */
export async function restart(options: RestartOptions, print: Print): Promise<RestartStats> {
  printSetup(print, 'restart', { ...options });
  const stats = await withTempDirectory((directory) => measure(options, directory));
  const { readyMs, acknowledgedSpans, verdict } = stats;
  print(
    lines([
      ['killed after', `${acknowledgedSpans} acknowledged spans, with more in flight`],
      ['spawn to ready', `${ms(readyMs)} ms`],
      ['stored', `${verdict.isComplete ? 'complete' : 'NOT COMPLETE'}: ${verdict.text}`],
    ]),
  );
  return stats;
}

async function measure(options: RestartOptions, directory: string): Promise<RestartStats> {
  const files = await writeDaemonConfig({ directory, key: BENCH_KEY });
  let daemon = await DaemonProcess.start(files);
  let load: LoadProcess | undefined;
  try {
    load = await LoadProcess.start({
      kind: 'batch',
      url: daemon.url,
      key: BENCH_KEY,
      seed: 'bench',
      connections: options.connections,
      itemsPerRequest: SPANS_PER_REQUEST,
      templates: options.bodies,
      warmupSeconds: 0,
      times: 'now',
      samples: SAMPLES,
    });
    load.go();
    await untilAcknowledged(load, options.spans);
    await daemon.kill();
    load.stop();
    const result = await load.result;
    daemon = await DaemonProcess.start(files);
    const api = new Api(daemon.url, BENCH_KEY);
    const verdict = await verifyStored(api, 'batch', result);
    await api.close();
    await daemon.stop();
    return { readyMs: daemon.startMs, acknowledgedSpans: result.acknowledged.items, verdict };
  } finally {
    await load?.kill();
    await daemon.kill();
  }
}

async function untilAcknowledged(load: LoadProcess, spans: number): Promise<void> {
  while (load.acknowledgedItems < spans) await Promise.race([sleep(POLL_MS), load.result]);
}
