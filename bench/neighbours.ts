import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { Api } from './api.js';
import { BENCH_KEY, withTempDirectory } from './bench-directory.js';
import { writeDaemonConfig } from './daemon-config.js';
import { DaemonProcess } from './daemon-process.js';
import { FloodProcess } from './flood-process.js';
import { FLOODS, type FloodName, type FloodTarget } from './floods.js';
import { LatencyRecorder } from './latency-recorder.js';
import type { Latency } from './load-plan.js';
import { LoadProcess } from './load-process.js';
import { MemoryWatch } from './process-usage.js';
import { lines, ms, printSetup, table, type Print } from './report.js';

/** Maximum p99 latency of the neighbour, and maximum memory of the daemon. */
const GOAL_MS = 250;
const GOAL_MIB = 1536;
const PAUSE_MS = 2000;
const RECORDS_PER_REQUEST = 1000;

export interface NeighboursOptions {
  readonly floods: readonly FloodName[];
  /** Maximum seconds per flood. Floods of a fixed size may end earlier. */
  readonly seconds: number;
  /** Rate of the neighbour. */
  readonly spansPerSecond: number;
  /** Log records that the flooding user has stored, for searches. */
  readonly logRecords: number;
  readonly config?: string;
  /** Directory for CPU profiles of the daemon's threads. */
  readonly profile?: string;
}

interface Round extends NeighbourStats {
  readonly title: string;
  readonly activity: string;
  readonly seconds: number;
  readonly maxMiB: number | undefined;
}

/**
 * `npm run bench -- neighbours`: the latency of one user while another floods the daemon.
 *
 * @returns whether every round met the goals
 */
export async function neighbours(options: NeighboursOptions, print: Print): Promise<boolean> {
  printSetup(print, 'neighbours', { ...options });
  return await withTempDirectory(async (directory) => {
    const files = await writeDaemonConfig({ directory, key: BENCH_KEY, extra: options.config });
    const daemon = await DaemonProcess.start(files, options.profile);
    try {
      const target = {
        url: daemon.url,
        grpcUrl: daemon.grpcUrl,
        key: await createFloodUser(daemon.url),
      };
      await fillLogs(target, options.logRecords);
      const rounds = [await round(daemon, options, undefined)];
      for (const name of options.floods) rounds.push(await round(daemon, options, { name, target }));
      print(roundsTable(rounds));
      print(
        lines(rounds.map(({ title, activity, seconds }) => [title, `${seconds.toFixed(0)} s; ${activity}`])),
      );
      const isMet = rounds.every(meetsGoals);
      print(
        `  Goals: p99 of writes, reads and health under ${GOAL_MS} ms, no errors, memory under ${GOAL_MIB} MiB: ${isMet ? 'met' : 'NOT MET'}`,
      );
      if (options.profile !== undefined) await daemon.stop();
      return isMet;
    } finally {
      await daemon.kill();
    }
  });
}

/** Creates a second user. @returns its key */
async function createFloodUser(url: string): Promise<string> {
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
  planned: { readonly name: FloodName; readonly target: FloodTarget } | undefined,
): Promise<Round> {
  await sleep(PAUSE_MS);
  const { spansPerSecond } = options;
  const neighbour = await Neighbour.start({ url: daemon.url, key: BENCH_KEY, spansPerSecond });
  const memory = new MemoryWatch(daemon.pid);
  const flood = planned && new FloodProcess(planned.name, planned.target);
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
    const activity = (await flood?.stop()) ?? 'no flood';
    const { maxMiB } = await memory.stop();
    return { ...stats, title: planned ? FLOODS[planned.name].title : 'none', activity, seconds, maxMiB };
  } finally {
    await memory.stop();
    await flood?.kill();
    await neighbour.kill();
  }
}

function meetsGoals({ writes, reads, health, errors, maxMiB = 0 }: Round): boolean {
  const slowest = Math.max(writes.p99, reads.p99, health.p99);
  return slowest < GOAL_MS && maxMiB < GOAL_MIB && Object.keys(errors).length === 0;
}

function roundsTable(rounds: readonly Round[]): string {
  const latencies = ['writes', 'reads', 'health'].flatMap((name) => [`${name}: n`, 'p50', 'p99', 'max']);
  const head = ['flood', ...latencies, 'errors', 'MiB'];
  return table(
    head,
    rounds.map(({ title, writes, reads, health, errors, maxMiB }) => [
      title,
      ...[writes, reads, health].flatMap(({ count, p50, p99, max }) => [
        String(count),
        ms(p50),
        ms(p99),
        ms(max),
      ]),
      Object.entries(errors)
        .map(([name, count]) => `${name}: ${count}`)
        .join(' ') || '0',
      maxMiB === undefined ? 'unknown' : maxMiB.toFixed(0),
    ]),
  );
}

