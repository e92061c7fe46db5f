import { amountOf, itemCount, type Amount } from '../../signal/amount.js';
import type { Signal } from '../../signal/batch.js';
import type { AnyBatch } from '../../signal/raw-batch.js';
import type { Micros } from '../../signal/time.js';
import type { BatchLimits } from './config.js';
import type { Stored } from './disk/stored-batch.js';
import type { RoomWatch } from './room-watch.js';
import { UserShares } from './user-shares.js';

/** A batch, or a part of one, on its way. */
export interface QueuedBatch {
  readonly batch: AnyBatch;
  readonly bytes: number;
  readonly receivedAt: Micros;
  /** When it came into the queue. */
  readonly queuedAt: Micros;
  /** Identifies a repeat for the receiver; absent until it is sent, while it may still be merged with others. */
  readonly id?: string | undefined;
  /** Its place on disk, if it has one. */
  readonly stored?: Stored;
}

/** Queued batches of one user, the oldest first; never empty. */
export interface Lane {
  readonly queuedBatches: QueuedBatch[];
  items: number;
  bytes: number;
}

/**
 * Batches to be delivered, by user, within limits. A batch taken out counts until it is released, because it uses memory while it is
 * being sent. A batch larger than the limits is admitted alone, since it could never be delivered otherwise.
 */
export class MemoryQueue {
  readonly #limits: BatchLimits;
  readonly #signal: Signal;
  readonly #room: RoomWatch | undefined;
  readonly #lanes = new Map<string, Lane>();
  /** By user, including batches being sent. */
  readonly #shares: { readonly items: UserShares; readonly bytes: UserShares };
  #items = 0;
  #contents = 0;
  #bytes = 0;

  /** @param room notified when the queue is full, unless overflow is stored elsewhere */
  constructor(limits: BatchLimits, signal: Signal, room?: RoomWatch) {
    this.#limits = limits;
    this.#signal = signal;
    this.#room = room;
    this.#shares = { items: new UserShares(limits.maxItems), bytes: new UserShares(limits.maxBytes) };
  }

  /** How many items wait or are being sent. */
  get items(): number {
    return this.#items;
  }

  /** How many spans, points or records these have. */
  get contents(): number {
    return this.#contents;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Whether more is to be brought from the disk. */
  get isHalfEmpty(): boolean {
    return this.#items * 2 <= this.#limits.maxItems && this.#bytes * 2 <= this.#limits.maxBytes;
  }

  isFull(items: number, bytes: number): boolean {
    if (this.#items === 0) return false;
    return this.#items + items > this.#limits.maxItems || this.#bytes + bytes > this.#limits.maxBytes;
  }

  /** Whether there is no room for more of a user: since it is full, or since the rest is for others. */
  isFullFor(user: string, items: number, bytes: number): boolean {
    const crowdsOut = [this.#shares.items.crowdsOut(user, items), this.#shares.bytes.crowdsOut(user, bytes)];
    return this.isFull(items, bytes) || (this.#items > 0 && crowdsOut.includes(true));
  }

  /** Takes a parcel, however full the queue is. */
  push(queuedBatch: QueuedBatch): void {
    const { tenant } = queuedBatch.batch;
    const amount = amountOf(queuedBatch.batch, this.#signal);
    const { items } = amount;
    this.#count(tenant, amount, queuedBatch.bytes);
    const lane = this.#lanes.get(tenant);
    if (lane) {
      lane.queuedBatches.push(queuedBatch);
      lane.items += items;
      lane.bytes += queuedBatch.bytes;
    } else this.#lanes.set(tenant, { queuedBatches: [queuedBatch], items, bytes: queuedBatch.bytes });
  }

  /** The queued batches, one lane per user. */
  get lanes(): Iterable<Lane> {
    return this.#lanes.values();
  }

  /** Takes the first parcels of a lane out. They count until they are released. */
  take(lane: Lane, count: number): readonly QueuedBatch[] {
    const taken = lane.queuedBatches.splice(0, count);
    for (const { batch, bytes } of taken) {
      lane.items -= itemCount(batch);
      lane.bytes -= bytes;
    }
    const tenant = taken[0]?.batch.tenant;
    if (lane.queuedBatches.length === 0 && tenant !== undefined) this.#lanes.delete(tenant);
    return taken;
  }

  release(user: string, { items, contents }: Amount, bytes: number): void {
    this.#count(user, { items: -items, contents: -contents }, -bytes);
    this.#room?.changed(this.#share(0, 0));
  }

  /** A batch was refused since there was no room for it. */
  noteRefused(items: number, bytes: number): void {
    this.#room?.refused(this.#share(0, 0), this.#share(items, bytes));
  }

  /** Fill level of the queue with the given additional amounts: 1 is full. */
  #share(items: number, bytes: number): number {
    return Math.max(
      (this.#items + items) / this.#limits.maxItems,
      (this.#bytes + bytes) / this.#limits.maxBytes,
    );
  }

  #count(user: string, { items, contents }: Amount, bytes: number): void {
    this.#items += items;
    this.#contents += contents;
    this.#bytes += bytes;
    this.#shares.items.add(user, items);
    this.#shares.bytes.add(user, bytes);
  }
}
