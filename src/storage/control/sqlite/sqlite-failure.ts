import { DatabaseFailure } from '../database-failure.js';

/** SQLite's result codes: the lower 8 bits of an extended code. */
const ERROR = 1;
const BUSY = 5;
const LOCKED = 6;
const IOERR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANTOPEN = 14;
const CONSTRAINT = 19;
const MISMATCH = 20;
const MISUSE = 21;
const RANGE = 25;
const NOTADB = 26;

/** Codes of IOERR: WRITE, FSYNC, DIR_FSYNC, TRUNCATE, SHMSIZE. */
const WRITE_ERRORS = new Set([3, 4, 5, 6, 19].map((more) => IOERR | (more << 8)));

/**
 * SQLite's message prefixes for some codes. `@photostructure/sqlite` 1.2.1 omits the code if a statement returns rows, which includes
 * `commit`.
 */
const WORDS: ReadonlyMap<number, string> = new Map([
  [BUSY, 'database is locked'],
  [IOERR, 'disk I/O error'],
  [CORRUPT, 'database disk image is malformed'],
  [FULL, 'database or disk is full'],
  [CANTOPEN, 'unable to open database'],
]);

/** The driver's code for a closed database. */
const CLOSED = 'ERR_INVALID_STATE';

const FAULTS = new Set([ERROR, CONSTRAINT, MISMATCH, MISUSE, RANGE]);

/** Converts a driver error to SQLite's text for its code, which contains no values. */
export function sqliteFailure(error: unknown): DatabaseFailure {
  if (error instanceof DatabaseFailure) return error;
  const code = codeOf(error);
  if (code === null) {
    // Errors of the driver itself, such as a number too large for JavaScript: the message may contain the value.
    const name = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return new DatabaseFailure(`SQLite driver error: ${name}`, name === CLOSED ? 'unavailable' : 'fault');
  }
  const words = error instanceof Error && 'errstr' in error ? String(error.errstr) : WORDS.get(code);
  const kind = code === BUSY || code === LOCKED ? 'repeat' : FAULTS.has(code) ? 'fault' : 'unavailable';
  return new DatabaseFailure(`SQLite error ${String(code)} (${words ?? 'unknown'})`, kind, {
    isNoRoom: isFull(error),
  });
}

/** Whether a file is damaged or not a SQLite file. */
export function isNoDatabase(error: unknown): boolean {
  const code = codeOf(error);
  return code === NOTADB || code === CORRUPT;
}

/** SQLite reports an exhausted disk quota as an error while writing, extending or syncing the file. */
function isFull(error: unknown): boolean {
  const extended = error instanceof Error && 'errcode' in error ? error.errcode : null;
  return codeOf(error) === FULL || (typeof extended === 'number' && WRITE_ERRORS.has(extended));
}

function codeOf(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if ('errcode' in error && typeof error.errcode === 'number') return error.errcode & 0xff;
  return [...WORDS].find(([, words]) => error.message.startsWith(words))?.[0] ?? null;
}
