import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The write-ahead log of a DuckDB file (`NAME.duckdb.wal`), as DuckDB 1.5.5 writes it: `WriteAheadLog` and `ChecksumWriter` in
 * `src/storage/write_ahead_log.cpp`, read by `src/storage/wal_replay.cpp`; the numbers of kinds of entries are in
 * `src/include/duckdb/common/enums/wal_type.hpp`. All numbers are little-endian.
 *
 * - **A head** of 8 bytes without a checksum, {@link LOG_HEAD}: an object of the binary serialization with field 100 (kind: 98,
 *   version) and field 101 (version: 2). Files of storage version 1.3 and later add field 102 (id of the file) and 103 (number of
 *   the checkpoint), encrypted ones are of version 3, those of DuckDB before 1.0 of version 1, which has no checksums.
 * - **Entries** follow without a gap: 8 bytes with the number of bytes of data, 8 bytes with the checksum of the data, the data.
 *   The data begins with field 100, the kind: a table for the following entries (25), rows of it (26), and so on.
 * - **A commit** is the changes of its transaction and, last, the entry of kind 100, {@link COMMIT_ENTRY}, which is always the
 *   same. Then the file is synced, before the commit is acknowledged, and under the lock of the log: so no commit begins before
 *   the previous one is on the disk (`DuckTransactionManager::CommitTransaction` in
 *   `src/transaction/duck_transaction_manager.cpp`).
 *
 * DuckDB stops reading without an error at an entry whose length exceeds the file (`SerializationException`), and its next write
 * cuts off everything after the last commit; a wrong checksum is an error.
 */
export const LOG_HEAD = Buffer.from('640062650002ffff', 'hex');
/** All of it, with the head in front of its data. */
const COMMIT_ENTRY = Buffer.from('0500000000000000e7fe7d722fed3d5e640064ffff', 'hex');
/** Its part without the length. */
export const COMMIT_MARK = COMMIT_ENTRY.subarray(8);
/** The head in front of an entry's data. */
export const ENTRY_HEAD_BYTES = 16;
/** No entry has less data. */
const LEAST_BYTES = 5;

/** Most entries are small, so their heads are close together. */
const WINDOW_BYTES = 4096;
const PIECE_BYTES = 1024 * 1024;

export interface LogEntry {
  /** The offset of the entry in the file. */
  readonly at: number;
  /** Bytes of data, as its head says. */
  readonly bytes: number;
  /** Whether its head is that of the end of a commit. */
  readonly isCommit: boolean;
}

/** A log, opened for reading. */
export class LogEntries {
  readonly size: number;
  readonly #file: number;
  readonly #window = Buffer.alloc(WINDOW_BYTES);
  #windowAt = 0;
  #windowBytes = 0;

  /** @throws if the file does not exist */
  constructor(path: string) {
    this.#file = openSync(path, 'r');
    this.size = fstatSync(this.#file).size;
  }

  close(): void {
    closeSync(this.#file);
  }

  /** The head of the entry at an offset; null if the file ends within it. */
  at(at: number): LogEntry | null {
    if (at + ENTRY_HEAD_BYTES > this.size) return null;
    if (at < this.#windowAt || at + ENTRY_HEAD_BYTES > this.#windowAt + this.#windowBytes) {
      this.#windowBytes = readSync(this.#file, this.#window, 0, WINDOW_BYTES, at);
      this.#windowAt = at;
    }
    const head = this.#window.subarray(at - this.#windowAt, at - this.#windowAt + ENTRY_HEAD_BYTES);
    return {
      at,
      bytes: head.readUInt32LE(0) + head.readUInt32LE(4) * 2 ** 32,
      isCommit: head.equals(COMMIT_ENTRY.subarray(0, ENTRY_HEAD_BYTES)),
    };
  }

  /** The offset where an entry ends; null if it is invalid or extends beyond the end of the file. */
  endOf({ at, bytes }: LogEntry): number | null {
    const end = at + ENTRY_HEAD_BYTES + bytes;
    return bytes < LEAST_BYTES || end > this.size ? null : end;
  }

  /** Whether the checksum in the entry's head is correct (`src/common/checksum.cpp`). The entry must be within the file. */
  isSound(entry: LogEntry): boolean {
    let sum = 5381n;
    let left = entry.bytes;
    for (const [piece] of this.pieces(
      entry.at + ENTRY_HEAD_BYTES,
      entry.at + ENTRY_HEAD_BYTES + entry.bytes,
    )) {
      sum ^= sumOf(piece);
      left -= piece.length;
    }
    return left === 0 && this.read(entry.at + 8, 8).readBigUInt64LE() === sum;
  }

  /** A part of the file in pieces, with the place of each. @param overlap how many bytes each repeats of the one before */
  *pieces(from: number, to: number, overlap = 0): Generator<readonly [Buffer, number]> {
    for (let at = from; at < to; at += PIECE_BYTES) {
      const start = Math.max(from, at - overlap);
      yield [this.read(start, Math.min(to, at + PIECE_BYTES) - start), start];
    }
  }

  /** Reads as much as there is. */
  read(at: number, bytes: number): Buffer {
    const buffer = Buffer.alloc(bytes);
    return buffer.subarray(0, readSync(this.#file, buffer, 0, bytes, at));
  }
}

/** The checksum of a piece of data: each word of 8 bytes multiplied, and what is left at the end by MurmurHash 64A. */
function sumOf(data: Buffer): bigint {
  const words = data.length - (data.length % 8);
  let sum = 0n;
  for (let at = 0; at < words; at += 8) sum ^= BigInt.asUintN(64, data.readBigUInt64LE(at) * WORD_FACTOR);
  return words === data.length ? sum : sum ^ restOf(data.subarray(words));
}

function restOf(rest: Buffer): bigint {
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
