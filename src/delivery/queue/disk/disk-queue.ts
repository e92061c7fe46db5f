import { readdir } from 'node:fs/promises';
import { syncDirectory } from '../../../config/sync-directory.js';
import type { Clock } from '../../../component/telemetry.js';
import { itemAt } from '../../../signal/checked.js';
import type { BatchLimits } from '../config.js';
import type { BatchCodec } from './batch-codec.js';
import type { DiskPlace } from './disk-place.js';
import { recordBytes } from './frame.js';
import { packed, takeGroup, type About, type NewRecord, type Offer, type PackedUnit } from './new-records.js';
import { QueueFull, type Stored, type StoredBatch } from './stored-batch.js';
import { numbersOf, segmentBytesWithin } from './segment-files.js';
import { Segment, type Damage, type Place } from './segment.js';

/** When everything in the last segment is done, it is removed once it has this share of its size. */
const WORTH_REMOVING = 1 / 4;
/** Items of one group of batches that are written and synced together; limited so that no sender waits for too many others. */
const GROUP_ITEMS = 20_000;
const SYNC_INTERVAL_MS = 1000;

export interface DiskQueueTools {
  readonly place: DiskPlace;
  /** The name of its directory. */
  readonly name: string;
  readonly codec: BatchCodec;
  readonly limits: BatchLimits;
  readonly sync: 'always' | 'interval';
  readonly clock: Clock;
  /** Receives written batches, in order, before their senders get an answer. */
  readonly onWritten: (batch: StoredBatch) => void;
  /** Receives damage found while reading. */
  readonly onDamage: (damage: Damage) => void;
  /** Called when the disk fails during an operation without a caller. */
  readonly onFailure: (error: unknown) => void;
}

interface Waiting {
  readonly offer: Offer;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Queued batches on disk for one signal, first in, first out. Writers are answered after the sync, which is shared by all writers that
 * wait meanwhile; small waiting batches of one user are merged.
 */
export class DiskQueue {
  readonly #tools: DiskQueueTools;
  readonly #segmentBytes: number;
  /** The oldest first; only the last one may not be sealed. */
  #segments: Segment[] = [];
  #nextNumber = 1;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | null = null;
  /** Segments with something that was written and not synced yet. */
  readonly #unsynced = new Set<Segment>();
  #cancelSync: () => void = () => undefined;
  /** Files are being removed: the directory is not let go before. */
  #removing: Promise<unknown> = Promise.resolve();

  constructor(tools: DiskQueueTools) {
    this.#tools = tools;
    this.#segmentBytes = segmentBytesWithin(tools.place.budget.max);
  }

  /** Loads the segments of an earlier run. @throws the error of the file system */
  async open(): Promise<void> {
    const { place, name, onDamage } = this.#tools;
    const directory = await place.folder(name);
    const numbers = numbersOf(await readdir(directory));
    const newest = numbers.at(-1);
    for (const number of numbers) {
      const segment = await Segment.open(directory, number, onDamage);
      place.budget.found(segment);
      this.#segments.push(segment);
    }
    this.#nextNumber = (newest ?? 0) + 1;
    await this.#removeDone();
  }

  /** Of records that are not done. */
  get items(): number {
    return this.#segments.reduce((sum, { items }) => sum + items, 0);
  }

  /** Spans, points or records of these. */
  get contents(): number {
    return this.#segments.reduce((sum, { contents }) => sum + contents, 0);
  }

  /** Size on disk, including finished records that are not removed yet. */
  get bytes(): number {
    return this.#segments.reduce((sum, { size }) => sum + size, 0);
  }

  get isEmpty(): boolean {
    return this.#holdsNothing && this.#waiting.length === 0;
  }

  get #holdsNothing(): boolean {
    return this.#segments.every(({ records }) => records === 0);
  }

  /**
   * Whether there is no room for more of a user. A batch larger than everything is let in alone, since it could never be taken
   * otherwise.
   */
  isFullFor(user: string): boolean {
    return !this.#tools.place.budget.hasRoomFor(user, 1) && !this.isEmpty;
  }

