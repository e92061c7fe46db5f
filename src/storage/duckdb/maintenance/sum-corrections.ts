import type { Append } from '../write/change.js';
import type { Rows } from '../write/rows.js';
import { sumRows, type SumPart } from '../write/tenant-hours.js';

/** The size of a row, comparable to that of the encoded rows of a batch. */
const ROW_BYTES = 40;

/**
 * Corrections that wait for their commit. They are parts of the sums like those of any commit, so they are right whatever is
 * committed between the moment for which they were worked out and their own commit.
 */
export class SumCorrections implements Append {
  readonly counted = null;
  readonly items = 0;
  readonly buffers: readonly ArrayBuffer[] = [];
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
    // Memory keeps nothing of it.
  }

  rolledBack(): void {
    // Memory keeps nothing of it.
  }
}
