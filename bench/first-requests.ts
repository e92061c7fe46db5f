import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from './api.js';
import { BENCH_KEY } from './bench-directory.js';
import { DaemonProcess } from './daemon-process.js';
import { LatencyRecorder } from './latency-recorder.js';
import { cpuSeconds } from './process-usage.js';
import type { ReadRoute } from './read-routes.js';
import { ms, table } from './report.js';

/** Requests to a route behind the first one. */
const FURTHER = 8;
/** How long a started daemon is left alone for its upkeep. */
const SETTLE_MS = 500;
/** What a daemon takes that has just been started. */
export interface FirstRequest {
  readonly route: ReadRoute;
  /** For the first request. */
  readonly first: Taken;
  /** For those that follow: median of the time, mean of the processor time. */
  readonly then: Taken;
}

interface Taken {
  readonly ms: number;
  /** Of all threads of the daemon, to hundredths of a second; undefined off Linux. */
  readonly cpuMs: number | undefined;
}

/**
 * Asks each route of a daemon that was started for it alone.
 *
 * @param files of the daemon's configuration
 */
export async function firstRequests(
  files: readonly string[],
  routes: readonly ReadRoute[],
): Promise<readonly FirstRequest[]> {
  const requests: FirstRequest[] = [];
  for (const route of routes) {
    const taken = await withDaemon(files, async (daemon, api) => {
      await sleep(SETTLE_MS);
      return await askTwice(daemon.pid, api, route);
    });
    requests.push({ route, ...taken });
  }
  return requests;
}

async function withDaemon<T>(
  files: readonly string[],
  work: (daemon: DaemonProcess, api: Api) => Promise<T>,
): Promise<T> {
  const daemon = await DaemonProcess.start(files);
  const api = new Api(daemon.url, BENCH_KEY);
  try {
    // The connection and the key are no part of it.
    await api.text('/me');
    const found = await work(daemon, api);
    await api.close();
    await daemon.stop();
    return found;
  } finally {
    await daemon.kill();
  }
}

async function askTwice(pid: number, api: Api, route: ReadRoute): Promise<{ first: Taken; then: Taken }> {
  const first = await take(pid, () => api.text(route.path(0)));
  const recorder = new LatencyRecorder();
  const { cpuMs } = await take(pid, async () => {
    for (let request = 1; request <= FURTHER; request += 1) {
      const startedMs = performance.now();
      await api.text(route.path(request));
      recorder.record(performance.now() - startedMs);
    }
  });
  return {
    first,
    then: { ms: recorder.summary().p50, cpuMs: cpuMs === undefined ? undefined : cpuMs / FURTHER },
  };
}

async function take(pid: number, work: () => Promise<unknown>): Promise<Taken> {
  const [before, startedMs] = [await cpuSeconds(pid), performance.now()];
  await work();
  const [endedMs, after] = [performance.now(), await cpuSeconds(pid)];
  return {
    ms: endedMs - startedMs,
    cpuMs: before === undefined || after === undefined ? undefined : (after - before) * 1000,
  };
}

export function firstRequestsTable(requests: readonly FirstRequest[]): string {
  const cpu = ({ cpuMs }: Taken): string => (cpuMs === undefined ? '' : cpuMs.toFixed(0));
  return table(
    ['route', 'first: ms', 'CPU', 'then: p50', 'CPU'],
    requests.map(({ route, first, then }) => [
      route.name,
      ...[first, then].flatMap((taken) => [ms(taken.ms), cpu(taken)]),
    ]),
  );
}