  /**
   * Resolves when the batch is on disk, as one or several records.
   *
   * @throws QueueFull; the error of the file system: nothing of it was stored
   */
  async append(offer: Offer): Promise<void> {
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ offer, resolve, reject });
    });
    this.#writing ??= this.#write();
    await written;
  }

  /** Whether the disk holds batches that were not read yet. */
  get hasMore(): boolean {
    return this.#segments.some((segment) => segment.readAt < segment.size);
  }

  /**
   * The next unread batch.
   *
   * @returns null if absent
   * @throws the error of the file system
   */
  async next(): Promise<StoredBatch | null> {
    const { codec } = this.#tools;
    for (const segment of [...this.#segments]) {
      for (;;) {
        const record = await segment.next();
        if (record === null) break;
        const { head, offset, content } = record;
        const stored = { segment, place: { head, offset } };
        const about = record.about as About;
        const { tenant } = about;
        try {
          return {
            about,
            ...codec.read(
              { content, packing: head.packing },
              { tenant, items: head.items, contents: head.contents },
            ),
            stored,
          };
        } catch {
          segment.damaged(stored.place);
        }
      }
    }
    await this.#removeDone();
    return null;
  }

  /** Marks a batch that was just written as read, since it is still in memory. @returns false if other batches precede it */
  giveOut({ segment, place }: Stored): boolean {
    const isNext = this.#segments.every((other) =>
      other === segment ? other.readAt === place.offset : other.readAt >= other.size,
    );
    if (isNext) segment.readAt = place.offset + recordBytes(place.head);
    return isNext;
  }

  /** Marks the batch as done. */
  done({ segment, place }: Stored): void {
    segment.done(place);
    void this.#removeDone();
  }

  /** Writes pending batches, and closes the files. Unfinished batches are still there at the next start. */
  async close(): Promise<void> {
    this.#cancelSync();
    await this.#writing;
    await this.#syncAll();
    await this.#removeDone();
    await this.#removing;
    for (const segment of this.#segments) {
      await segment.close();
      this.#tools.place.budget.released(segment);
    }
    this.#segments = [];
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      // Writers of the same turn share one sync.
      await new Promise((resolve) => setImmediate(resolve));
      const group = takeGroup(this.#waiting, GROUP_ITEMS);
      try {
        await this.#writeGroup(group);
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#writing = null;
  }

  async #writeGroup(group: readonly Waiting[]): Promise<void> {
    const { place, codec, limits, onWritten } = this.#tools;
    const units: PackedUnit<Waiting>[] = [];
    let bytes = 0;
    for (const unit of await packed(group, codec, limits)) {
      const isAlone = this.#holdsNothing && bytes === 0;
      if (!place.budget.hasRoomFor(unit.tenant, unit.bytes, bytes) && !isAlone) {
        place.budget.noteRefused(unit.bytes);
        for (const { reject } of unit.members) reject(new QueueFull());
        continue;
      }
      bytes += unit.bytes;
      units.push(unit);
    }
    if (units.length === 0) return;
    const all = units.flatMap(({ records }) => records);
    const { segment, places } = await this.#writeRecords(all);
    place.budget.wrote(segment, all);
    if (segment.size >= this.#segmentBytes) segment.isSealed = true;
    for (const [index, { about, batch, bytes }] of all.entries())
      onWritten({ about, batch, bytes, stored: { segment, place: itemAt(places, index) } });
    for (const { members } of units) for (const { resolve } of members) resolve();
  }

  async #writeRecords(
    records: readonly NewRecord[],
  ): Promise<{ readonly segment: Segment; readonly places: readonly Place[] }> {
    try {
      const segment = await this.#openSegment();
      await segment.write(records.flatMap(({ pieces }) => pieces));
      try {
        if (this.#tools.sync === 'always') await segment.sync();
        else this.#syncSoon(segment);
        // Data in an unlinked file would be lost with the process.
        await segment.assertThere();
      } catch (error) {
        // It may or may not be on disk, and must not reappear after its sender received an error.
        await segment.cut();
        throw error;
      }
      return { segment, places: segment.keep(records.map(({ head }) => head)) };
    } catch (error) {
      // After a failure the contents of the file from here on are unknown.
      for (const one of this.#segments) one.isSealed = true;
      // Of a file that was made for these records alone nothing is wanted: while the disk is full, one would be left by every attempt.
      await this.#removeDone();
      throw error;
    }
  }

  async #openSegment(): Promise<Segment> {
    const last = this.#segments.at(-1);
    if (last && !last.isSealed) return last;
    const { place, name } = this.#tools;
    await place.restore();
    const directory = await place.folder(name);
    const segment = await Segment.create(directory, this.#nextNumber++, this.#tools.onDamage);
    this.#segments.push(segment);
    await syncDirectory(directory);
    return segment;
  }

  #syncSoon(segment: Segment): void {
    if (this.#unsynced.size === 0)
      this.#cancelSync = this.#tools.clock.after(SYNC_INTERVAL_MS, () => {
        void this.#syncAll();
      });
    this.#unsynced.add(segment);
  }

  async #syncAll(): Promise<void> {
    const segments = [...this.#unsynced];
    this.#unsynced.clear();
    for (const segment of segments) await segment.sync().catch(this.#tools.onFailure);
  }

  /** Removes segments whose records are all done. */
  async #removeDone(): Promise<void> {
    const last = this.#segments.at(-1);
    if (
      last &&
      this.#writing === null &&
      last.records === 0 &&
      last.size >= this.#segmentBytes * WORTH_REMOVING
    )
      last.isSealed = true;
    const finished = this.#segments.filter(
      ({ isSealed, records, readAt, size }) => isSealed && records === 0 && readAt >= size,
    );
    if (finished.length === 0) return;
    this.#segments = this.#segments.filter((segment) => !finished.includes(segment));
    const removed = finished.map((segment) => {
      this.#tools.place.budget.released(segment);
      this.#unsynced.delete(segment);
      return segment.remove().catch(this.#tools.onFailure);
    });
    this.#removing = Promise.all([this.#removing, ...removed]);
    await this.#removing;
  }
}
