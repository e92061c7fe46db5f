import type { CommitRange } from '../files/run-names.js';

/** The tables from which an index is built, and rebuilt after a loss. */
export interface IdRows {
  /** Calls `add` for every id in a range of commits, with one or more of those commits, including the last one. */
  scan(range: CommitRange, add: AddId): Promise<void>;
  /** How often {@link scan} would call `add`. */
  count(range: CommitRange): Promise<number>;
  /** Cuts a range into parts with about this many ids each. @returns the last commits of the parts, ascending */
  cut(range: CommitRange, ids: number): Promise<number[]>;
}

/** @param words the id in four words, from `offset` on */
export type AddId = (tenant: number, words: Uint32Array, offset: number, seq: number) => void;
