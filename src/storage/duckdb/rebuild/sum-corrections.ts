import type { Append } from '../changes/change.js';
import type { Rows } from '../changes/rows.js';
import { sumRows, type SumPart } from '../map/tenant-hours.js';

/** Of a row, as of the encoded rows of a batch. */
const ROW_BYTES = 40;

/**
 * Corrections that wait for their commit. They are parts of the sums like those of any commit, so that they are right
 * whatever is committed between the moment they were worked out for and their own commit.
 */
export class SumCorrections implements Append {
  readonly counted = null;
  readonly events = 0;
  readonly #parts: readonly SumPart[];

  constructor(parts: readonly SumPart[]) {
    this.#parts = parts;
  }

  get bytes(): number {
    return this.#parts.length * ROW_BYTES;
  }

  get weight(): number {
    return this.#parts.length;
  }

  rows(seq: number): Rows[] {
    return sumRows(seq, this.#parts);
  }

  committed(): void {
    // Nothing of it is kept in memory.
  }

  rolledBack(): void {
    // Nothing of it is kept in memory.
  }
}
