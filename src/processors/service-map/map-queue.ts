import { ConsumeError } from '../../component/consume-error.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import { spanIdsOf } from '../../signal/derive-map.js';
import type { BatchMap, DerivedMap } from '../../signal/service-map.js';
import type { TraceRecord } from '../../signal/trace.js';
import { encodeBatch } from './encode-batch.js';
import type { MapMetrics } from './map-metrics.js';
import { MapPool, type MapPoolOptions } from './map-pool.js';
import type { MapTaskBatch } from './task.js';
import { waitFor } from '../../telemetry/wait-for.js';

/** Maximum number of spans in one task: beyond it, the fixed cost of a task hardly matters. */
const MAX_TASK_SPANS = 4096;
/**
 * Number of pending spans that triggers a task, so that a thread derives them while the main thread reads more input: a fully loaded
 * daemon ingests 7% more than with one task at the end. 1000 and 2500 give similar results, 500 worse.
 */
const TASK_SPANS = 1500;
/**
 * For BUSY_MS after a task of at least BUSY_SPANS more is probably on its way, and the next one gathers for GATHER_MS: waking a
 * thread costs both sides some 50 µs. In a full daemon all threads together then take 2 % less processor time a span.
 */
const BUSY_SPANS = 150;
const BUSY_MS = 20;
const GATHER_MS = 10;
const RETRY_AFTER_MS = 1000;

export interface MapQueueOptions extends MapPoolOptions {
  /** Batches that may wait. */
  readonly maxQueue: number;
  /** How long a batch may wait for a place in the queue, in milliseconds. */
  readonly maxWaitMs: number;
}

interface Waiting {
  readonly task: MapTaskBatch;
  readonly spans: number;
  readonly resolve: (map: DerivedMap) => void;
  readonly reject: (error: ConsumeError) => void;
  /** Whether a task that contained it has failed. */
  hasFailed: boolean;
}

/** A batch waiting for a place in the queue. */
interface Outside {
  readonly batch: Waiting;
  readonly cancel: () => void;
}

/**
 * Queue of batches whose maps threads derive. Pending batches go to a ready thread together. If a task fails, each of its batches is
 * retried separately, so that one bad batch cannot fail the others.
 */
export class MapQueue {
  readonly #pool: MapPool;
  readonly #maxQueue: number;
  readonly #maxWaitMs: number;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #metrics: MapMetrics;
  /** Batches of failed tasks. They run first, since they have waited the longest. */
  readonly #again: Waiting[] = [];
  readonly #queue: Waiting[] = [];
  #spansQueued = 0;
  readonly #outside = new Set<Outside>();
  #underWay = 0;
  /** Whether the second try of a batch is running. */
  #isAlone = false;
  /** The spans of the last task, and when a task last ended. */
  #lastSpans = 0;
  #lastAt = -Infinity;
  #isScheduled = false;
  #closing: Promise<void> | null = null;
  /** Whether the time to finish accepted work is over. */
  #isOver = false;
  #onEmpty: () => void = () => undefined;

  constructor(options: MapQueueOptions) {
    this.#pool = new MapPool(options);
    this.#maxQueue = options.maxQueue;
    this.#maxWaitMs = options.maxWaitMs;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#metrics = options.metrics;
  }

  /** How many batches are with no thread yet. */
  get waiting(): number {
    return this.#again.length + this.#queue.length + this.#outside.size;
  }

  /** @throws Error if the threads cannot do their work */
  async start(): Promise<void> {
    await this.#pool.start();
  }

