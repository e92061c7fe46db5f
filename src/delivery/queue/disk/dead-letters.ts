import { randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { makePrivateDirectory, PRIVATE_FILE } from '../../../config/private-path.js';
import { syncDirectory } from '../../../config/sync-directory.js';
import { SIGNALS, type Signal } from '../../../signal/batch.js';
import type { Micros } from '../../../signal/time.js';
import { PACKING } from './batch-codec.js';
import type { About } from './new-records.js';
import { frame, HEAD_BYTES, isIntact, readHead } from './frame.js';

const LETTERS = 'dead-letters';
const REPLAYS = 'replay';
const DIGITS = 17;
const NAME = /^([0-9]{17}-[0-9a-f]{12})\.dead$/;
/** A file takes whole blocks. */
const BLOCK_BYTES = 4096;

/**
 * Why a batch became a dead letter. `refused`: the other side will never take it. `items_refused`: it took the batch without these
 * items. `too_old`, `too_often`: it could not be delivered in the time, or by the attempts, that the configuration allows.
 */
export type DeadReason = 'refused' | 'items_refused' | 'too_old' | 'too_often';

/** The description of a dead letter. */
export interface LetterAbout extends About {
  readonly exporter: string;
  readonly signal: Signal;
  readonly reason: DeadReason;
  /** The error of the last attempt, without secrets. */
  readonly message: string;
  /** When its delivery ended. */
  readonly deadAt: Micros;
}

/** A dead letter without its items. */
export interface Letter {
  /** Unique among those of its exporter; ascending by time. */
  readonly id: string;
  readonly about: LetterAbout;
  readonly items: number;
  /** Spans, points or records. */
  readonly contents: number;
  /** Of its file. */
  readonly bytes: number;
}

/** With its items as a `BatchCodec` reads them. */
export interface WholeLetter extends Letter {
  readonly content: Uint8Array;
  readonly packing: number;
}

/**
 * The dead letters of an exporter: a file for each, written at once and never changed. So they can be listed, dropped and sent
 * back while a daemon works in the directory: a letter that is to be sent again is moved to another folder, from which the daemon
 * takes it.
 *
 * @param path of the exporter's directory
 */
export class DeadLetters {
  readonly #path: string;
  #newest = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** @throws the error of the file system: then it was not kept */
  async add(
    about: LetterAbout,
    items: number,
    { content, packing }: Pick<WholeLetter, 'content' | 'packing'>,
  ): Promise<void> {
    const folder = await this.#folder(LETTERS);
    // Several of one moment keep their order.
    this.#newest = Math.max(about.deadAt, this.#newest + 1);
    const id = `${String(this.#newest).padStart(DIGITS, '0')}-${randomUUID().slice(-12)}`;
    const temporary = join(folder, `${id}.part`);
    try {
      const file = await open(temporary, 'wx', PRIVATE_FILE);
      try {
        await file.writev([...frame(about, content, { packing, items })]);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, join(folder, `${id}.dead`));
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      throw error;
    }
    await syncDirectory(folder);
  }

  /** Ids of all letters, the oldest first. Empty if the directory does not exist. */
  async ids(): Promise<readonly string[]> {
    return idsIn(join(this.#path, LETTERS));
  }

  /** @returns null if there is no letter with that id; an Error that describes the problem of an unreadable file */
  async read(id: string): Promise<WholeLetter | Error | null> {
    return readLetter(join(this.#path, LETTERS, `${id}.dead`), id);
  }

  /** Removes a letter for good. @returns false if it does not exist */
  async drop(id: string): Promise<boolean> {
    return removed(join(this.#path, LETTERS, `${id}.dead`));
  }

  /** Marks a letter for replay by the running daemon or the next one. @returns false if it does not exist */
  async replay(id: string): Promise<boolean> {
    const folder = await this.#folder(REPLAYS);
    try {
      await rename(join(this.#path, LETTERS, `${id}.dead`), join(folder, `${id}.dead`));
    } catch (error) {
      if (isMissing(error)) return false;
      throw error;
    }
    await syncDirectory(folder);
    return true;
  }

  /** Ids of the letters that are to be sent again. */
  async replays(): Promise<readonly string[]> {
    return idsIn(join(this.#path, REPLAYS));
  }

  /** One that is to be sent again: as {@link read}. */
  async readReplay(id: string): Promise<WholeLetter | Error | null> {
    return readLetter(join(this.#path, REPLAYS, `${id}.dead`), id);
  }

  /** Removes the file of a letter that is queued again. */
  async replayed(id: string): Promise<void> {
    await removed(join(this.#path, REPLAYS, `${id}.dead`));
  }

  /** It cannot be sent again: it is a dead letter as before. */
  async putBack(id: string): Promise<void> {
    await rename(join(this.#path, REPLAYS, `${id}.dead`), join(await this.#folder(LETTERS), `${id}.dead`));
  }

  /**
   * Drops the oldest until the others take no more than `maxBytes` of the disk.
   *
   * @returns how many items were dropped, and the bytes that are left
   */
  async bound(maxBytes: number): Promise<{ readonly dropped: number; readonly bytes: number }> {
    const sizes = new Map<string, number>();
    for (const id of await this.ids()) {
      const found = await stat(join(this.#path, LETTERS, `${id}.dead`)).catch(() => null);
      if (found !== null) sizes.set(id, Math.ceil(found.size / BLOCK_BYTES) * BLOCK_BYTES);
    }
    let bytes = [...sizes.values()].reduce((sum, size) => sum + size, 0);
    let dropped = 0;
    for (const [id, size] of sizes) {
      if (bytes <= maxBytes) break;
      const letter = await this.read(id);
      if (letter !== null && !(letter instanceof Error)) dropped += letter.items;
      await this.drop(id);
      bytes -= size;
    }
    return { dropped, bytes };
  }

  async #folder(name: string): Promise<string> {
    const folder = join(this.#path, name);
    await makePrivateDirectory(folder);
    return folder;
  }
}

async function idsIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return names.flatMap((name) => NAME.exec(name)?.[1] ?? []).sort();
}

async function readLetter(path: string, id: string): Promise<WholeLetter | Error | null> {
  if (!NAME.test(`${id}.dead`)) return null;
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
  const head = readHead(bytes, 0);
  const content = bytes.subarray(HEAD_BYTES + (head?.aboutBytes ?? 0));
  if (head === undefined || !isIntact(content, head)) return new Error(`${path} is damaged`);
  const about = JSON.parse(
    bytes.subarray(HEAD_BYTES, HEAD_BYTES + head.aboutBytes).toString('utf8'),
  ) as LetterAbout;
  const { packing, items, contents } = head;
  const isKnown = SIGNALS.includes(about.signal) && (Object.values(PACKING) as number[]).includes(packing);
  if (!isKnown) return new Error(`${path} is of a newer version of Jackdaw`);
  return { id, about, items, contents, bytes: bytes.length, content, packing };
}

async function removed(path: string): Promise<boolean> {
  try {
    await unlink(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
