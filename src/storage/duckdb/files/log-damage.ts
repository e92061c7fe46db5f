import { existsSync } from 'node:fs';
import { COMMIT_MARK, ENTRY_HEAD_BYTES, LOG_HEAD, LogEntries, type LogEntry } from './log-entries.js';

/** What to do with a file's log before DuckDB reads it. */
export type LogState =
  /** DuckDB reads it to its end, or refuses it for an entry with a wrong checksum. */
  | { readonly kind: 'readable' }
  /** A crash tore the last commit, which was never acknowledged. `end`: where the previous commit ends. */
  | { readonly kind: 'torn'; readonly end: number }
  /** DuckDB would drop commits that were on the disk. `at`: where the damage is; `end`: where the last sound commit ends. */
  | { readonly kind: 'damaged'; readonly at: number; readonly end: number };

const READABLE: LogState = { kind: 'readable' };

/** No disk writes less than this at a time. */
const SECTOR_BYTES = 512;
/**
 * The operating system writes pages, and may write one before it is entirely filled: then the page almost certainly ends in at
 * least this many zeros (`PAGE_TAIL_BYTES`).
 */
const PAGE_BYTES = 4096;
const PAGE_TAIL_BYTES = 8;
/** The field that follows in a head which names its file. */
const FIELD_OF_FILE = 102;
const ZEROS = Buffer.alloc(SECTOR_BYTES);
/** An entry has up to 2048 rows of one commit, whose batches fitted into memory. */
const MOST_ENTRY_BYTES = 2 ** 32;
/** Maximum number of commit marks that are examined. Data that looks like a mark by chance is extremely rare. */
const MOST_ENDS = 64;

/**
 * Detects logs that DuckDB would consider to end before their last commit, because the length of an entry is damaged. Reads only
 * the heads of entries, 4 KiB at a time; if they do not lead to the end of the file, it compares the checksums after the last
 * commit and searches the rest.
 *
 * A crash, of the process or of the machine, differs from damage as follows:
 *
 * - No commit begins before the previous one is on the disk. So a crash tears only the last commit, and nothing follows its end.
 * - Data written since the last sync may be missing in any order of pages: the file ends early, or a sector is zeros, or a page
 *   from some offset on. File systems that show old content of the disk instead (ext4 with `data=writeback`) are not suitable for
 *   a database.
 *
 * So an entry of the last commit that is cut off by the end of the file, or has such zeros, is from a crash. Any other wrong
 * entry is damage, and so is one that is followed by another commit. Damage cannot be distinguished from a crash if it is in the
 * last commit, in an entry that contains such zeros itself, as most entries of a hundred rows or more do.
 *
 * Logs of another version, encrypted logs and missing files are left to DuckDB.
 */
export function examineLog(path: string): LogState {
  return withLog(path, READABLE, (log) => {
    const head = log.read(0, LOG_HEAD.length);
    if (!head.equals(LOG_HEAD)) {
      if (isOtherVersion(head)) return READABLE;
      // If the first page is missing, nothing after it counts. With any other wrong head DuckDB also drops the rest or fails.
      const isTorn = head.equals(ZEROS.subarray(0, head.length)) && !isFollowed(log, 0);
      return isTorn ? { kind: 'torn', end: 0 } : { kind: 'damaged', at: 0, end: 0 };
    }
    const { end } = walk(log);
    return end === log.size ? READABLE : judge(log, end, firstWrong(log, end) ?? log.size);
  });
}

/**
 * Examines the last commit of a log that DuckDB refuses to read.
 *
 * @returns where that commit begins, if a crash tore it: it was never acknowledged
 */
export function tornCommit(path: string): number | null {
  return withLog(path, null, (log) => {
    if (!log.read(0, LOG_HEAD.length).equals(LOG_HEAD)) return null;
    const { end, endBefore } = walk(log);
    const from = end === log.size ? endBefore : end;
    const wrong = firstWrong(log, from);
    const state = wrong === null ? READABLE : judge(log, from, wrong);
    return state.kind === 'torn' ? state.end : null;
  });
}

