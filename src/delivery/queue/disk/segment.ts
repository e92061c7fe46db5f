import { open, stat, unlink, type FileHandle } from 'node:fs/promises';
import { PRIVATE_FILE } from '../../../config/private-path.js';
import type { Amount } from '../../../signal/amount.js';
import {
  HEAD_BYTES,
  isIntact,
  itemsOfDamaged,
  MAX_ABOUT_BYTES,
  nextMark,
  readHead,
  recordBytes,
  type Head,
} from './frame.js';
import { nameOf, notesOf } from './segment-files.js';

/** How much is read at once on the way through a file. */
const STEP_BYTES = 256 * 1024;
/** Of a note that a record is done: its offset, and the offset's complement as a check. */
const NOTE_BYTES = 8;

/** The place of a record in a segment. */
export interface Place {
  readonly offset: number;
  readonly head: Head;
}

/** A record as it was read. */
export interface ReadRecord extends Place {
  readonly about: unknown;
  readonly content: Uint8Array;
}

/** Data that was skipped because it is unreadable. */
export interface Damage {
  readonly path: string;
  readonly offset: number;
  readonly bytes: number;
  /** Records that begin there, at least. */
  readonly records: number;
  /** The lost amount, as far as it can be determined. */
  readonly lost: Amount;
}

/** The result of reading a file at an offset. */
type Found =
  { readonly kind: 'record'; readonly head: Head } | { readonly kind: 'damage'; readonly end: number };

/**
 * One file of a queue: consecutive records, and next to it a file that marks finished records. It stays open, so that its
 * contents can be read even after the file was removed.
 */
export class Segment {
  readonly number: number;
  readonly path: string;
  readonly #file: FileHandle;
  #notes: FileHandle | null = null;
  #noting: Promise<void> = Promise.resolve();
  readonly #onDamage: (damage: Damage) => void;
  /** Offsets of damage that was already reported. */
  readonly #reported = new Set<number>();
  /** Offsets of records that were done when the file was opened. */
  readonly #doneBefore = new Set<number>();
  /** Offset of the next record; bytes after it were never acknowledged. */
  size = 0;
  /** Offset of the next read. */
  readAt = 0;
  /** Records that are not done, with their amounts. */
  records = 0;
  items = 0;
  contents = 0;
  /** Whether no more is written to it. */
  isSealed = false;

  private constructor(number: number, path: string, file: FileHandle, onDamage: (damage: Damage) => void) {
    this.number = number;
    this.path = path;
    this.#file = file;
    this.#onDamage = onDamage;
  }

  /** @param onDamage receives unreadable places, each once @throws the error of the file system */
  static async create(
    directory: string,
    number: number,
    onDamage: (damage: Damage) => void,
  ): Promise<Segment> {
    const path = `${directory}/${nameOf(number)}`;
    return new Segment(number, path, await open(path, 'wx+', PRIVATE_FILE), onDamage);
  }

