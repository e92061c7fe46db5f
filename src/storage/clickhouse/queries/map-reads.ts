import { itemAt } from '../../../signal/checked.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import { hourOf } from '../../../signal/trace-map.js';
import { MICROS_PER_HOUR } from '../../../signal/time-units.js';
import type {
  MapEdge,
  MapHour,
  MapNode,
  MapRange,
  MapRebuild,
  ServiceMap,
  StoredMap,
} from '../../service-map.js';
import type { Row } from '../client/connection.js';
import type { Reads } from '../client/reads.js';
import { figuresOf, type GradeCount } from './grade-figures.js';

/** Items of a list that are made at a time. */
const PAGE = 1000;

export interface MapReadParts {
  readonly reads: Reads;
  readonly tenantOf: (userId: string) => Promise<number>;
  readonly rebuild: ServiceMap['rebuild'];
}

/** The contract `ServiceMap`: what runs add to it stands in their rows. */
export class MapReads implements ServiceMap {
  readonly #parts: MapReadParts;

  constructor(parts: MapReadParts) {
    this.#parts = parts;
  }

  async read(userId: string, range: MapRange, abort?: AbortSignal): Promise<StoredMap> {
    const where = within(await this.#parts.tenantOf(userId), range);
    const { reads } = this.#parts;
    const [nodes, edges] = await Promise.all([
      reads.rows(
        `SELECT name, type, groupArray((grade, spans)) AS grades, sum(spans) AS all_spans FROM (
           SELECT n.name AS name, n.type AS type, n.grade AS grade, sum(n.spans) AS spans FROM runs FINAL ARRAY JOIN nodes AS n WHERE ${where} GROUP BY name, type, grade
         ) GROUP BY name, type ORDER BY name, type`,
        abort,
      ),
      reads.rows(
        `SELECT source, target, groupArray((grade, spans)) AS grades FROM (
           SELECT e.source AS source, e.target AS target, e.grade AS grade, sum(e.spans) AS spans FROM runs FINAL ARRAY JOIN edges AS e WHERE ${where} GROUP BY source, target, grade
         ) GROUP BY source, target ORDER BY source, target`,
        abort,
      ),
    ]);
    return { nodes: pagesOf(nodesOf(nodes)), edges: pagesOf(edges.map(edgeOf)) };
  }

  async hours(userId: string, range: MapRange, abort?: AbortSignal): Promise<readonly MapHour[]> {
    const where = within(await this.#parts.tenantOf(userId), range);
    const rows = await this.#parts.reads.rows(
      `SELECT hour, sum(n.spans) AS spans, sumIf(n.spans, n.grade % 2 = 1) AS errors FROM runs FINAL ARRAY JOIN nodes AS n WHERE ${where} GROUP BY hour HAVING spans > 0 ORDER BY hour`,
      abort,
    );
    return rows.map(({ hour, spans, errors }) => ({
      hour: Number(hour) * MICROS_PER_HOUR,
      spans: Number(spans),
      errors: Number(errors),
    }));
  }

  async rebuild(options: { readonly dryRun: boolean }): Promise<MapRebuild | null> {
    return await this.#parts.rebuild(options);
  }
}

function within(tenant: number, { since, before }: MapRange): string {
  return [
    `tenant = ${tenant}`,
    ...(since === null ? [] : [`hour >= ${hourOf(since)}`]),
    ...(before === null ? [] : [`hour <= ${hourOf(before - 1)}`]),
  ].join(' AND ');
}

function gradesOf(row: Row): GradeCount[] {
  return (row.grades as readonly (readonly [number, number])[]).map(([grade, spans]) => ({ grade, spans }));
}

/** A node that several types of spans make has the first of them: the order of the codes. @param rows by name, then type */
function nodesOf(rows: readonly Row[]): MapNode[] {
  const byName = new Map<string, Row[]>();
  for (const row of rows) {
    const name = String(row.name);
    const others = byName.get(name);
    if (others === undefined) byName.set(name, [row]);
    else others.push(row);
  }
  return [...byName].map(([id, types]) => ({
    id,
    span_type: itemAt(SPAN_TYPES, Number(types[0]?.type)),
    span_count: types.reduce((sum, row) => sum + Number(row.all_spans), 0),
    ...figuresOf(types.flatMap(gradesOf)),
  }));
}

function edgeOf(row: Row): MapEdge {
  const grades = gradesOf(row);
  return {
    source: String(row.source),
    target: String(row.target),
    weight: grades.reduce((sum, { spans }) => sum + spans, 0),
    ...figuresOf(grades),
  };
}

async function* pagesOf<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  for (let from = 0; from < items.length; from += PAGE) yield items.slice(from, from + PAGE);
}
