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
import { figuresOf, type GradeCount } from './grade-figures.js';
import { EDGE, hoursOfMap, nodesAndEdges, wholeDays } from './map-days.js';
import { MapNotes, type MapNoteParts } from './map-notes.js';

/** Items of a list that are made at a time. */
const PAGE = 1000;

export interface MapReadParts extends MapNoteParts {
  readonly tenantOf: (userId: string) => Promise<number>;
  readonly rebuild: ServiceMap['rebuild'];
}

/** The contract `ServiceMap`: what runs add to it stands in their rows, and by the day in notes. */
export class MapReads implements ServiceMap {
  readonly #parts: MapReadParts;
  readonly #notes: MapNotes;

  constructor(parts: MapReadParts) {
    this.#parts = parts;
    this.#notes = new MapNotes(parts);
  }

  async read(userId: string, range: MapRange, abort?: AbortSignal): Promise<StoredMap> {
    const rows = await this.#rows(userId, range, nodesAndEdges, abort);
    const isEdge = ({ type }: Row): boolean => Number(type) === EDGE;
    return {
      nodes: pagesOf(nodesOf(rows.filter((row) => !isEdge(row)))),
      edges: pagesOf(rows.filter(isEdge).map(edgeOf)),
    };
  }

  async hours(userId: string, range: MapRange, abort?: AbortSignal): Promise<readonly MapHour[]> {
    const rows = await this.#rows(userId, range, hoursOfMap, abort);
    return rows.map(({ hour, spans, errors }) => ({
      hour: Number(hour) * MICROS_PER_HOUR,
      spans: Number(spans),
      errors: Number(errors),
    }));
  }

  async #rows(
    userId: string,
    range: MapRange,
    statement: typeof nodesAndEdges,
    abort: AbortSignal | undefined,
  ): Promise<readonly Row[]> {
    const tenant = await this.#parts.tenantOf(userId);
    const days = wholeDays(range);
    const rows = await this.#parts.reads.rows(statement(tenant, within(tenant, range), days), abort);
    if (days !== null) this.#notes.asked(tenant, days);
    return rows;
  }

  /** Resolves when nothing is under way behind its answers. */
  async idle(): Promise<void> {
    await this.#notes.idle();
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
    const name = String(row.source);
    const others = byName.get(name);
    if (others === undefined) byName.set(name, [row]);
    else others.push(row);
  }
  return [...byName].map(([id, types]) => {
    const grades = types.flatMap(gradesOf);
    return {
      id,
      span_type: itemAt(SPAN_TYPES, Number(types[0]?.type)),
      span_count: spansOf(grades),
      ...figuresOf(grades),
    };
  });
}

function edgeOf(row: Row): MapEdge {
  const grades = gradesOf(row);
  return {
    source: String(row.source),
    target: String(row.target),
    weight: spansOf(grades),
    ...figuresOf(grades),
  };
}

function spansOf(grades: readonly GradeCount[]): number {
  return grades.reduce((sum, { spans }) => sum + spans, 0);
}

async function* pagesOf<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  for (let from = 0; from < items.length; from += PAGE) yield items.slice(from, from + PAGE);
}
