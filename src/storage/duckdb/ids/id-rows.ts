import type { CommitRange } from '../files/run-names.js';

/** What an index is made from, and made anew where a part of it is lost: the tables. */
export interface IdRows {
  /** Calls `add` for every id that a range of commits brought, with one of those commits, the last one among them. */
  scan(range: CommitRange, add: AddId): Promise<void>;
  /** How many ids it would be called for. */
  count(range: CommitRange): Promise<number>;
  /** Cuts a range where about so many ids lie between two cuts. @returns the last commits of its parts, ascending */
  cut(range: CommitRange, ids: number): Promise<number[]>;
}

/** @param words the id in four words, from `offset` on */
export type AddId = (tenant: number, words: Uint32Array, offset: number, seq: number) => void;