function withLog<T>(path: string, none: T, look: (log: LogEntries) => T): T {
  if (!existsSync(path)) return none;
  const log = new LogEntries(path);
  try {
    return log.size < LOG_HEAD.length ? none : look(log);
  } finally {
    log.close();
  }
}

/** Whether the file has storage version 1.3 or later, or is encrypted. */
function isOtherVersion(head: Buffer): boolean {
  const known = LOG_HEAD.subarray(0, 5);
  return (
    head.subarray(0, 5).equals(known) &&
    (head[5] === 2 || head[5] === 3) &&
    head.readUInt16LE(6) === FIELD_OF_FILE
  );
}

/** Follows the entries as far as possible. @returns where the last commit ends, and where the previous one ends */
function walk(log: LogEntries): { readonly end: number; readonly endBefore: number } {
  let [end, endBefore, at] = [LOG_HEAD.length, LOG_HEAD.length, LOG_HEAD.length];
  for (;;) {
    const entry = log.at(at);
    const next = entry === null ? null : log.endOf(entry);
    if (entry === null || next === null) return { end, endBefore };
    at = next;
    if (entry.isCommit) [endBefore, end] = [end, next];
  }
}

/**
 * @param end where the last commit ends that is certainly on the disk
 * @param wrong the first position after it with no entry or a wrong checksum
 */
function judge(log: LogEntries, end: number, wrong: number): LogState {
  const entry = log.at(wrong);
  if (entry === null) return { kind: 'torn', end };
  const { at, bytes } = entry;
  const dataAt = at + ENTRY_HEAD_BYTES;
  // If the file ends within an entry, the end of that entry's commit is missing, too.
  const isTorn =
    dataAt + bytes > log.size
      ? bytes <= MOST_ENTRY_BYTES && !isFollowed(log, at, { orEnds: true })
      : hasGap(log, end, entry) && !isFollowed(log, at);
  return isTorn ? { kind: 'torn', end } : { kind: 'damaged', at, end };
}

/** The first position from `from` on with no entry or a wrong checksum; null if all entries are correct up to the end of the file. */
function firstWrong(log: LogEntries, from: number): number | null {
  for (let at = from; at < log.size;) {
    const entry = log.at(at);
    const next = entry === null ? null : log.endOf(entry);
    if (entry === null || next === null || !log.isSound(entry)) return at;
    at = next;
  }
  return null;
}

/** Whether zeros within an entry may be data that was never written to the disk. */
function hasGap(log: LogEntries, end: number, { at, bytes }: LogEntry): boolean {
  // No commit ends with one.
  if (log.read(log.size - 1, 1)[0] === 0) return true;
  const entryEnd = at + ENTRY_HEAD_BYTES + bytes;
  const to = Math.min(log.size, Math.ceil(entryEnd / SECTOR_BYTES) * SECTOR_BYTES);
  for (const [piece, start] of log.pieces(at - (at % SECTOR_BYTES), to)) {
    for (let i = 0; i < piece.length; i += SECTOR_BYTES) {
      const sectorEnd = Math.min(piece.length, i + SECTOR_BYTES);
      const isPageEnd =
        (start + sectorEnd) % PAGE_BYTES === 0 && start + sectorEnd - PAGE_TAIL_BYTES < entryEnd;
      const begin = Math.max(isPageEnd ? sectorEnd - PAGE_TAIL_BYTES : i, end - start);
      if (piece.compare(ZEROS, 0, sectorEnd - begin, begin, sectorEnd) === 0) return true;
    }
  }
  return false;
}

/**
 * Whether a commit ends after `from` and another entry follows it.
 *
 * @param orEnds whether the end of the last commit is enough
 */
function isFollowed(log: LogEntries, from: number, { orEnds = false } = {}): boolean {
  let looked = 0;
  for (const [piece, start] of log.pieces(from, log.size, COMMIT_MARK.length - 1)) {
    let found = piece.indexOf(COMMIT_MARK);
    for (; found >= 0; found = piece.indexOf(COMMIT_MARK, found + 1)) {
      const end = start + found + COMMIT_MARK.length;
      if (end === log.size) return orEnds;
      const next = log.at(end);
      if (next !== null && log.endOf(next) !== null && log.isSound(next)) return true;
      if (++looked === MOST_ENDS) return false;
    }
  }
  return false;
}
