import { MAP_EDGES, MAP_NODES } from '../../sum-tables.js';
import { objectRows, type OwnedRow } from '../object-rows.js';
import type { Append, Rows } from '../write-group.js';

/** What a sum of nodes or edges of the service map lacks, or has too much, of one user and hour. */
export type SumCorrection = {
  readonly tenant: number;
  readonly hour: number;
} & (
  | {
      readonly node: {
        readonly node_no: number;
        readonly type: number;
        readonly spans: number;
        readonly traces: number;
      };
    }
  | { readonly edge: { readonly source_no: number; readonly target_no: number; readonly spans: number } }
);

/** Some 40 bytes of a row, as of the encoded rows of a batch. */
const ROW_BYTES = 40;

/**
 * Corrections that wait for their commit. They are parts of the sums like those of any commit, so that they are right
 * whatever is committed between the moment they were worked out for and their own commit.
 */
export class SumCorrections implements Append {
  readonly counted = null;
  readonly events = 0;
  readonly #corrections: readonly SumCorrection[];

  constructor(corrections: readonly SumCorrection[]) {
    this.#corrections = corrections;
  }

  get bytes(): number {
    return this.#corrections.length * ROW_BYTES;
  }

  get weight(): number {
    return this.#corrections.length;
  }

  rows(seq: number): Rows[] {
    const nodes: OwnedRow<object>[] = [];
    const edges: OwnedRow<object>[] = [];
    for (const correction of this.#corrections) {
      const { tenant, hour } = correction;
      const place = { own: [seq, tenant], replaces: false };
      if ('node' in correction) nodes.push({ row: { hour, ...correction.node }, ...place });
      else edges.push({ row: { hour, ...correction.edge }, ...place });
    }
    return [...objectRows(MAP_NODES, nodes), ...objectRows(MAP_EDGES, edges)];
  }

  committed(): void {
    // Nothing of it is kept in memory.
  }

  rolledBack(): void {
    // Nothing of it is kept in memory.
  }
}
