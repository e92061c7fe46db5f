import { itemAt } from '../../../signal/checked.js';
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
import { BUCKETS_PER_OCTAVE, SHORTEST_MICROS, type Grade } from '../../../signal/span-grade.js';
import { LRUCache } from 'lru-cache';
import type { Micros } from '../../../signal/time.js';
import type { Reads } from '../client/reads.js';

/** How often it is looked which days of a user are to be noted, at most. */
const EVERY: Micros = 10 * MICROS_PER_MINUTE;
/** What a day gets so long after its end is late: until then it is not worth noting. */
const SETTLED_AFTER: Micros = 2 * MICROS_PER_HOUR;
/** Users of whom is known when it was looked. */
const REMEMBERED = 10_000;

interface MapNoteParts {
  readonly reads: Reads;
  /** Runs a statement that answers nothing. */
  readonly command: (sql: string) => Promise<void>;
  readonly now: () => Micros;
}

/**
 * Notes what days add to the map, for users who ask for a long time: after the answer, one user after the other. Several processes may do it at
 * the same time, and whatever fails is done the next time: notes only make answers faster.
 */
class MapNotes {
  readonly #parts: MapNoteParts;
  readonly #looked = new LRUCache<number, Micros>({ max: REMEMBERED });
  #working: Promise<void> = Promise.resolve();

  constructor(parts: MapNoteParts) {
    this.#parts = parts;
  }

  /** To be called when days were asked for. */
  asked(tenant: number, { first, last }: Days): void {
    const now = this.#parts.now();
    if (now - (this.#looked.get(tenant) ?? -Infinity) < EVERY) return;
    this.#looked.set(tenant, now);
    const ended = Math.floor((now - SETTLED_AFTER) / MICROS_PER_DAY) - 1;
    const days = { first, last: Math.min(last, ended) };
    this.#working = this.#working.then(() => this.#note(tenant, days)).catch(() => undefined);
  }

  /** Resolves when nothing is noted any more. */
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

/** The share of spans that are at least as fast. */
const P95 = 0.95;

/** How many spans have a grade. */
interface GradeCount {
  readonly grade: Grade;
  readonly spans: number;
}

/** What the grades of spans say of a node or an edge: which failed, and within a tenth how long 95 of 100 took at most. */
function statsOf(counts: readonly GradeCount[]): MapStats {
  const failed = counts.filter(({ grade }) => grade % 2 === 1);
  return { error_count: failed.reduce((sum, { spans }) => sum + spans, 0), p95_ms: p95Of(counts) };
}

function p95Of(counts: readonly GradeCount[]): number | null {
  const buckets = new Map<number, number>();
  for (const { grade, spans } of counts) {
    const bucket = Math.floor(grade / 2);
    if (bucket > 0) buckets.set(bucket, (buckets.get(bucket) ?? 0) + spans);
  }
  const all = [...buckets.values()].reduce((sum, spans) => sum + spans, 0);
  const nth = Math.ceil(P95 * all);
  let before = 0;
  for (const [bucket, spans] of [...buckets].sort(([a], [b]) => a - b)) {
    if (before + spans < nth) {
      before += spans;
      continue;
    }
    // Where in its bucket the span lies is not known: as if they were spread evenly.
    const octaves = (bucket - 1 + (nth - 0.5 - before) / spans) / BUCKETS_PER_OCTAVE;
    return Math.round((SHORTEST_MICROS / 1000) * 2 ** octaves * 1000) / 1000;
  }
  return null;
}

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
