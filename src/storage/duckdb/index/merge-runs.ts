import { itemAt } from '../../../signal/checked.js';
import { compareEntries, ENTRY_WORDS } from './id-entry.js';
import type { Piece, RunFile } from './run-file.js';
import { PAGE_WORDS } from './run-pages.js';
import type { RunWriter } from './run-writer.js';

/**
 * Writes the entries of several files of ids as one file; an id that is in several gets the number of the newest.
 *
 * @param runs oldest first
 * @param pause called every few milliseconds; may throw, to give up
 * @throws DamagedRun
 */
export async function mergeRuns(
  runs: readonly RunFile[],
  writer: RunWriter,
  pause: () => Promise<void>,
): Promise<void> {
  let open: RunCursor[] = [];
  // The newest first: among equal entries the first one found is written.
  for (const run of [...runs].reverse()) {
    const cursor = new RunCursor(run);
    if (await cursor.next()) open.push(cursor);
  }
  for (let least = leastOf(open); least !== undefined; least = leastOf(open)) {
    const { words, at } = least;
    writer.add(words, at);
    let ended = false;
    for (const cursor of open) {
      if (cursor !== least && compareEntries(cursor.words, cursor.at, words, at) !== 0) continue;
      if (!cursor.step() && !(await cursor.next())) ended = cursor.hasEnded = true;
    }
    if (ended) open = open.filter((cursor) => !cursor.hasEnded);
    if (writer.isFull) {
      await writer.write();
      await pause();
    }
  }
}

/** The first among equal ones. */
function leastOf(cursors: readonly RunCursor[]): RunCursor | undefined {
  let [least] = cursors;
  for (const cursor of cursors) {
    if (least !== undefined && compareEntries(cursor.words, cursor.at, least.words, least.at) < 0)
      least = cursor;
  }
  return least;
}

/** A place among the entries of a file of ids. */
class RunCursor {
  words: Uint32Array = new Uint32Array(0);
  /** The position of the entry's first word. */
  at = 0;
  hasEnded = false;
  readonly #pieces: AsyncGenerator<Piece, void>;
  #ends: readonly number[] = [];
  #page = 0;

  constructor(run: RunFile) {
    this.#pieces = run.pieces();
  }

  /** Advances to the next entry. @returns false if it is not in memory */
  step(): boolean {
    this.at += ENTRY_WORDS;
    if (this.at < itemAt(this.#ends, this.#page)) return true;
    this.#page++;
    this.at = this.#page * PAGE_WORDS;
    return this.#page < this.#ends.length;
  }

  /** Reads on. @returns false at the end */
  async next(): Promise<boolean> {
    const piece = await this.#pieces.next();
    if (piece.done === true) return false;
    this.words = piece.value.words;
    this.#ends = piece.value.ends;
    this.#page = 0;
    this.at = 0;
    return true;
  }
}
