import { invariant, itemAt } from '../../../signal/checked.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import { hourOf } from '../../../signal/trace-map.js';
import { MICROS_PER_HOUR, MICROS_PER_DAY, MICROS_PER_MINUTE } from '../../../signal/time-units.js';
import type {
  MapEdge,
  MapHour,
  MapNode,
  MapRange,
  MapRebuild,
  ServiceMap,
  StoredMap,
  MapStats,
} from '../../contracts/service-map.js';
import type { Row } from '../client/connection.js';
import { EDGE, hoursOfMap, nodesAndEdges, wholeDays, notesOf, unnotedDays, type Days } from './map-days.js';
import { microsOf, type Grade } from '../../../signal/span-grade.js';
import { LRUCache } from 'lru-cache';
import type { Micros } from '../../../signal/time.js';
import type { Reads } from '../client/reads.js';

/** Minimum interval between checks for uncached days of a user. */
const EVERY: Micros = 10 * MICROS_PER_MINUTE;
/** Delay after the end of a day before it is cached, because late spans would invalidate the entry. */
const SETTLED_AFTER: Micros = 2 * MICROS_PER_HOUR;
/** Size of the cache of check times by user. */
const REMEMBERED = 10_000;

interface MapNoteParts {
  readonly reads: Reads;
  /** Runs a statement without a result. */
  readonly command: (sql: string) => Promise<void>;
  readonly now: () => Micros;
}

/**
 * Caches days of the map for users who request long ranges, after the answer, one user at a time. Several processes may do it concurrently;
 * failures are retried at the next check, because the cache only speeds up reads.
 */
class MapNotes {
  readonly #parts: MapNoteParts;
  readonly #looked = new LRUCache<number, Micros>({ max: REMEMBERED });
  #working: Promise<void> = Promise.resolve();

  constructor(parts: MapNoteParts) {
    this.#parts = parts;
  }

  /** Call it after days were requested. */
  asked(tenant: number, { first, last }: Days): void {
    const now = this.#parts.now();
    if (now - (this.#looked.get(tenant) ?? -Infinity) < EVERY) return;
    this.#looked.set(tenant, now);
    const ended = Math.floor((now - SETTLED_AFTER) / MICROS_PER_DAY) - 1;
    const days = { first, last: Math.min(last, ended) };
    this.#working = this.#working.then(() => this.#note(tenant, days)).catch(() => undefined);
  }

  /** Resolves when no caching is in progress. */
  async idle(): Promise<void> {
    await this.#working;
  }

  async #note(tenant: number, days: Days): Promise<void> {
    const { reads, command } = this.#parts;
    const unnoted = await reads.rows(unnotedDays(tenant, days));
    const found = unnoted.map(({ day, print }) => ({ day: Number(day), print: String(print) }));
    for (const statement of notesOf(tenant, found)) await command(statement);
  }
}

/** How many spans have a grade. */
interface GradeCount {
  readonly grade: Grade;
  readonly spans: number;
}

/** Stats of a node or an edge from the grades of its spans: failures, and the 95th percentile of durations within 1%. */
function statsOf(counts: readonly GradeCount[]): MapStats {
  const failed = counts.filter(({ grade }) => grade % 2 === 1);
  return { error_count: failed.reduce((sum, { spans }) => sum + spans, 0), p95_ms: p95Of(counts) };
}

/** Interpolates between the values at the two nearest ranks, as `quantileExactInclusive` does. */
function p95Of(counts: readonly GradeCount[]): number | null {
  const durations = counts
    .flatMap(({ grade, spans }) => {
      const micros = microsOf(grade);
      return micros === null ? [] : [{ micros, spans }];
    })
    .sort((a, b) => a.micros - b.micros);
  const all = durations.reduce((sum, { spans }) => sum + spans, 0);
  if (all === 0) return null;
  const rank = 0.95 * (all - 1);
  const lower = microsAt(durations, Math.floor(rank));
  const upper = microsAt(durations, Math.ceil(rank));
  return Math.round(lower + (upper - lower) * (rank - Math.floor(rank))) / 1000;
}

/** @param durations in ascending order */
function microsAt(
  durations: readonly { readonly micros: number; readonly spans: number }[],
  rank: number,
): number {
  let upto = 0;
  const found = durations.find(({ spans }) => (upto += spans) > rank);
  return invariant(found, 'duration at the rank').micros;
}

/** Items per page of a list. */
const PAGE = 1000;

export interface MapReadParts extends MapNoteParts {
  readonly tenantOf: (userId: string) => Promise<number>;
  readonly rebuild: ServiceMap['rebuild'];
}

/** The contract `ServiceMap`, from the rows of runs and cached days. */
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

  /** Resolves when no background work is in progress. */
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

/** A node with spans of several types has the type with the lowest code. @param rows by name, then type */
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
      ...statsOf(grades),
    };
  });
}

function edgeOf(row: Row): MapEdge {
  const grades = gradesOf(row);
  return {
    source: String(row.source),
    target: String(row.target),
    weight: spansOf(grades),
    ...statsOf(grades),
  };
}

function spansOf(grades: readonly GradeCount[]): number {
  return grades.reduce((sum, { spans }) => sum + spans, 0);
}

async function* pagesOf<Item>(items: readonly Item[]): AsyncGenerator<readonly Item[]> {
  for (let from = 0; from < items.length; from += PAGE) yield items.slice(from, from + PAGE);
}
