import { randomUUID, createHash } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { ConsumeError } from '../../component/consume-error.js';
import {
  handOver,
  type ConsumeContext,
  type Consumer,
  type Passthrough,
  type Receipt,
} from '../../component/consumer.js';
import type { Clock, Logger, Meter, Tracer } from '../../component/telemetry.js';
import { amountOf, itemCount, refusedAmount, spanCounts, type Amount } from '../../signal/amount.js';
import type { Batch, Signal } from '../../signal/batch.js';
import type { AnyBatch } from '../../signal/raw-batch.js';
import { dueAt, mergeQueuedBatches, queuedBatchesOf, queuedBatchesOfNext } from './batcher.js';
import type { DeliveryOptions } from './config.js';
import { DeliveryError, failureFields } from './delivery-error.js';
import { DeliveryWatch } from './delivery-watch.js';
import type { WholeLetter } from './disk/dead-letters.js';
import { DiskBacking, type SharedDisk } from './disk/disk-backing.js';
import { QueueFull } from './disk/stored-batch.js';
import type { Offer } from './disk/new-records.js';
import { batchBytes } from './memory-size.js';
import { MemoryQueue, type Lane, type QueuedBatch } from './memory-queue.js';
import { DeliveryMetrics, queueStats } from './metrics.js';
import { withRetry } from './retry.js';
import type { RoomWatch } from './room-watch.js';
import { SparseLog } from '../../telemetry/sparse-log.js';

export interface DeliveryTools {
  /** The exporter's id. */
  readonly exporter: string;
  readonly signal: Signal;
  readonly options: DeliveryOptions;
  readonly logger: Logger;
  readonly meter: Meter;
  readonly clock: Clock;
  readonly tracer?: Tracer | undefined;
  /** Of the exporter, if its queue is on disk. */
  readonly shared?: SharedDisk;
  /** Notified when a queue in memory is full. */
  readonly room?: RoomWatch;
  /** Receives why nothing is delivered, null when something is again. See {@link DeliveryWatch}. */
  readonly onStall?: (reason: string | null) => void;
  /** From 0 to 1. Default `Math.random`. */
  readonly random?: () => number;
}

/**
 * The engine's wrapper around one input of a queued exporter: queue → batcher → retry → timeout → exporter. A batch is accepted as
 * soon as it is queued: in memory synchronously, on disk after the sync.
 */
export class Delivery implements Consumer<Batch<unknown>> {
  readonly passthrough: Passthrough | undefined;
  readonly #tools: DeliveryTools;
  readonly #queue: MemoryQueue;
  readonly #metrics: DeliveryMetrics;
  readonly #watch: DeliveryWatch;
  readonly #way: ReturnType<typeof withRetry<AnyBatch>>;
  /** Null for a queue in memory. */
  readonly #disk: DiskBacking | null;
  readonly #logs: Readonly<Record<'full' | 'lost', SparseLog>>;
  /** Aborted when the daemon begins to stop. */
  readonly #abortPending = new AbortController();
  /** Aborted when no more time is left. */
  readonly #end = new AbortController();
  /** Batches that another delivery sends, once this one is being released. */
  #released: QueuedBatch[] | null = null;
  #underWay = 0;
  #cancelTimer: () => void = () => undefined;
  #whenIdle: (() => void)[] = [];

