import { HourSums, type EdgeSum, type NodeSum } from '../../../signal/hour-sums.js';
import { MAP_EDGES, MAP_NODES } from '../../schema/sum-tables.js';
import { objectRows } from './object-rows.js';
import type { Rows } from './rows.js';

/** A part of a sum of the service map, to be added to it or taken away. */
export type SumPart = {
  readonly tenant: number;
  /** When the traces started, in hours since 1970. */
  readonly hour: number;
} & ({ readonly node: NodeSum } | { readonly edge: EdgeSum });

/** Sums of the service map, or parts of them, by tenant and hour. */
export class TenantHours {
  readonly #hours = new Map<
    string,
    { readonly tenant: number; readonly hour: number; readonly sums: HourSums }
  >();

  sums(tenant: number, hour: number): HourSums {
    const key = `${tenant}/${hour}`;
    const known = this.#hours.get(key);
    if (known !== undefined) return known.sums;
    const sums = new HourSums();
    this.#hours.set(key, { tenant, hour, sums });
    return sums;
  }

  /** The parts that are not zero. */
  parts(): SumPart[] {
    return [...this.#hours.values()].flatMap(({ tenant, hour, sums }) => [
      ...sums.nodes().map((node) => ({ tenant, hour, node })),
      ...sums.edges().map((edge) => ({ tenant, hour, edge })),
    ]);
  }

  clear(): void {
    this.#hours.clear();
  }
}

/** The rows that the commit `seq` writes for parts of sums. */
export function sumRows(seq: number, parts: readonly SumPart[]): Rows[] {
  const place = ({ tenant }: SumPart) => ({ own: [seq, tenant], replaces: false });
  const nodes = parts.flatMap((part) =>
    'node' in part ? [{ row: { hour: part.hour, ...part.node }, ...place(part) }] : [],
  );
  const edges = parts.flatMap((part) =>
    'edge' in part ? [{ row: { hour: part.hour, ...part.edge }, ...place(part) }] : [],
  );
  return [...objectRows(MAP_NODES, nodes), ...objectRows(MAP_EDGES, edges)];
}
