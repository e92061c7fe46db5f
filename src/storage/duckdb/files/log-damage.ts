import { open } from 'node:fs/promises';
import { isNoRoom } from './disk-room.js';
import { COMMIT_MARK, LOG_HEAD_BYTES, LogFile, unknownVersion, type LogEntry } from './duckdb-1-5-format.js';
import { bytesOf } from './segment-files.js';
import { isLocked, StoreOpenError } from './store-open-error.js';

/** The treatment of a file's log before DuckDB reads it. */
export type LogState =
  /** DuckDB reads it to its end, or refuses it for an entry with a wrong checksum. */
  | { readonly kind: 'readable' }
  /** It has a format that only other programs write: it was not examined. */
  | { readonly kind: 'unknown' }
  /** A crash tore the last commit, which was never acknowledged. `end`: where the previous commit ends. */
  | { readonly kind: 'torn'; readonly end: number }
  /** DuckDB would drop commits that were on the disk. `at`: where the damage is; `end`: where the last sound commit ends. */
  | { readonly kind: 'damaged'; readonly at: number; readonly end: number };

/** No disk writes less than this at a time. */
const SECTOR_BYTES = 512;
/**
 * The operating system may write a page to the disk before DuckDB has filled it: then the page ends in zeros. DuckDB writes
 * 4096 bytes at a time from the end of the last commit; elsewhere at least `PAGE_TAIL_BYTES` zeros are required.
 */
const PAGE_BYTES = 4096;
const PAGE_TAIL_BYTES = 8;
/** Maximum number of commit marks to examine: each may require reading the rest of the log. */
const MOST_MARKS = 64;

/**
 * Detects logs that DuckDB 1.5.5 would read wrongly: behind an entry whose length is damaged it drops all commits without an
 * error, and it refuses a file if a power failure left a gap in the last commit of its log. (It handles a log that just ends early.)
 * Reads only the heads of entries; if they do not lead to the end of the file, it compares the checksums after the last commit.
 *
 * A crash, of the process or of the machine, differs from damage as follows:
 *
 * - No commit begins before the previous one is on the disk. So a crash tears only the last commit, and nothing follows its end.
 * - Data written since the last sync may be missing in any order: the file ends early, or a sector or the end of a page is zeros.
 *   File systems that show old content of the disk instead (ext4 with `data=writeback`) are not suitable for a database.
 *
 * So an entry of the last commit that is cut off by the end of the file, or has such zeros, is from a crash. Any other wrong
 * entry is damage, and so is one that is followed by another commit. Damage cannot be distinguished from a crash if it is in the
 * last commit, in an entry that contains such zeros itself, as most entries of a hundred rows or more do.
 *
 * @param isRefused whether DuckDB refused the log: then the entries of the last commit are examined although they lead to the end
 */
export function examineLog(path: string, isRefused = false): LogState {
  if (bytesOf(path) < LOG_HEAD_BYTES || unknownVersion() !== null) return { kind: 'readable' };
  const log = new LogFile(path);
  try {
    const head = log.head();
    if (head === 'other') return { kind: 'unknown' };
    // If the first page is missing, nothing after it counts. With any other wrong head DuckDB also drops the rest or fails.
    if (head === 'missing' && !isFollowed(log, 0)) return { kind: 'torn', end: 0 };
    if (head !== 'ours') return { kind: 'damaged', at: 0, end: 0 };
    const { end, endBefore } = walk(log);
    if (end < log.size) return judge(log, end);
    return isRefused ? judge(log, endBefore) : { kind: 'readable' };
  } finally {
    log.close();
  }
}

/** Follows the entries as far as possible. @returns where the last commit ends, and where the previous one ends */
function walk(log: LogFile): { readonly end: number; readonly endBefore: number } {
  let [end, endBefore] = [LOG_HEAD_BYTES, LOG_HEAD_BYTES];
  for (let entry = log.at(end); entry !== null && entry.end <= log.size; entry = log.at(entry.end)) {
    if (entry.isCommit) [endBefore, end] = [end, entry.end];
  }
  return { end, endBefore };
}

/** @param end where the last commit ends that is certainly on the disk */
function judge(log: LogFile, end: number): LogState {
  let entry = log.at(end);
  let isWhole = false;
  while (entry !== null && entry.end <= log.size && log.isSound(entry)) {
    isWhole = entry.isCommit;
    entry = log.at(entry.end);
  }
  // The file ends between two entries, or within the head of one.
  if (entry === null) return isWhole ? { kind: 'readable' } : { kind: 'torn', end };
  const { at } = entry;
  // If the file ends within an entry, the end of that entry's commit is missing, too.
  const isTorn =
    entry.end > log.size
      ? !isFollowed(log, at, { orEnds: true })
      : hasGap(log, end, entry) && !isFollowed(log, at);
  return isTorn ? { kind: 'torn', end } : { kind: 'damaged', at, end };
}

