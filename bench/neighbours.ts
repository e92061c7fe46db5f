import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from './api.js';
import { BENCH_KEY, inFreshDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { FloodProcess } from './flood-process.js';
import { FLOODS, type FloodName } from './floods/all-floods.js';
import type { FloodTarget } from './floods/flood.js';
import { LoadProcess } from './load-process.js';
import { Neighbour, type NeighbourStats } from './neighbour.js';
import { MemoryWatch } from './process-usage.js';
import { lines, ms, printSetup, table, type Print } from './report.js';

/** What the neighbour may see at most, and what the daemon may take. */
const GOAL_MS = 250;
const GOAL_MIB = 1536;
const SETTLE_MS = 2000;
const RECORDS_PER_REQUEST = 1000;

export interface NeighboursOptions {
  readonly floods: readonly FloodName[];
  /** At most so long for each; those that have a size end with it. */
  readonly seconds: number;
  /** Of the neighbour. */
  readonly spansPerSecond: number;
  /** What the one who floods has stored before, so that there is something to search. */
  readonly logRecords: number;
  readonly config?: string;
  /** Where the daemon leaves CPU profiles of its threads. */
  readonly profile?: string;
}

interface Round extends NeighbourStats {
  readonly title: string;
  readonly did: string;
  readonly seconds: number;
  readonly maxMiB: number | undefined;
}

/**
 * `npm run bench -- neighbours`: what one user sees while another one floods the daemon.
 *
 * @returns whether every round met the goals
 */
export async function neighbours(options: NeighboursOptions, print: Print): Promise<boolean> {
  printSetup(print, 'neighbours', { ...options });
  return await inFreshDirectory(async (directory) => {
    const files = await writeDaemonConfig({ directory, key: BENCH_KEY, extra: options.config });
    const daemon = await DaemonProcess.start(files, options.profile);
    try {
      const target = {
        url: daemon.url,
        grpcUrl: daemon.grpcUrl,
        key: await keyOfAnother(daemon.url),
      };
      await fillLogs(target, options.logRecords);
      const rounds = [await round(daemon, options, undefined)];
      for (const name of options.floods) rounds.push(await round(daemon, options, { name, target }));
      print(roundsTable(rounds));
      print(lines(rounds.map(({ title, did, seconds }) => [title, `${seconds.toFixed(0)} s; ${did}`])));
      const isMet = rounds.every(meetsGoals);
      print(
        `  Goals: p99 of writes and reads under ${GOAL_MS} ms, no errors, memory under ${GOAL_MIB} MiB: ${isMet ? 'met' : 'NOT MET'}`,
      );
      if (options.profile !== undefined) await daemon.stop();
      return isMet;
    } finally {
      await daemon.kill();
    }
  });
}

/** The key of a second user. */
async function keyOfAnother(url: string): Promise<string> {
  const api = new Api(url, BENCH_KEY);
  const user = (await api.post('/admin/users', { email: 'flood@localhost', name: 'Flood' })) as {
    readonly id: string;
  };
  const { key } = (await api.post('/admin/keys', {
    user_id: user.id,
    name: 'flood',
    scopes: ['write', 'read', 'manage'],
  })) as { readonly key: string };
  await api.close();
  return key;
}

async function fillLogs({ url, key }: FloodTarget, records: number): Promise<void> {
  const load = await LoadProcess.start({
    kind: 'logs',
    url,
    key,
    seed: 'bench',
    connections: 16,
    itemsPerRequest: RECORDS_PER_REQUEST,
    templates: 100,
    warmupSeconds: 0,
    items: records,
    times: 'now',
    samples: 0,
  });
  try {
    load.go();
    await load.result;
  } finally {
    await load.kill();
  }
}

async function round(
  daemon: DaemonProcess,
  options: NeighboursOptions,
  wanted: { readonly name: FloodName; readonly target: FloodTarget } | undefined,
): Promise<Round> {
  await sleep(SETTLE_MS);
  const { spansPerSecond } = options;
  const neighbour = await Neighbour.start({ url: daemon.url, key: BENCH_KEY, spansPerSecond });
  const memory = new MemoryWatch(daemon.pid);
  const flood = wanted && new FloodProcess(wanted.name, wanted.target);
  const startedMs = performance.now();
  try {
    const time = new AbortController();
    await Promise.race([
      sleep(options.seconds * 1000, undefined, { signal: time.signal }).catch(() => undefined),
      ...(flood === undefined ? [] : [flood.done]),
    ]);
    time.abort();
    const seconds = (performance.now() - startedMs) / 1000;
    const stats = await neighbour.stop();
    const did = (await flood?.stop()) ?? 'nothing else';
    const { maxMiB } = await memory.stop();
    return { ...stats, title: wanted ? FLOODS[wanted.name].title : 'alone', did, seconds, maxMiB };
  } finally {
    await memory.stop();
    await flood?.kill();
    await neighbour.kill();
  }
}

function meetsGoals({ writes, reads, errors, maxMiB = 0 }: Round): boolean {
  const slowest = Math.max(writes.p99, reads.p99);
  return slowest < GOAL_MS && maxMiB < GOAL_MIB && Object.keys(errors).length === 0;
}

function roundsTable(rounds: readonly Round[]): string {
  const head = ['beside', 'writes: n', 'p50', 'p99', 'max', 'reads: n', 'p50', 'p99', 'max', 'errors', 'MiB'];
  return table(
    head,
    rounds.map(({ title, writes, reads, errors, maxMiB }) => [
      title,
      ...[writes, reads].flatMap(({ count, p50, p99, max }) => [String(count), ms(p50), ms(p99), ms(max)]),
      Object.entries(errors)
        .map(([name, count]) => `${name}: ${count}`)
        .join(' ') || '0',
      maxMiB === undefined ? 'unknown' : maxMiB.toFixed(0),
    ]),
  );
}
