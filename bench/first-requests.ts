import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
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
/** How long a daemon that nobody has asked anything is left alone for its upkeep. */
const SETTLE_MS = 500;
/** One that asks once more what was asked before is at rest when it takes no more than this of a processor for two seconds. */
const REST_MS = 2000;
const REST_CPU_SECONDS = 0.06;
const LONGEST_WARM_UP_MS = 120_000;

/** What a daemon takes that has just been started. */
export interface FirstRequest {
  readonly route: ReadRoute;
  /** For the first request to a route that nobody has ever asked. */
  readonly never: Taken;
  /** For those that follow: median of the time, mean of the processor time. */
  readonly then: Taken;
  /** For the first request after another start. */
  readonly again: Taken;
}

interface Taken {
  readonly ms: number;
  /** Of all threads of the daemon, to hundredths of a second; undefined off Linux. */
  readonly cpuMs: number | undefined;
}

/**
 * Asks each route of a daemon that was started for it alone and does not know what was asked before; then all of them, once each, of a
 * daemon that knows it and has come to rest.
 *
 * @param files of the daemon's configuration
 * @param directory the store's
 */
export async function firstRequests(
  files: readonly string[],
  directory: string,
  routes: readonly ReadRoute[],
): Promise<{ readonly requests: readonly FirstRequest[]; readonly warmUpMs: number }> {
  const never: { readonly first: Taken; readonly then: Taken }[] = [];
  for (const route of routes) {
    await forgetAsked(directory);
    never.push(
      await withDaemon(files, async (daemon, api) => {
        await sleep(SETTLE_MS);
        return await askTwice(daemon.pid, api, route);
      }),
    );
  }
  // Somebody looks at everything, and the daemon is started again.
  await withDaemon(files, async (_, api) => {
    for (const route of routes) await api.text(route.path(0));
  });
  const { again, warmUpMs } = await withDaemon(files, async ({ pid }, api) => {
    const warmUpMs = await untilAtRest(pid);
    const again: Taken[] = [];
    for (const route of routes) again.push(await take(pid, () => api.text(route.path(0))));
    return { again, warmUpMs };
  });
  const requests = routes.flatMap((route, at): FirstRequest[] => {
    const [asked, later] = [never[at], again[at]];
    return asked && later ? [{ route, never: asked.first, then: asked.then, again: later }] : [];
  });
  return { requests, warmUpMs };
}

async function forgetAsked(directory: string): Promise<void> {
  const data = join(directory, 'data');
  for (const name of await readdir(data)) if (name.endsWith('.asked')) await rm(join(data, name));
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

/** @returns milliseconds until it rested; off Linux as long as it may take */
async function untilAtRest(pid: number): Promise<number> {
  const startedMs = performance.now();
  for (let used = await cpuSeconds(pid); performance.now() - startedMs < LONGEST_WARM_UP_MS;) {
    await sleep(REST_MS);
    const now = await cpuSeconds(pid);
    if (now !== undefined && used !== undefined && now - used < REST_CPU_SECONDS)
      return performance.now() - startedMs - REST_MS;
    used = now;
  }
  return performance.now() - startedMs;
}

export function firstRequestsTable(requests: readonly FirstRequest[]): string {
  const cpu = ({ cpuMs }: Taken): string => (cpuMs === undefined ? '' : cpuMs.toFixed(0));
  return table(
    ['route', 'never asked: ms', 'CPU', 'then: p50', 'CPU', 'after a restart: ms', 'CPU'],
    requests.map(({ route, never, then, again }) => [
      route.name,
      ...[never, then, again].flatMap((taken) => [ms(taken.ms), cpu(taken)]),
    ]),
  );
}