  /**
   * Opens and walks a segment of an earlier run.
   *
   * @param onDamage as in {@link create}; also receives an end cut off by a crash
   * @throws the error of the file system
   */
  static async open(directory: string, number: number, onDamage: (damage: Damage) => void): Promise<Segment> {
    const path = `${directory}/${nameOf(number)}`;
    const segment = new Segment(number, path, await open(path, 'r+'), onDamage);
    segment.isSealed = true;
    await segment.#readNotes();
    segment.size = (await segment.#file.stat()).size;
    for (let offset = 0; offset < segment.size;) {
      const found = await segment.#look(offset);
      if (found.kind === 'damage') {
        await segment.#reportUnreadable(offset, found.end - offset);
        offset = found.end;
        continue;
      }
      if (!segment.#doneBefore.has(offset)) segment.#count(found.head, 1);
      offset += recordBytes(found.head);
    }
    if (segment.records === 0) segment.readAt = segment.size;
    return segment;
  }

  /**
   * Writes records at the end. They do not count until {@link keep} is called.
   *
   * @throws the error of the file system; bytes after `size` are truncated if possible
   */
  async write(pieces: readonly Uint8Array[]): Promise<void> {
    try {
      const bytes = pieces.reduce((sum, piece) => sum + piece.length, 0);
      const { bytesWritten } = await this.#file.writev([...pieces], this.size);
      if (bytesWritten < bytes) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
    } catch (error) {
      await this.cut();
      throw error;
    }
  }

  /** Syncs written records to the disk. @throws the error of the file system */
  async sync(): Promise<void> {
    await this.#file.datasync();
  }

  /** Removes records that were written and not kept. */
  async cut(): Promise<void> {
    await this.#file.truncate(this.size).catch(() => undefined);
  }

  /** Whether the file still has its name. @throws the error of the file system */
  async assertThere(): Promise<void> {
    const [named, own] = await Promise.all([stat(this.path), this.#file.stat()]);
    if (named.ino !== own.ino || named.dev !== own.dev)
      throw Object.assign(new Error(`${this.path} is another file`), { code: 'ENOENT' });
  }

  /** The records that were written count from now on. @returns the place of each */
  keep(heads: readonly Head[]): Place[] {
    return heads.map((head) => {
      const place = { offset: this.size, head };
      this.size += recordBytes(head);
      this.#count(head, 1);
      return place;
    });
  }

  /**
   * The next record that is not done; damaged ones are skipped.
   *
   * @returns null at the end
   * @throws the error of the file system
   */
  async next(): Promise<ReadRecord | null> {
    while (this.readAt < this.size) {
      const offset = this.readAt;
      const found = await this.#look(offset);
      if (found.kind === 'damage') {
        await this.#reportUnreadable(offset, found.end - offset);
        this.readAt = found.end;
        continue;
      }
      const { head } = found;
      if (this.#doneBefore.has(offset)) {
        this.readAt = offset + recordBytes(head);
        continue;
      }
      const record = Buffer.alloc(recordBytes(head));
      await this.#read(record, offset);
      this.readAt = offset + recordBytes(head);
      const about = record.subarray(HEAD_BYTES, HEAD_BYTES + head.aboutBytes);
      const content = record.subarray(HEAD_BYTES + head.aboutBytes);
      if (isIntact(content, head))
        return { offset, head, about: JSON.parse(about.toString('utf8')) as unknown, content };
      this.damaged({ offset, head });
    }
    return null;
  }

  /** A record cannot be read: it counts as done, and its items are lost. */
  damaged({ offset, head }: Place): void {
    this.#report({ offset, bytes: recordBytes(head), records: 1, lost: head });
    this.done({ offset, head });
  }

  /** Notes that a record is done: the note is written soon, and lost with a loss of power at most. */
  done({ offset, head }: Place): void {
    this.#count(head, -1);
    const note = Buffer.alloc(NOTE_BYTES);
    note.writeUInt32LE(offset, 0);
    note.writeUInt32LE(~offset >>> 0, 4);
    // A note that cannot be written means that the record is sent again after a restart.
    this.#noting = this.#noting
      .then(async () => {
        this.#notes ??= await open(notesOf(this.path), 'a', PRIVATE_FILE);
        await this.#notes.appendFile(note);
      })
      .catch(() => undefined);
  }

  /** Nothing in it is wanted any more. @throws the error of the file system, where its name could not be removed */
  async remove(): Promise<void> {
    await this.close();
    await unlink(this.path).catch(unlessGone);
    await unlink(notesOf(this.path)).catch(unlessGone);
  }

  async close(): Promise<void> {
    await this.#noting;
    await this.#notes?.close();
    this.#notes = null;
    await this.#file.close();
  }

  async #reportUnreadable(offset: number, bytes: number): Promise<void> {
    const head = Buffer.alloc(Math.min(HEAD_BYTES, bytes));
    await this.#read(head, offset);
    const isDone = this.#doneBefore.has(offset);
    const items = isDone ? 0 : itemsOfDamaged(head, bytes);
    // Every trace has a span at least.
    this.#report({ offset, bytes, records: isDone ? 0 : 1, lost: { items, contents: items } });
  }

  #report(damage: Omit<Damage, 'path'>): void {
    if (this.#reported.has(damage.offset)) return;
    this.#reported.add(damage.offset);
    this.#onDamage({ path: this.path, ...damage });
  }

  #count({ items, contents }: Head, sign: 1 | -1): void {
    this.records += sign;
    this.items += sign * items;
    this.contents += sign * contents;
  }

  /** Reads an offset: a record, or damage with the offset of the next record. */
  async #look(offset: number): Promise<Found> {
    const window = Buffer.alloc(Math.min(HEAD_BYTES + 512, this.size - offset));
    await this.#read(window, offset);
    let head = readHead(window, 0);
    if (head === undefined && nextMark(window, 0) === 0) {
      const longer = Buffer.alloc(Math.min(HEAD_BYTES + MAX_ABOUT_BYTES, this.size - offset));
      await this.#read(longer, offset);
      head = readHead(longer, 0);
    }
    if (head !== undefined && offset + recordBytes(head) <= this.size) return { kind: 'record', head };
    return { kind: 'damage', end: await this.#nextRecord(offset + 1) };
  }

  /** Offset of the next intact header; otherwise the end of the file. */
  async #nextRecord(from: number): Promise<number> {
    for (let start = from; start < this.size; start += STEP_BYTES) {
      // A header that begins in this step may extend past it.
      const bytes = Buffer.alloc(Math.min(STEP_BYTES + HEAD_BYTES + MAX_ABOUT_BYTES, this.size - start));
      await this.#read(bytes, start);
      for (let at = nextMark(bytes, 0); at >= 0 && at < STEP_BYTES; at = nextMark(bytes, at + 1)) {
        const head = readHead(bytes, at);
        if (head !== undefined && start + at + recordBytes(head) <= this.size) return start + at;
      }
    }
    return this.size;
  }

  async #read(into: Buffer, offset: number): Promise<void> {
    for (let done = 0; done < into.length;) {
      const { bytesRead } = await this.#file.read(into, done, into.length - done, offset + done);
      if (bytesRead === 0) break;
      done += bytesRead;
    }
  }

  async #readNotes(): Promise<void> {
    const file = await open(notesOf(this.path), 'r').catch(unlessGone);
    if (file === undefined) return;
    try {
      const notes = await file.readFile();
      for (let at = 0; at + NOTE_BYTES <= notes.length; at += NOTE_BYTES) {
        const offset = notes.readUInt32LE(at);
        if (notes.readUInt32LE(at + 4) === ~offset >>> 0) this.#doneBefore.add(offset);
      }
    } finally {
      await file.close();
    }
  }
}

function unlessGone(error: unknown): undefined {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
  throw error;
}
