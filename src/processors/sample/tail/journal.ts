import type { Clock } from '../../../component/telemetry.js';
import { BatchCodec } from '../../../delivery/queue/disk/batch-codec.js';
import { DiskPlace } from '../../../delivery/queue/disk/disk-place.js';
import { DiskQueue } from '../../../delivery/queue/disk/disk-queue.js';
import type { Damage } from '../../../delivery/queue/disk/segment.js';
import type { Stored, StoredBatch } from '../../../delivery/queue/disk/stored-batch.js';
import { RAW_DECODERS } from '../../../otlp/map/decode-raw.js';
import { recordsOf } from '../../../signal/raw-batch.js';
import type { Micros } from '../../../signal/time.js';
import type { TraceRecord } from '../../../signal/trace.js';

/** Limits of one record on disk. */
const LIMITS = { maxItems: 4096, maxBytes: 8 * 1024 * 1024 };

/** Parts of runs stored together on disk until none is needed. */
export interface JournalRecord {
  left: number;
  readonly stored: Stored | null;
}

/** Parts on disk, with their record. */
export interface Written {
  readonly tenant: string;
  readonly receivedAt: Micros;
  readonly items: readonly TraceRecord[];
  readonly record: JournalRecord;
}

/** Stores acknowledged data while it is needed. */
export interface KeptRuns {
  /** Its directory on disk; null if it has none. */
  readonly path: string | null;
  readonly bytes: number;
  open(): Promise<void>;
  next(): Promise<Written | null>;
  append(tenant: string, items: TraceRecord[], receivedAt: Micros, now: Micros): Promise<void>;
  release(record: JournalRecord): void;
  close(): Promise<void>;
}

interface JournalTools {
  readonly directory: string;
  /** Name of the processor in its pipeline. */
  readonly name: string;
  readonly maxBytes: number;
  readonly clock: Clock;
  /** Receives parts on disk before they are acknowledged. */
  readonly onWritten: (written: Written) => void;
  readonly onDamage: (damage: Damage) => void;
  readonly onFailure: (error: unknown) => void;
}

/** Stores acknowledged parts on disk until their runs are decided and passed on. */
export class Journal implements KeptRuns {
  readonly #place: DiskPlace;
  readonly #queue: DiskQueue;

  constructor({ directory, name, maxBytes, clock, onWritten, onDamage, onFailure }: JournalTools) {
    this.#place = new DiskPlace(directory, name, maxBytes);
    this.#queue = new DiskQueue({
      place: this.#place,
      name: 'runs',
      codec: new BatchCodec('traces', RAW_DECODERS),
      limits: LIMITS,
      sync: 'always',
      clock,
      onDamage,
      onFailure,
      onWritten: (batch) => {
        // Already in memory, so it is never read back.
        this.#queue.giveOut(batch.stored);
        onWritten(writtenOf(batch));
      },
    });
  }

  /** @throws DirectoryTaken; the error of the file system */
  async open(): Promise<void> {
    await this.#place.open();
    await this.#queue.open();
  }

  get bytes(): number {
    return this.#queue.bytes;
  }

  get path(): string {
    return this.#place.path;
  }

  /** Records left by an earlier process, one at a time; null at the end. Call before any write. @throws the file system error */
  async next(): Promise<Written | null> {
    const batch = await this.#queue.next();
    return batch === null ? null : writtenOf(batch);
  }

  /** Resolves when the parts are on disk and were passed to `onWritten`. @throws QueueFull; the file system error */
  async append(tenant: string, items: TraceRecord[], receivedAt: Micros, now: Micros): Promise<void> {
    await this.#queue.append({ batch: { tenant, items }, receivedAt, queuedAt: now });
  }

  /** Marks one part of a record as no longer needed. */
  release(record: JournalRecord): void {
    record.left -= 1;
    if (record.left === 0 && record.stored !== null) this.#queue.done(record.stored);
  }

  async close(): Promise<void> {
    await this.#queue.close();
    this.#place.close();
  }
}

/** Stores nothing, for a processor outside a pipeline, as in a configuration test: its data need not survive a restart. */
export class NoJournal implements KeptRuns {
  readonly path = null;
  readonly bytes = 0;
  readonly #onWritten: (written: Written) => void;

  constructor(onWritten: (written: Written) => void) {
    this.#onWritten = onWritten;
  }

  async open(): Promise<void> {
    await Promise.resolve();
  }

  async next(): Promise<null> {
    return Promise.resolve(null);
  }

  async append(tenant: string, items: TraceRecord[], receivedAt: Micros): Promise<void> {
    this.#onWritten({ tenant, items, receivedAt, record: { left: items.length, stored: null } });
    await Promise.resolve();
  }

  release(): void {
    // Nothing is stored.
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }
}

function writtenOf({ about, batch, stored }: StoredBatch): Written {
  const items = recordsOf(batch).items as readonly TraceRecord[];
  const record = { left: items.length, stored };
  return { tenant: about.tenant, receivedAt: about.receivedAt, items, record };
}
