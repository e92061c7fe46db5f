import { HourSums, type EdgeSum, type NodeSum } from '../../../signal/hour-sums.js';
import { MAP_EDGES, MAP_NODES } from '../../schema/sum-tables.js';
import type { TableRow } from '../../schema/table.js';
import { objectRows, type Rows } from './rows.js';

/** A part of a service map sum; may be negative. */
export type SumPart = {
  readonly tenant: number;
  /** When the traces started, in hours since 1970. */
  readonly hour: number;
} & ({ readonly kind: 'node'; readonly node: NodeSum } | { readonly kind: 'edge'; readonly edge: EdgeSum });

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
      ...sums.nodes().map((node) => ({ kind: 'node', tenant, hour, node }) as const),
      ...sums.edges().map((edge) => ({ kind: 'edge', tenant, hour, edge }) as const),
    ]);
  }

  clear(): void {
    this.#hours.clear();
  }
}

/** The rows of the commit `seq` for parts of sums. */
export function sumRows(seq: number, parts: readonly SumPart[]): Rows[] {
  const nodes: TableRow<typeof MAP_NODES>[] = [];
  const edges: TableRow<typeof MAP_EDGES>[] = [];
  for (const part of parts) {
    const { tenant, hour } = part;
    if (part.kind === 'node') nodes.push({ seq, tenant, hour, ...part.node });
    else edges.push({ seq, tenant, hour, ...part.edge });
  }
  return [...objectRows(MAP_NODES, nodes), ...objectRows(MAP_EDGES, edges)];
}