  /**
   * The map of a batch, which is there later: it fails with a ConsumeError if the queue stays full, the daemon stops, or deriving
   * fails.
   *
   * @throws ConsumeError if the daemon stops already, and for a batch that cannot be handed to a thread
   */
  derive(items: readonly TraceRecord[]): BatchMap {
    if (this.#closing !== null) throw shuttingDown();
    const spanIds = spanIdsOf(items);
    const spans = spanIds.reduce((sum, ids) => sum + ids.length, 0);
    const task = this.#encode(items);
    const derived = new Promise<DerivedMap>((resolve, reject) => {
      const batch: Waiting = { task, spans, resolve, reject, hasFailed: false };
      if (this.#queue.length >= this.#maxQueue) this.#waitOutside(batch);
      else {
        this.#join(batch);
        if (this.#spansQueued >= TASK_SPANS) this.#handOver();
        this.#schedule();
      }
    });
    // A caller that has refused the batch does not await its map.
    derived.catch(() => undefined);
    return { spanIds, derived };
  }

  #encode(items: readonly TraceRecord[]): MapTaskBatch {
    try {
      return encodeBatch(items);
    } catch (error) {
      this.#metrics.failed();
      this.#logger.error({ error }, 'Refused a batch that cannot be encoded for the service map');
      throw notDerived(error);
    }
  }

  #join(batch: Waiting): void {
    this.#queue.push(batch);
    this.#spansQueued += batch.spans;
  }

  /** Completes accepted batches within the deadline. */
  close(deadline: AbortSignal): Promise<void> {
    this.#closing ??= this.#close(deadline);
    return this.#closing;
  }

  async #close(deadline: AbortSignal): Promise<void> {
    if (!this.#isEmpty) await waitFor(new Promise<void>((resolve) => (this.#onEmpty = resolve)), deadline);
    this.#isOver = true;
    const left = [this.#again, this.#queue].flatMap((list) => list.splice(0));
    for (const { batch, cancel } of this.#outside) {
      cancel();
      left.push(batch);
    }
    this.#outside.clear();
    for (const { reject } of left) reject(shuttingDown());
    await this.#pool.close();
  }

  get #isEmpty(): boolean {
    return this.#underWay === 0 && this.waiting === 0;
  }

  #waitOutside(batch: Waiting): void {
    const outside: Outside = {
      batch,
      cancel: this.#clock.after(this.#maxWaitMs, () => {
        this.#outside.delete(outside);
        this.#metrics.refused();
        batch.reject(stayedFull());
      }),
    };
    this.#outside.add(outside);
  }

  /** Sends batches of one event loop turn together; after a large task, batches of some milliseconds. */
  #schedule(): void {
    if (this.#isScheduled || this.#again.length + this.#queue.length === 0) return;
    this.#isScheduled = true;
    const go = (): void => {
      this.#isScheduled = false;
      this.#handOver();
    };
    if (this.#isBusy) setTimeout(go, GATHER_MS);
    else setImmediate(go);
  }

  /** Whether more is probably on its way, because a large task has just ended. */
  get #isBusy(): boolean {
    return this.#lastSpans >= BUSY_SPANS && performance.now() - this.#lastAt < BUSY_MS;
  }

  /** Hands over as much as the threads take. */
  #handOver(): void {
    while (this.#isTaken && !this.#isAlone) {
      if (this.#again.length > 0) {
        if (this.#underWay > 0) return;
        this.#isAlone = true;
        void this.#do(this.#again.splice(0, 1));
      } else if (this.#queue.length > 0) void this.#do(this.#next());
      else return;
    }
  }

  /** Whether a thread can take pending batches: a large task may already be queued for it, while small ones are collected. */
  get #isTaken(): boolean {
    return this.#pool.hasFreeThread || (this.#spansQueued >= TASK_SPANS && this.#pool.hasRoom);
  }

  /** The batches of the next task. */
  #next(): readonly Waiting[] {
    let spans = 0;
    const end = this.#queue.findIndex((batch, i) => (spans += batch.spans) > MAX_TASK_SPANS && i > 0);
    const taken = this.#queue.splice(0, end < 0 ? this.#queue.length : end);
    this.#spansQueued -= spansOf(taken);
    for (const outside of this.#outside) {
      if (this.#queue.length >= this.#maxQueue) break;
      outside.cancel();
      this.#outside.delete(outside);
      this.#join(outside.batch);
    }
    return taken;
  }

  async #do(batches: readonly Waiting[]): Promise<void> {
    this.#underWay++;
    this.#lastSpans = spansOf(batches);
    try {
      const maps = await this.#pool.derive(batches.map(({ task }) => task));
      for (const [i, map] of maps.entries()) batches[i]?.resolve(map);
    } catch (error) {
      this.#failed(batches, error);
    }
    this.#underWay--;
    this.#isAlone = false;
    this.#lastAt = performance.now();
    if (this.#isEmpty) this.#onEmpty();
    this.#schedule();
  }

  #failed(batches: readonly Waiting[], error: unknown): void {
    if (this.#isOver) {
      for (const { reject } of batches) reject(shuttingDown());
      return;
    }
    this.#metrics.failed();
    const spans = spansOf(batches);
    this.#logger.error(
      { error, batches: batches.length, spans },
      batches.some(({ hasFailed }) => hasFailed)
        ? 'Could not derive the service map of a batch in two attempts; it is refused as retryable'
        : 'Could not derive the service map of some batches; retrying each separately',
    );
    for (const batch of batches) {
      if (batch.hasFailed) batch.reject(notDerived(error));
      else {
        batch.hasFailed = true;
        this.#again.push(batch);
      }
    }
  }
}

function spansOf(batches: readonly Waiting[]): number {
  return batches.reduce((sum, { spans }) => sum + spans, 0);
}

function stayedFull(): ConsumeError {
  return new ConsumeError('Too many batches are waiting for the service map', {
    code: 'overloaded',
    retryable: true,
    retryAfterMs: RETRY_AFTER_MS,
  });
}

function shuttingDown(): ConsumeError {
  return new ConsumeError('The daemon is stopping', { code: 'shutting_down', retryable: true });
}

function notDerived(cause: unknown): ConsumeError {
  return new ConsumeError('Could not derive the service map of the batch', {
    code: 'internal_error',
    retryable: true,
    cause,
  });
}
