import { randomUUID } from 'node:crypto';
import { ConsumeError } from '../../../component/consume-error.js';
import type { Refusal } from '../../../component/consumer.js';
import type { Clock, Logger } from '../../../component/telemetry.js';
import { amountOf, itemCount } from '../../../signal/amount.js';
import { CONTENTS, type Signal } from '../../../signal/batch.js';
import { recordsOf, type RawForm } from '../../../signal/raw-batch.js';
import { pause } from '../../../telemetry/pause.js';
import { SparseLog } from '../../../telemetry/sparse-log.js';
import { BatchCodec, type RawDecoders } from './batch-codec.js';
import type { DeliveryOptions, DiskOptions } from '../config.js';
import type { DeliveryError } from '../delivery-error.js';
import type { MemoryQueue, QueuedBatch } from '../memory-queue.js';
import type { DeliveryMetrics } from '../metrics.js';
import type { DeadReason, DeadLetters, WholeLetter } from './dead-letters.js';
import type { DiskPlace } from './disk-place.js';
import { DiskQueue } from './disk-queue.js';
import { QueueFull, type StoredBatch } from './stored-batch.js';
import type { DeadLetterReplayer } from './dead-letter-replayer.js';
import { aboutOf, type Offer } from './new-records.js';
import type { Damage } from './segment.js';

/** The wait before a disk that failed is tried again. */
const RETRY_MS = 1000;

/** Shared by all queues of an exporter on disk. */
export interface SharedDisk {
  readonly place: DiskPlace;
  readonly letters: DeadLetters;
  readonly box: DeadLetterReplayer;
  readonly decoders: RawDecoders;
  /** Reports whether the disk works. @param error null: it works */
  readonly noteDisk: (signal: Signal, error: unknown) => void;
}

export interface DiskBackingTools {
  readonly exporter: string;
  readonly signal: Signal;
  readonly options: DeliveryOptions;
  readonly disk: DiskOptions;
  readonly shared: SharedDisk;
  /** In which the exporter forwards raw requests. */
  readonly form: RawForm | undefined;
  /** The batches in memory, to be sent next. */
  readonly memory: MemoryQueue;
  readonly metrics: DeliveryMetrics;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Signals that there may be something to send. */
  readonly pump: () => void;
}

/** The part of a delivery chain that is on disk: accepted batches stay there until they are delivered or become dead letters. */
export class DiskBacking {
  readonly #tools: DiskBackingTools;
  readonly #queue: DiskQueue;
  readonly #codec: BatchCodec;
  readonly #log: SparseLog;
  readonly #damageLog: SparseLog;
  readonly #end = new AbortController();
  #loading: Promise<void> | null = null;