const CONNECTIONS = 16;
const SPANS_PER_REQUEST = 100;
const BODIES = 50;
const READ_CONNECTIONS = 32;
const READ_EVERY_MS = 50;
const READS_PER_PROBE = 4;
const TIMEOUT_MS = 60_000;

/** What a well-behaved user measures. */
interface NeighbourStats {
  readonly writes: Latency;
  readonly reads: Latency;
  readonly health: Latency;
  /** Counts of failed requests by status or error code. */
  readonly errors: Readonly<Record<string, number>>;
}

interface NeighbourTarget {
  readonly url: string;
  readonly key: string;
  readonly spansPerSecond: number;
}

/**
 * A user who writes and reads at a moderate, steady rate (open loop). Latency counts from the time a request is due, so a
 * pause of the daemon affects every request that is due during it.
 */
class Neighbour {
  readonly #load: LoadProcess;
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #reads = new LatencyRecorder();
  readonly #health = new LatencyRecorder();
  readonly #errors = new Map<string, number>();
  readonly #pendingReads = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  private constructor(load: LoadProcess, { url, key }: NeighbourTarget, paths: readonly string[]) {
    this.#load = load;
    this.#headers = { authorization: `Bearer ${key}` };
    this.#pool = new Pool(url, {
      connections: READ_CONNECTIONS,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    });
    const firstMs = performance.now();
    let next = 0;
    this.#timer = setInterval(() => {
      while (firstMs + next * READ_EVERY_MS <= performance.now()) {
        const dueMs = firstMs + next * READ_EVERY_MS;
        this.#get(`/api/v1${paths[next % paths.length] ?? ''}`, dueMs, this.#reads);
        if (next % READS_PER_PROBE === 0) this.#get('/healthz', dueMs, this.#health);
        next++;
      }
    }, READ_EVERY_MS / 2);
  }

  /** Starts the load and resolves after its warm-up. */
  static async start(service: NeighbourTarget): Promise<Neighbour> {
    const { url, key, spansPerSecond } = service;
    const load = await LoadProcess.start({
      kind: 'batch',
      url,
      key,
      seed: 'bench/neighbour',
      connections: CONNECTIONS,
      itemsPerSecond: spansPerSecond,
      itemsPerRequest: SPANS_PER_REQUEST,
      templates: BODIES,
      warmupSeconds: 2,
      times: 'now',
      samples: 0,
    });
    load.go();
    await load.measuring;
    return new Neighbour(load, service, await readPaths(service));
  }

  async stop(): Promise<NeighbourStats> {
    clearInterval(this.#timer);
    this.#load.stop();
    const { measured, errors } = await this.#load.result;
    await Promise.all(this.#pendingReads);
    await this.#pool.destroy();
    for (const [name, count] of Object.entries(errors)) this.#failed(name, count);
    return {
      writes: measured.latency,
      reads: this.#reads.summary(),
      health: this.#health.summary(),
      errors: Object.fromEntries(this.#errors),
    };
  }

  async kill(): Promise<void> {
    clearInterval(this.#timer);
    await this.#load.kill();
  }

  #get(path: string, dueMs: number, latency: LatencyRecorder): void {
    const read = this.#read(path, dueMs, latency);
    this.#pendingReads.add(read);
    void read.finally(() => this.#pendingReads.delete(read));
  }

  async #read(path: string, dueMs: number, latency: LatencyRecorder): Promise<void> {
    try {
      const { statusCode, body } = await this.#pool.request({ method: 'GET', path, headers: this.#headers });
      await body.dump();
      if (statusCode === 200) latency.record(performance.now() - dueMs);
      else this.#failed(String(statusCode), 1);
    } catch (error) {
      this.#failed(error instanceof Error && 'code' in error ? String(error.code) : String(error), 1);
    }
  }

  #failed(name: string, count: number): void {
    this.#errors.set(name, (this.#errors.get(name) ?? 0) + count);
  }
}

/** The requests of a dashboard. */
async function readPaths({ url, key }: NeighbourTarget): Promise<readonly string[]> {
  const get = async <T>(path: string): Promise<T> => {
    const response = await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } });
    return (await response.json()) as T;
  };
  const [agent] = await get<readonly { readonly id: string }[]>('/agents');
  const runs = await get<{ readonly items: readonly { readonly trace_id: string }[] }>('/dashboard/traces');
  const agentPath = `/agents/${agent?.id ?? ''}`;
  return [
    '/agents',
    '/dashboard/traces',
    `${agentPath}/runs`,
    `${agentPath}/stats?days=30`,
    '/dashboard/service-map/',
    ...runs.items.slice(0, 5).map(({ trace_id: traceId }) => `/dashboard/traces/${traceId}`),
  ];
}
