import type { Copies, IntakeThreads as ThreadsOfReceiver } from '../../component/intake.js';
import { intakeHeap } from '../../config/memory.js';
import type { Signal } from '../../signal/batch.js';
import type { Node } from '../node.js';
import type { Plan } from '../plan.js';
import { IntakePool, type PoolParts } from './intake-pool.js';
import { Placements } from './placements.js';

/** The threads that process requests for the receivers of a daemon. A reload that changes their pipelines exchanges them. */
export class IntakeThreads {
  readonly #parts: PoolParts;
  /** Gets new requests. */
  #pool: IntakePool;
  /** All that run: a replaced one until its last request is answered. */
  readonly #pools = new Set<IntakePool>();
  #endGauges: readonly (() => void)[] = [];

  constructor(plan: Plan, components: readonly Node[], parts: PoolParts) {
    this.#parts = parts;
    this.#pool = new IntakePool(new Placements(plan), components, parts);
    this.#pools.add(this.#pool);
  }

  /** Undefined without threads. */
  get placements(): Placements | undefined {
    return this.#pool.size === 0 ? undefined : this.#pool.placements;
  }

  /** Resolves when all threads are ready. @throws Error if one cannot start */
  async start(): Promise<void> {
    const { config, tools, built } = this.#parts;
    if (config.threads === 0) return;
    const sum = (of: (pool: IntakePool) => number) => () =>
      [...this.#pools].reduce((total, pool) => total + of(pool), 0);
    const { meter } = tools;
    this.#endGauges = [
      meter.gauge(
        'intake_threads',
        { description: 'Intake threads.' },
        sum(({ size }) => size),
      ),
      meter.gauge(
        'intake_queue_requests',
        { description: 'Requests waiting for an intake thread.' },
        sum(({ queued }) => queued),
      ),
    ];
    const heap = (name: string, description: string, read: () => number) =>
      meter.gauge(`intake_heap_${name}_bytes`, { description }, read);
    this.#endGauges = [
      ...this.#endGauges,
      heap('limit', 'Maximum size of the JavaScript heap of an intake thread.', () =>
        this.#pool.size === 0 ? 0 : intakeHeap(this.#pool.size),
      ),
      heap(
        'used',
        'JavaScript heap in use in the fullest intake thread, as of its last request.',
        () => this.#pool.heapUsed,
      ),
    ];
    built.edges.watchListeners((listening, hasEnded) => {
      for (const pool of this.#pools) pool.listenersChanged(listening, hasEnded);
    });
    await this.#pool.start();
  }

  /** @returns undefined if all requests are processed on the main thread, whatever a reload changes */
  ofReceiver({ kind, id }: Node): ThreadsOfReceiver | undefined {
    if (kind !== 'receiver' || this.#parts.config.threads === 0) return undefined;
    return {
      takes: (signal: Signal) => this.#pool.takes(id, signal),
      run: (task) => this.#pool.run(id, task),
    };
  }

  /** @returns undefined without threads */
  copiesOf(node: Node): Copies | undefined {
    if (this.#parts.config.threads === 0) return undefined;
    const pools = this.#pools;
    return {
      send: (message) => {
        for (const pool of pools) pool.send(node, message);
      },
      get areExchanged() {
        return pools.size > 1;
      },
    };
  }

  /**
   * Starts threads for another configuration, next to those that run.
   *
   * @returns undefined if those that run have the same components
   * @throws Error if a thread cannot start
   */
  async prepare(plan: Plan, components: readonly Node[]): Promise<IntakePool | undefined> {
    const pool = new IntakePool(new Placements(plan), components, this.#parts);
    if (pool.runsAsIn(this.#pool)) return undefined;
    this.#pools.add(pool);
    try {
      await pool.start();
    } catch (error) {
      await this.discard(pool);
      throw error;
    }
    return pool;
  }

  /** From now on, requests go to a pool of {@link prepare}. @returns the replaced pool, to be retired */
  use(pool: IntakePool): IntakePool {
    const before = this.#pool;
    this.#pool = pool;
    return before;
  }

  /** Ends the threads of a pool. Unfinished tasks fail. */
  async discard(pool: IntakePool): Promise<void> {
    await pool.close();
    this.#pools.delete(pool);
  }

  /** Ends all threads. Unfinished tasks fail. */
  async close(): Promise<void> {
    for (const end of this.#endGauges) end();
    await Promise.all([...this.#pools].map((pool) => this.discard(pool)));
  }
}