  constructor(tools: DiskBackingTools) {
    const { signal, options, disk, shared, form, clock, logger } = tools;
    this.#tools = tools;
    this.#codec = new BatchCodec(signal, shared.decoders, form);
    this.#log = new SparseLog(logger, clock);
    this.#damageLog = new SparseLog(logger, clock, 0);
    this.#queue = new DiskQueue({
      place: shared.place,
      name: signal,
      codec: this.#codec,
      limits: options.batch,
      sync: disk.sync,
      clock,
      onWritten: (batch) => {
        this.#keepInMemory(batch);
      },
      onDamage: (damage) => {
        this.#noteDamage(damage);
      },
      onFailure: (error) => {
        this.#noteFailure(error);
      },
    });
  }

  /** @throws the error of the file system */
  async open(): Promise<void> {
    await this.#queue.open();
    const { items } = this.#queue;
    if (items > 0)
      this.#tools.logger.info(
        { signal: this.#tools.signal, items },
        'Loaded queued batches of an earlier run',
      );
    this.pull();
  }

  get items(): number {
    return this.#queue.items;
  }

  get contents(): number {
    return this.#queue.contents;
  }

  get bytes(): number {
    return this.#queue.bytes;
  }

  isFullFor(user: string): boolean {
    return this.#queue.isFullFor(user);
  }

  /**
   * Resolves when the batch is on disk.
   *
   * @throws QueueFull; ConsumeError `storage_unavailable` if the disk cannot store it
   */
  async take(offer: Offer): Promise<void> {
    const { exporter, shared, signal } = this.#tools;
    try {
      await this.#queue.append(offer);
    } catch (error) {
      if (error instanceof QueueFull) throw error;
      this.#noteFailure(error);
      throw new ConsumeError(`Cannot write the queue of exporter "${exporter}": ${messageOf(error)}`, {
        code: 'storage_unavailable',
        retryable: true,
        retryAfterMs: RETRY_MS,
        cause: error,
      });
    }
    shared.noteDisk(signal, null);
  }

  /** Takes a dead letter into the queue again. @throws as {@link take} */
  async takeBack(letter: WholeLetter): Promise<void> {
    const { tenant, receivedAt, id } = letter.about;
    const { batch } = this.#codec.read(letter, { ...letter, tenant });
    const queuedAt = this.#tools.clock.now();
    await this.take({ batch, receivedAt, queuedAt, id });
  }

  /** Loads batches from disk into memory until it is full. */
  pull(): void {
    if (this.#loading === null && this.#canLoad) this.#loading = this.#load();
  }

  /** A batch was delivered. @param refused its refused items */
  async delivered(queuedBatch: QueuedBatch, refused: readonly Refusal[]): Promise<void> {
    if (refused.length > 0) {
      const records = recordsOf(queuedBatch.batch);
      const items = refused.flatMap(({ index }) => records.items.slice(index, index + 1));
      const message = [...new Set(refused.map(({ reason }) => reason))].slice(0, 5).join('; ');
      // By a new name: under its own the other side remembers that it has taken the batch.
      const whole = { ...queuedBatch, batch: { ...records, items }, id: undefined };
      if (!(await this.#deadLetter(whole, 'items_refused', message))) return;
    }
    this.#done(queuedBatch);
  }

  /** Delivery of a batch has failed for good: it becomes a dead letter, or stays queued if the daemon stops before that. */
  async givenUp(queuedBatch: QueuedBatch, error: DeliveryError): Promise<void> {
    const reason: DeadReason = error.reason === 'permanent' ? 'refused' : (error.limit ?? 'too_often');
    if (await this.#deadLetter(queuedBatch, reason, error.message)) this.#done(queuedBatch);
  }

  /** Closes the files; queued batches stay in them. */
  async close(): Promise<void> {
    this.#end.abort();
    await this.#loading;
    await this.#queue.close();
  }

  #done({ stored }: QueuedBatch): void {
    if (stored) this.#queue.done(stored);
  }

  #keepInMemory(batch: StoredBatch): void {
    const { memory, pump } = this.#tools;
    if (this.#loading !== null || this.#end.signal.aborted) return;
    if (memory.isFull(itemCount(batch.batch), batch.bytes) || !this.#queue.giveOut(batch.stored)) this.pull();
    else {
      memory.push(queuedBatchOf(batch));
      pump();
    }
  }

  get #canLoad(): boolean {
    return !this.#end.signal.aborted && this.#queue.hasMore && this.#tools.memory.isHalfEmpty;
  }

  /** Runs only while something can be loaded, so that it does not end in the step in which it began. */
  async #load(): Promise<void> {
    const { memory, pump, clock, shared, signal } = this.#tools;
    while (this.#canLoad) {
      try {
        const batch = await this.#queue.next();
        if (batch === null) break;
        memory.push(queuedBatchOf(batch));
        shared.noteDisk(signal, null);
        pump();
      } catch (error) {
        this.#noteFailure(error);
        await pause(clock, RETRY_MS, this.#end.signal);
      }
    }
    // Reset in the step in which nothing was left to do, so that the next call starts again.
    this.#loading = null;
  }

  /** @returns false if the daemon stopped before it could be written */
  async #deadLetter(queuedBatch: QueuedBatch, reason: DeadReason, message: string): Promise<boolean> {
    const { exporter, signal, shared, metrics, clock, disk } = this.#tools;
    const { batch, receivedAt, queuedAt, id = randomUUID() } = queuedBatch;
    const { tenant } = batch;
    const amount = amountOf(batch, signal);
    const encoded = await (batch.kind === 'raw'
      ? this.#codec.packRequest(tenant, batch.request)
      : this.#codec.pack(this.#codec.serialize(batch.items)));
    for (;;) {
      try {
        const deadAt = clock.now();
        const of = aboutOf({ id, tenant, receivedAt, queuedAt }, amount);
        const about = { ...of, exporter, signal, reason, message, deadAt };
        await shared.letters.add(about, amount.items, encoded);
        break;
      } catch (error) {
        this.#noteFailure(error);
        await pause(clock, RETRY_MS, this.#end.signal);
        if (this.#end.signal.aborted) return false;
      }
    }
    metrics.dead(amount, reason);
    await shared.box.added(encoded.content.length, disk.maxDeadLetterBytes).catch((error: unknown) => {
      this.#noteFailure(error);
    });
    return true;
  }

  #noteDamage(damage: Damage): void {
    const { signal, metrics } = this.#tools;
    const { path, offset, bytes, records, lost } = damage;
    metrics.damaged(damage);
    const contents =
      signal === 'events' || lost.contents === 0 ? {} : { [CONTENTS[signal].name]: lost.contents };
    this.#damageLog.warn(
      lost.items,
      { signal, path, offset, bytes, records, ...contents },
      'Skipped an unreadable part of a queue file. A part that a crash cut off was never acknowledged; other data is lost. Check the disk.',
    );
  }

  #noteFailure(error: unknown): void {
    const { metrics, shared, signal } = this.#tools;
    metrics.diskFailed();
    shared.noteDisk(signal, error);
    this.#log.warn(
      0,
      { signal, err: error },
      'The disk of the queue failed; batches are refused until it can be written again',
    );
  }
}

function queuedBatchOf({ about, batch, bytes, stored }: StoredBatch): QueuedBatch {
  const { id, receivedAt, queuedAt } = about;
  return { batch, bytes, receivedAt, queuedAt, id, stored };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