  constructor(exporter: Consumer<Batch<unknown>>, tools: DeliveryTools) {
    const { exporter: id, signal, options, meter, logger, clock, shared, room, random = Math.random } = tools;
    this.#tools = tools;
    const form = exporter.passthrough?.form;
    if (form !== undefined)
      this.passthrough = { form, consume: (batch, context) => this.consume(batch, context) };
    // Every batch that is being sent listens to both signals.
    setMaxListeners(0, this.#abortPending.signal, this.#end.signal);
    this.#queue = new MemoryQueue(options.queue, signal, room);
    this.#watch = new DeliveryWatch({ signal, logger, clock, onStall: tools.onStall });
    const state = {
      waiting: () => ({ ...this.waiting, contents: (this.#disk ?? this.#queue).contents }),
      isStalled: () => this.#watch.isStalled,
    };
    this.#metrics = new DeliveryMetrics(meter, { exporter: id, signal }, state, options);
    const { disk } = options;
    this.#disk =
      disk && shared
        ? new DiskBacking({
            ...{ exporter: id, signal, options, disk, shared, logger, clock },
            form,
            memory: this.#queue,
            metrics: this.#metrics,
            pump: () => {
              this.#pump();
            },
          })
        : null;
    this.#logs = { full: new SparseLog(logger, clock), lost: new SparseLog(logger, clock) };
    const attempt: Consumer<AnyBatch> = {
      consume: (batch, context) => {
        const { tracer } = tools;
        if (tracer === undefined) return handOver(exporter, batch, context);
        return traced(tracer, { exporter: id, signal, batch }, () => handOver(exporter, batch, context));
      },
    };
    this.#way = withRetry(withTimeout(attempt, options.timeoutMs, clock), options.retry, {
      clock,
      random,
      abortPending: this.#abortPending.signal,
      isKept: () => this.#disk !== null || this.#released !== null,
      onFailure: this.#noteFailure.bind(this),
    });
  }

  /** Queued and in-flight amounts, with their limits. */
  get waiting() {
    return queueStats(this.#disk ?? this.#queue, this.#tools.options);
  }

  /** Whether a batch would be taken now. */
  hasRoomFor(batch: AnyBatch): boolean {
    if (this.#abortPending.signal.aborted) return false;
    if (this.#disk) return !this.#disk.isFullFor(batch.tenant);
    return !this.#queue.isFullFor(batch.tenant, itemCount(batch), batchBytes(batch));
  }

  /** For a queue on disk: loads the batches of an earlier run. @throws the error of the file system */
  async open(): Promise<void> {
    await this.#disk?.open();
  }

  /** Takes a dead letter into the queue again. @throws as {@link consume} */
  async takeBack(letter: WholeLetter): Promise<void> {
    await this.#disk?.takeBack(letter);
  }

  /**
   * @throws ConsumeError `overloaded` if the queue is full, `shutting_down` if it is being drained for good, `storage_unavailable` if
   *   its disk fails
   */
  async consume(batch: AnyBatch, context: ConsumeContext): Promise<Receipt> {
    const { exporter, options, clock } = this.#tools;
    const count = itemCount(batch);
    if (this.#abortPending.signal.aborted) throw isStopping(exporter);
    if (count === 0) return { accepted: 0, refused: [] };
    const { receivedAt } = context;
    const named = context.batch && passedOnId(batch.tenant, context.batch.id);
    const about = { receivedAt, queuedAt: clock.now(), id: named };
    if (this.#disk) {
      await this.#takeOnDisk(this.#disk, { batch, ...about });
      return { accepted: count, refused: [] };
    }
    const queuedBatches = queuedBatchesOf(batch, options.batch, about);
    const bytes = queuedBatches.reduce((sum, queuedBatch) => sum + queuedBatch.bytes, 0);
    if (this.#queue.isFullFor(batch.tenant, count, bytes)) throw this.refusal(batch);
    for (const queuedBatch of queuedBatches) this.#queue.push(queuedBatch);
    this.#pump();
    return { accepted: count, refused: [] };
  }

  async #takeOnDisk(disk: DiskBacking, offer: Offer): Promise<void> {
    if (disk.isFullFor(offer.batch.tenant)) throw this.refusal(offer.batch);
    try {
      await disk.take(offer);
    } catch (error) {
      throw error instanceof QueueFull ? this.refusal(offer.batch) : error;
    }
  }

  /** The error for the sender of a batch that does not fit. */
  refusal(batch: AnyBatch): ConsumeError {
    const { exporter, shared } = this.#tools;
    if (shared) shared.place.budget.noteRefused(1);
    else this.#queue.noteRefused(itemCount(batch), batchBytes(batch));
    return queueIsFull(exporter);
  }

  /** Counts a batch that was refused to its sender because of this queue. */
  noteRefused(amount: Amount): void {
    this.#metrics.refused(amount);
  }

  /** Counts a batch that did not get into the queue and will not be sent again. */
  noteDropped(amount: Amount, error: unknown): void {
    this.#metrics.dropped(amount, 'queue_full');
    const limits = this.#disk ? 'queue.max_bytes' : 'queue.max_items and queue.max_size';
    const what = 'Dropped a batch because the queue is full';
    this.#logs.full.warn(
      amount.items,
      { err: error },
      `${what}; raise ${limits}, or find out why nothing is delivered`,
    );
  }

  /**
   * Delivers queued batches, without new ones, until the queue is empty or the deadline has passed. Batches on disk stay there: only
   * those in flight are awaited. May be called twice.
   */
  async drain(deadline: AbortSignal): Promise<void> {
    this.#abortPending.abort(STOPPED);
    this.#watch.stop();
    const giveUp = (): void => {
      this.#end.abort(STOPPED);
      if (!this.#disk) this.#dropWaiting();
    };
    if (deadline.aborted) giveUp();
    else deadline.addEventListener('abort', giveUp);
    this.#pump();
    if (this.#isBusy) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    deadline.removeEventListener('abort', giveUp);
    await this.#disk?.close();
    this.#metrics.end();
  }

  /**
   * Stops, for a queue in memory: awaits the attempts in progress, within the deadline.
   *
   * @returns the batches that are not delivered
   */
  async release(deadline: AbortSignal): Promise<readonly QueuedBatch[]> {
    const released: QueuedBatch[] = [];
    this.#released = released;
    this.#abortPending.abort(STOPPED);
    this.#cancelTimer();
    const giveUp = (): void => {
      this.#end.abort(STOPPED);
    };
    if (deadline.aborted) giveUp();
    else deadline.addEventListener('abort', giveUp);
    const { signal } = this.#tools;
    for (const lane of [...this.#queue.lanes])
      for (const queued of this.#queue.take(lane, lane.queuedBatches.length)) {
        released.push(queued);
        this.#queue.release(queued.batch.tenant, amountOf(queued.batch, signal), queued.bytes);
      }
    if (this.#underWay > 0) await new Promise<void>((resolve) => this.#whenIdle.push(resolve));
    deadline.removeEventListener('abort', giveUp);
    return released;
  }

  /** Takes over batches that another delivery has accepted, however full the queue in memory is. Drops what the disk cannot take. */
  async adopt(batches: readonly QueuedBatch[]): Promise<void> {
    if (this.#disk === null) {
      for (const batch of batches) this.#queue.push(batch);
      this.#pump();
      return;
    }
    for (const queued of batches)
      try {
        await this.#disk.take(queued);
      } catch (error) {
        this.noteDropped(amountOf(queued.batch, this.#tools.signal), error);
      }
  }

  /** Sends batches that are due while fewer than the allowed number are being sent, and sets the timer for the next one. */
  #pump(): void {
    const { options, clock } = this.#tools;
    this.#cancelTimer();
    const isEnding = this.#abortPending.signal.aborted && (this.#disk !== null || this.#released !== null);
    while (this.#underWay < options.concurrency && !isEnding) {
      const next = this.#nextLane();
      if (!next) break;
      const now = clock.now();
      if (next.at > now) {
        this.#cancelTimer = clock.after((next.at - now) / 1000, () => {
          this.#pump();
        });
        break;
      }
      const [first, ...rest] = this.#queue.take(next.lane, queuedBatchesOfNext(next.lane, options.batch));
      if (first) void this.#send(mergeQueuedBatches([first, ...rest]));
    }
    this.#disk?.pull();
    if (!this.#isBusy) for (const resolve of this.#whenIdle.splice(0)) resolve();
  }

  /** The lane whose next batch is due first. During a shutdown batches are not held back to grow. */
  #nextLane(): { readonly lane: Lane; readonly at: number } | undefined {
    let next: { readonly lane: Lane; readonly at: number } | undefined;
    for (const lane of this.#queue.lanes) {
      const at = this.#abortPending.signal.aborted || this.#disk ? 0 : dueAt(lane, this.#tools.options.batch);
      if (!next || at < next.at) next = { lane, at };
    }
    return next;
  }

  /** Whether a stop has to wait. */
  get #isBusy(): boolean {
    return this.#disk || this.#released ? this.#underWay > 0 : this.#queue.items > 0;
  }

  async #send(queuedBatch: QueuedBatch): Promise<void> {
    const { batch, bytes, receivedAt, queuedAt, id = randomUUID() } = queuedBatch;
    const { signal } = this.#tools;
    const amount = amountOf(batch, signal);
    const spans = spanCounts(batch, signal);
    this.#underWay += 1;
    this.#watch.begin();
    try {
      const context = { receivedAt, abort: this.#end.signal, batch: { id } };
      const { refused } = await this.#way.consume(batch, context, this.#disk ? queuedAt : undefined);
      this.#watch.delivered();
      const without = refusedAmount(refused, spans);
      this.#metrics.sent({
        items: amount.items - without.items,
        contents: amount.contents - without.contents,
      });
      if (this.#disk) await this.#disk.delivered(queuedBatch, refused);
      else this.#metrics.dropped(without, 'permanent');
    } catch (error) {
      // A successor sends it again under the same id.
      await this.#giveUp({ ...queuedBatch, id }, amount, error);
    } finally {
      this.#underWay -= 1;
      this.#watch.ended();
      this.#queue.release(batch.tenant, amount, bytes);
      this.#pump();
    }
  }

  async #giveUp(queuedBatch: QueuedBatch, amount: Amount, error: unknown): Promise<void> {
    const given = error instanceof DeliveryError ? error : new DeliveryError('permanent', error);
    const { reason } = given;
    if (reason === 'shutdown' && this.#released !== null) {
      this.#released.push(queuedBatch);
      return;
    }
    if (!this.#disk) this.#metrics.dropped(amount, reason);
    if (reason === 'shutdown') return;
    const what = this.#disk ? 'A batch became a dead letter' : 'Dropped a batch';
    const why =
      reason === 'permanent' ? 'it is larger than the queue' : 'not delivered within retry.max_elapsed_time';
    this.#logs.lost.warn(
      amount.items,
      { signal: this.#tools.signal, reason, ...failureFields(given.cause) },
      `${what}: ${why}`,
    );
    await this.#disk?.givenUp(queuedBatch, given);
  }

  #noteFailure(error: unknown, waitMs: number | null): void {
    this.#metrics.failed(waitMs !== null);
    if (!this.#abortPending.signal.aborted)
      this.#watch.failed(error, waitMs, (this.#disk ?? this.#queue).items);
  }

  #dropWaiting(): void {
    const { logger, signal } = this.#tools;
    const left = this.#queue.items;
    for (const lane of [...this.#queue.lanes])
      for (const { batch, bytes } of this.#queue.take(lane, lane.queuedBatches.length)) {
        const amount = amountOf(batch, signal);
        this.#metrics.dropped(amount, 'shutdown');
        this.#queue.release(batch.tenant, amount, bytes);
      }
    if (left > 0)
      logger.error(
        { signal, items: left },
        'Dropped batches that could not be delivered before the shutdown timeout',
      );
  }
}

/**
 * The name under which a batch is passed on that came with a name: always the same for the same batch, and never that of another
 * user's batch, for any user names.
 */
function passedOnId(tenant: string, id: string): string {
  return createHash('sha256').update(`${tenant}/${id}`).digest('base64url');
}

/** One for all: the stack of a new error would keep the successor of a replaced delivery in memory, and so on. */
const STOPPED = new DOMException('The delivery is stopping', 'AbortError');

/** Records an attempt in the daemon's own traces. */
async function traced(
  tracer: Tracer,
  {
    exporter,
    signal,
    batch,
  }: { readonly exporter: string; readonly signal: Signal; readonly batch: AnyBatch },
  attempt: () => Promise<Receipt>,
): Promise<Receipt> {
  const { tenant } = batch;
  const attributes = {
    'jackdaw.exporter': exporter,
    'jackdaw.signal': signal,
    'jackdaw.items': itemCount(batch),
  };
  const delivery = { name: `deliver ${signal}`, kind: 'client', attributes } as const;
  const startedMs = performance.now();
  const end = (error?: string): void => {
    tracer.delivered(delivery, { durationMs: performance.now() - startedMs, tenant, error });
  };
  try {
    const receipt = await attempt();
    end();
    return receipt;
  } catch (error) {
    end(error instanceof ConsumeError ? error.code : 'internal_error');
    throw error;
  }
}

/** Retry delay sent to the sender. */
const RETRY_MS = 1000;

/** There is no room for a batch. @param exporter the exporter's id */
function queueIsFull(exporter: string): ConsumeError {
  return new ConsumeError(`The queue of exporter "${exporter}" is full: send the batch again later`, {
    code: 'overloaded',
    retryable: true,
    retryAfterMs: RETRY_MS,
  });
}

/** The queue is being emptied and takes no more batches. @param exporter the exporter's id */
function isStopping(exporter: string): ConsumeError {
  return new ConsumeError(`Exporter "${exporter}" is stopping: send the batch again later`, {
    code: 'shutting_down',
    retryable: true,
    retryAfterMs: RETRY_MS,
  });
}

/**
 * Limits the time of one attempt. A late attempt is aborted by the context's `abort` and no longer awaited; the same happens if the
 * caller's own `abort` fires. It then fails with a retryable {@link ConsumeError}.
 */
function withTimeout<B>(inner: Consumer<B>, ms: number, clock: Clock): Consumer<B> {
  return {
    async consume(batch: B, context: ConsumeContext): Promise<Receipt> {
      const { abort: outer } = context;
      if (outer?.aborted === true) throw stopped();
      const attempt = new AbortController();
      let end = (): void => undefined;
      const ended = new Promise<never>((_, reject) => {
        const stop = (error: ConsumeError) => {
          attempt.abort();
          reject(error);
        };
        const onAbort = () => {
          stop(stopped());
        };
        const cancel = clock.after(ms, () => {
          stop(retryable(`No response within ${ms} ms`));
        });
        outer?.addEventListener('abort', onAbort);
        end = () => {
          cancel();
          outer?.removeEventListener('abort', onAbort);
        };
      });
      try {
        return await Promise.race([inner.consume(batch, { ...context, abort: attempt.signal }), ended]);
      } finally {
        end();
      }
    },
  };
}

function stopped(): ConsumeError {
  return retryable('The attempt was cancelled because the daemon is stopping');
}

function retryable(message: string): ConsumeError {
  return new ConsumeError(message, { code: 'overloaded', retryable: true });
}