/** Whether zeros within an entry may be data that was never written to the disk. */
function hasGap(log: LogFile, end: number, entry: LogEntry): boolean {
  // No commit ends with one.
  if (log.read(log.size - 1, 1)[0] === 0) return true;
  const isZero = (from: number, to: number): boolean => {
    const begin = Math.max(end, from);
    return log.read(begin, to - begin).every((byte) => byte === 0);
  };
  for (let sector = entry.at - (entry.at % SECTOR_BYTES); sector < entry.end; sector += SECTOR_BYTES)
    if (isZero(sector, sector + SECTOR_BYTES)) return true;
  const tail = Math.min(PAGE_TAIL_BYTES, PAGE_BYTES - (end % PAGE_BYTES));
  for (let page = entry.at - (entry.at % PAGE_BYTES); page < entry.end; page += PAGE_BYTES) {
    const pageEnd = page + PAGE_BYTES;
    // If the entry ends before the page, the gap begins before the entry's end.
    if (isZero(Math.min(pageEnd - tail, entry.end - 1), pageEnd)) return true;
  }
  return false;
}

/**
 * Whether a commit ends after `from` and a sound entry follows it. The data of an entry may contain the bytes of a mark, too.
 *
 * @param orEnds whether the end of the last commit is enough
 */
function isFollowed(log: LogFile, from: number, { orEnds = false } = {}): boolean {
  let examined = 0;
  for (const [piece, start] of log.pieces(from, log.size, COMMIT_MARK.length - 1)) {
    let found = piece.indexOf(COMMIT_MARK);
    for (; found >= 0; found = piece.indexOf(COMMIT_MARK, found + 1)) {
      const end = start + found + COMMIT_MARK.length;
      if (end === log.size) return orEnds;
      const next = log.at(end);
      if (next !== null && next.end <= log.size && log.isSound(next)) return true;
      if (++examined === MOST_MARKS) return false;
    }
  }
  return false;
}

interface Attaching {
  readonly attach: () => Promise<void>;
  /** Runs `work` on the log while no other process can open the file; throws if one has it open. Absent if none can have it. */
  readonly whenOurs?: (work: () => Promise<void>) => Promise<void>;
  /** Receives what the log of the daemon says of the file. */
  readonly warn: (fields: object, message: string) => void;
}

const UNKNOWN_FORMAT =
  'Cannot check this log for damage, because another program wrote it in another format. Let only Jackdaw write to the store.';

/**
 * Attaches a file after examining its log: a log torn by a crash is cut after its last commit; a log from which DuckDB would
 * silently drop commits is refused and left unchanged.
 *
 * @throws StoreOpenError for a damaged log, and whatever `attach` throws
 */
export async function attachWithLog(
  path: string,
  { attach, whenOurs = (work) => work(), warn }: Attaching,
): Promise<void> {
  const log = `${path}.wal`;
  /** @param refusal DuckDB's error, if it refused the log */
  const mend = (refusal?: Error): Promise<void> =>
    whenOurs(async () => {
      // Examined here: another process that has the file may be writing to it.
      const state = examineLog(log, refusal !== undefined);
      if (state.kind === 'torn') {
        await truncate(log, state.end);
        const message =
          'Removed an incomplete commit that a crash left in this log. It was never acknowledged.';
        warn({ file: log, bytes: state.end }, message);
      } else if (refusal !== undefined) throw refusal;
      else if (state.kind === 'damaged') throw damagedLog(log, state);
    });
  const { kind } = examineLog(log);
  if (kind === 'unknown') warn({ file: log }, UNKNOWN_FORMAT);
  if (kind === 'torn' || kind === 'damaged') await mend();
  try {
    await attach();
  } catch (error) {
    if (!(error instanceof Error) || isLocked(error) || isNoRoom(error)) throw error;
    await mend(error);
    await attach();
  }
}

async function truncate(log: string, bytes: number): Promise<void> {
  const file = await open(log, 'r+');
  try {
    await file.truncate(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
}

function damagedLog(log: string, { at, end }: { readonly at: number; readonly end: number }): StoreOpenError {
  return new StoreOpenError(
    `The log ${log} is damaged at byte ${at}, and later commits would be lost. Restore an intact copy; to continue without those commits, truncate the log (truncate -s ${end} ${log}).`,
    { cause: new Error(`the log is damaged at byte ${at}`) },
  );
}
