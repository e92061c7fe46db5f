import { Pool } from 'undici';
import { LatencyRecorder } from './latency-recorder.js';
import type { Latency } from './load-plan.js';
import { LoadProcess } from './load-process.js';

const CONNECTIONS = 16;
const SPANS_PER_REQUEST = 100;
const BODIES = 50;
const READ_CONNECTIONS = 32;
const READ_EVERY_MS = 50;
const TIMEOUT_MS = 60_000;

/** What somebody who does no harm sees of a daemon. */
export interface NeighbourStats {
  readonly writes: Latency;
  readonly reads: Latency;
  /** Answers that were none of those wished for, by status or failure. */
  readonly errors: Readonly<Record<string, number>>;
}

interface Service {
  readonly url: string;
  readonly key: string;
  readonly spansPerSecond: number;
}

/**
 * A user who writes and reads at a modest, steady pace. Writes and reads are due by the clock, whatever the daemon does,
 * and latency counts from then: a pause is seen by everything that was due in it.
 */
export class Neighbour {
  readonly #load: LoadProcess;
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #latency = new LatencyRecorder();
  readonly #errors = new Map<string, number>();
  readonly #underWay = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  private constructor(load: LoadProcess, { url, key }: Service, paths: readonly string[]) {
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
        const read = this.#read(paths[next % paths.length] ?? '', firstMs + next * READ_EVERY_MS);
        this.#underWay.add(read);
        void read.finally(() => this.#underWay.delete(read));
        next++;
      }
    }, READ_EVERY_MS / 2);
  }

  /** Resolves when it has warmed up; from then on everything is measured. */
  static async start(service: Service): Promise<Neighbour> {
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
    await Promise.all(this.#underWay);
    await this.#pool.destroy();
    for (const [name, count] of Object.entries(errors)) this.#failed(name, count);
    return {
      writes: measured.latency,
      reads: this.#latency.summary(),
      errors: Object.fromEntries(this.#errors),
    };
  }

  async kill(): Promise<void> {
    clearInterval(this.#timer);
    await this.#load.kill();
  }

  async #read(path: string, dueMs: number): Promise<void> {
    try {
      const { statusCode, body } = await this.#pool.request({
        method: 'GET',
        path: `/api/v1${path}`,
        headers: this.#headers,
      });
      await body.dump();
      if (statusCode === 200) this.#latency.record(performance.now() - dueMs);
      else this.#failed(String(statusCode), 1);
    } catch (error) {
      this.#failed(error instanceof Error && 'code' in error ? String(error.code) : String(error), 1);
    }
  }

  #failed(name: string, count: number): void {
    this.#errors.set(name, (this.#errors.get(name) ?? 0) + count);
  }
}

/** What a dashboard asks for. */
async function readPaths({ url, key }: Service): Promise<readonly string[]> {
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
