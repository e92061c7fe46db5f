import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import type * as bindings from '@duckdb/node-bindings';

/**
 * The layout of DuckDB's files, as far as DuckDB offers no interface for it. Everything that depends on the position of a byte is
 * in this file, and holds for one version of DuckDB: after an update, check each statement here and run the tests of this folder.
 * All numbers are little-endian.
 */
const KNOWN_VERSION = 'v1.5.5';

/** @returns null for the known version of DuckDB; otherwise the log message that says what does not work */
export function unknownVersion(version = installedVersion()): string | null {
  if (version === KNOWN_VERSION) return null;
  return `Jackdaw knows the files of DuckDB ${KNOWN_VERSION}, and DuckDB ${version} is installed: damage in logs is not detected, and a kill during a checkpoint can make a file unusable. Install the version that package-lock.json names (npm ci).`;
}

/** Required late: the main thread imports this file, too, and does not need DuckDB. */
function installedVersion(): string {
  return (createRequire(import.meta.url)('@duckdb/node-bindings') as typeof bindings).library_version();
}

/**
 * A database file begins with its head: the main header and two database headers; the newer one counts. Blocks of equal
 * size follow, and each begins with its checksum (`src/storage/single_file_block_manager.cpp`).
 */
export const FILE_HEAD_BYTES = 3 * 4096;
const CHECKSUM_BYTES = 8;

/** The offset of a block in a file whose blocks have `bytes` each. */
export function offsetOf(block: number, bytes: number): number {
  return FILE_HEAD_BYTES + block * bytes;
}

/** The checksum of the block at an offset; null beyond the end of the file. */
export function checksumAt(descriptor: number, offset: number): bigint | null {
  const bytes = Buffer.alloc(CHECKSUM_BYTES);
  const read = readSync(descriptor, bytes, 0, CHECKSUM_BYTES, offset);
  return read === CHECKSUM_BYTES ? bytes.readBigUInt64LE() : null;
}

/**
 * A log (`NAME.duckdb.wal`; `src/storage/write_ahead_log.cpp`, `src/storage/wal_replay.cpp`) begins with a head without a
 * checksum: field 100 (kind: 98, version) and field 101 (version: 2).
 */
const LOG_HEAD = Buffer.from('640062650002ffff', 'hex');
/** Version 3 is encrypted. Storage version 1.3 and later adds field 102, the id of the file. */
const OTHER_LOG_HEADS = ['6400626500026600', '640062650003ffff', '6400626500036600'];
export const LOG_HEAD_BYTES = LOG_HEAD.length;
/**
 * Entries follow without a gap: the number of bytes of data (8 bytes), the checksum of the data (8 bytes), the data. A commit is
 * the changes of its transaction and, last, an entry that is always the same. DuckDB syncs the file, under the lock of the log,
 * before it acknowledges the commit: no commit begins before the previous one is on the disk.
 */
const ENTRY_HEAD_BYTES = 16;
const COMMIT_ENTRY = Buffer.from('0500000000000000e7fe7d722fed3d5e640064ffff', 'hex');
/** The last entry of a commit without its length. */
export const COMMIT_MARK = COMMIT_ENTRY.subarray(8);

const WINDOW_BYTES = 4096;
const PIECE_BYTES = 1024 * 1024;

export interface LogEntry {
  /** The offset of the entry in the file. */
  readonly at: number;
  /** Where its data begins. */
  readonly dataAt: number;
  /** Where it ends, as its head says: damage can make this any number. */
  readonly end: number;
  readonly isCommit: boolean;
}

/** A log, opened for reading. */
export class LogFile {
  readonly size: number;
  readonly #file: number;
  #window = Buffer.alloc(0);
  #windowAt = 0;

  /** @throws if the file does not exist */
  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.size = fstatSync(this.#file).size;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** Whether the head is that of a log which Jackdaw writes, of another known kind of log, missing, or damaged. */
  head(): 'ours' | 'other' | 'missing' | 'damaged' {
    const head = this.read(0, LOG_HEAD_BYTES);
    if (head.equals(LOG_HEAD)) return 'ours';
    if (OTHER_LOG_HEADS.includes(head.toString('hex'))) return 'other';
    return head.every((byte) => byte === 0) ? 'missing' : 'damaged';
  }

  /** The entry at an offset; null if the file ends within its head. */
  at(at: number): LogEntry | null {
    const head = this.read(at, ENTRY_HEAD_BYTES);
    if (head.length < ENTRY_HEAD_BYTES) return null;
    const dataAt = at + ENTRY_HEAD_BYTES;
    const bytes = head.readUInt32LE(0) + head.readUInt32LE(4) * 2 ** 32;
    return { at, dataAt, end: dataAt + bytes, isCommit: head.equals(COMMIT_ENTRY.subarray(0, head.length)) };
  }

  /** Whether the checksum in the entry's head is correct (`src/common/checksum.cpp`). The entry must be within the file. */
  isSound({ at, dataAt, end }: LogEntry): boolean {
    let sum = 5381n;
    for (const [piece] of this.pieces(dataAt, end)) sum ^= checksumOf(piece);
    return this.read(at + 8, 8).readBigUInt64LE() === sum;
  }

  /** A part of the file in pieces, with the offset of each. @param overlap how many bytes each repeats of the one before */
  *pieces(from: number, to: number, overlap = 0): Generator<readonly [Buffer, number]> {
    for (let at = from; at < to; at += PIECE_BYTES) {
      const start = Math.max(from, at - overlap);
      yield [this.read(start, Math.min(to, at + PIECE_BYTES) - start), start];
    }
  }

  /** Reads as much as there is. Most entries are small, so a window serves the heads of several. */
  read(at: number, bytes: number): Buffer {
    if (at < this.#windowAt || at + bytes > this.#windowAt + this.#window.length) {
      const window = Buffer.alloc(Math.max(bytes, WINDOW_BYTES));
      this.#window = window.subarray(0, readSync(this.#file, window, 0, window.length, at));
      this.#windowAt = at;
    }
    return this.#window.subarray(at - this.#windowAt, at - this.#windowAt + bytes);
  }
}

/** The checksum of data: each word of 8 bytes multiplied, and the rest by MurmurHash 64A. */
function checksumOf(data: Buffer): bigint {
  const words = data.length - (data.length % 8);
  let sum = 0n;
  for (let at = 0; at < words; at += 8) sum ^= BigInt.asUintN(64, data.readBigUInt64LE(at) * WORD_FACTOR);
  return words === data.length ? sum : sum ^ hashOfRest(data.subarray(words));
}

function hashOfRest(rest: Buffer): bigint {
  const word = Buffer.alloc(8);
  rest.copy(word);
  const times = (hash: bigint): bigint => BigInt.asUintN(64, hash * REST_FACTOR);
  let hash = times(SEED ^ times(BigInt(rest.length)) ^ word.readBigUInt64LE());
  hash = times(hash ^ (hash >> 47n));
  return hash ^ (hash >> 47n);
}

const WORD_FACTOR = 0xbf58476d1ce4e5b9n;
const REST_FACTOR = 0xc6a4a7935bd1e995n;
const SEED = 0xe17a1465n;
