import type { Clock, Logger } from '../../component/telemetry.js';
import type { DerivedMap } from '../../signal/service-map.js';
import { WorkerPool } from '../../worker/pool.js';
import type { MapMetrics } from './map-metrics.js';
import { readAnswer } from './read-answer.js';
import type { MapAnswer, MapTask } from './task.js';
import { MICROS_PER_SECOND } from '../../signal/time-units.js';

/** Maximum number of tasks for each thread. Under load, the main thread reads input for 50 ms before it receives results. */
const DEPTH = 4;

export interface MapPoolOptions {
  /** The compiled module of the threads. */
  readonly module: URL;
  readonly threads: number;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MapMetrics;
}

/** The threads that derive maps. */
export class MapPool {
  readonly #clock: Clock;
  readonly #metrics: MapMetrics;
  readonly #threads: WorkerPool<MapTask, MapAnswer>;

  constructor({ module, threads, clock, logger, metrics }: MapPoolOptions) {
    this.#clock = clock;
    this.#metrics = metrics;
    this.#threads = new WorkerPool({
      module,
      threads,
      depth: DEPTH,
      onIdleCrash: (error) => {
        logger.warn({ error }, 'An idle thread of the service map ended');
      },
    });
  }

  /** Whether a thread is idle. */
  get hasFreeThread(): boolean {
    return this.#threads.hasFreeThread;
  }

  /** Whether a thread can take a task now. */
  get hasRoom(): boolean {
    return this.#threads.hasRoom;
  }

  /** @throws Error if a thread cannot work */
  async start(): Promise<void> {
    await this.derive([]);
  }

  /** @returns the map of each batch @throws the error of the thread */
  async derive(task: MapTask): Promise<DerivedMap[]> {
    const since = this.#clock.now();
    const answer = await this.#threads.run(task, []);
    this.#metrics.took((this.#clock.now() - since) / MICROS_PER_SECOND);
    return readAnswer(answer, task.length);
  }

  /** Ends the threads immediately. Unfinished tasks fail. */
  async close(): Promise<void> {
    await this.#threads.close();
  }
}
