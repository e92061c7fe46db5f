import { hourOf } from '../../../signal/trace-map.js';
import type { MapRange } from '../../contracts/service-map.js';
import { MAP_DAYS } from '../tables/map-tables.js';
import { FIRST_HOUR, LAST_HOUR } from '../tables/run-tables.js';

/**
 * The service map from the rows of runs and from cached whole days (`map_days`). A cached day has a fingerprint of the day's rows of runs
 * and is valid while the current rows have the same one; other days are computed from their runs. Rows never change and replaced rows never
 * return, so a fingerprint never recurs and concurrent writers need no coordination.
 */

/** Below this many days, the map is computed from runs only. */
const FEW_DAYS = 3;
/** Days cached by one statement. */
const DAYS_A_STEP = 31;
/** The `type` of rows that are edges. */
export const EDGE = 255;

const DAY = 'intDiv(hour, 24)';
const FINGERPRINT = 'sum(cityHash64(trace_id, hour, version, is_deleted))';
const HOURS_A_DAY = 24;

/** Whole UTC days since 1970, both ends included. */
export interface Days {
  readonly first: number;
  readonly last: number;
}

/** The whole days within a time; null if fewer than {@link FEW_DAYS}. */
export function wholeDays({ since, before }: MapRange): Days | null {
  const from = Math.max(FIRST_HOUR, since === null ? -Infinity : hourOf(since));
  const to = Math.min(LAST_HOUR, before === null ? Infinity : hourOf(before - 1));
  const first = Math.ceil(from / HOURS_A_DAY);
  const last = Math.floor((to + 1) / HOURS_A_DAY) - 1;
  return last - first + 1 < FEW_DAYS ? null : { first, last };
}

/**
 * Contributions to the map within a time, from cached days and from runs: a relation with one column, `one`.
 *
 * @param where the runs of a user and a time @param one SQL for the value of a row of `map_days`, and of a row of `runs`
 */
function added(
  tenant: number,
  where: string,
  days: Days | null,
  one: { readonly ofNote: string; readonly ofRun: string },
): string {
  const ofRuns = `SELECT ${one.ofRun} AS one FROM runs FINAL WHERE ${where}`;
  if (days === null) return `(${ofRuns})`;
  const noted = `map_days FINAL WHERE tenant = ${tenant} AND day BETWEEN ${days.first} AND ${days.last} AND (day, print) IN (${fingerprints(tenant, days)})`;
  return `(SELECT ${one.ofNote} AS one FROM ${noted} UNION ALL ${ofRuns} AND ${DAY} NOT IN (SELECT day FROM ${noted}))`;
}

/** A SELECT of the days with runs of a user, and the fingerprints of their rows. */
function fingerprints(tenant: number, days: Days): string {
  return `SELECT ${DAY} AS day, ${FINGERPRINT} AS print FROM runs WHERE tenant = ${tenant} AND ${hoursOf(days)} GROUP BY day`;
}

function hoursOf({ first, last }: Days): string {
  return `hour BETWEEN ${first * HOURS_A_DAY} AND ${last * HOURS_A_DAY + HOURS_A_DAY - 1}`;
}

/** Nodes and edges: `source` (or the name of a node), `target`, `type` ({@link EDGE} of an edge) and `grades`. */
export function nodesAndEdges(tenant: number, where: string, days: Days | null): string {
  const all = days === null ? listedInRuns(where) : listedInBoth(tenant, where, days);
  const sums = `SELECT source, target, type, grade, sum(spans) AS spans FROM ${all} GROUP BY source, target, type, grade`;
  return `SELECT source, target, type, groupArray((grade, spans)) AS grades FROM (${sums}) GROUP BY source, target, type ORDER BY source, target, type`;
}

/** Reads all rows in one pass for both lists: fastest if most days are cached. */
function listedInBoth(tenant: number, where: string, days: Days): string {
  const nodes = `arrayMap(n -> (n.1, '', n.2, n.3, n.4), nodes)`;
  const edges = `arrayMap(e -> (e.1, e.2, toUInt8(${EDGE}), e.3, e.4), edges)`;
  const one = `arrayJoin(arrayConcat(${nodes}, ${edges}))`;
  const all = added(tenant, where, days, { ofNote: one, ofRun: one });
  return `(SELECT one.1 AS source, one.2 AS target, one.3 AS type, one.4 AS grade, one.5 AS spans FROM ${all})`;
}

/** Faster if nothing is cached. */
function listedInRuns(where: string): string {
  const each = (list: string, columns: string): string =>
    `SELECT ${columns}, one.grade AS grade, sum(one.spans) AS spans FROM runs FINAL ARRAY JOIN ${list} AS one WHERE ${where} GROUP BY source, target, type, grade`;
  const nodes = each('nodes', `one.name AS source, '' AS target, one.type AS type`);
  const edges = each('edges', `one.source AS source, one.target AS target, toUInt8(${EDGE}) AS type`);
  return `(${nodes} UNION ALL ${edges})`;
}

/** Spans and errors of all nodes of a run, in SQL. */
const SPANS_OF_NODES = 'arraySum(n -> n.4, nodes)';
const ERRORS_OF_NODES = 'arraySum(n -> if(n.3 % 2 = 1, n.4, 0), nodes)';

/** Hours with their spans and errors: `hour`, `spans` and `errors`. */
export function hoursOfMap(tenant: number, where: string, days: Days | null): string {
  const all = added(tenant, where, days, {
    ofNote: 'arrayJoin(arrayMap(h -> (h.1, h.2, h.3), hours))',
    ofRun: `(hour, ${SPANS_OF_NODES}, ${ERRORS_OF_NODES})`,
  });
  return `SELECT one.1 AS hour, sum(one.2) AS spans, sum(one.3) AS errors FROM ${all} GROUP BY hour HAVING spans > 0 ORDER BY hour`;
}

/** A day whose cache entry is missing or outdated. */
export interface UnnotedDay {
  readonly day: number;
  readonly print: string;
}

/** Days without a valid cache entry, with the fingerprints of their rows: `day`, and `print` as text. */
export function unnotedDays(tenant: number, days: Days): string {
  const noted = `SELECT day, print FROM map_days FINAL WHERE tenant = ${tenant}`;
  return `SELECT day, toString(print) AS print FROM (${fingerprints(tenant, days)}) WHERE (day, print) NOT IN (${noted}) ORDER BY day`;
}

/**
 * Statements that cache days. The sums are read after the fingerprint; if rows changed in between, the fingerprint is outdated and the
 * entry is never used.
 */
export function notesOf(tenant: number, days: readonly UnnotedDay[]): string[] {
  const steps: string[] = [];
  for (let from = 0; from < days.length; from += DAYS_A_STEP)
    steps.push(noteOf(tenant, days.slice(from, from + DAYS_A_STEP)));
  return steps;
}

function noteOf(tenant: number, days: readonly UnnotedDay[]): string {
  const runs = `runs FINAL WHERE tenant = ${tenant} AND ${DAY} IN (${days.map(({ day }) => day).join(', ')})`;
  const byDay = (name: string, entry: string, sums: string): string =>
    `(SELECT day, groupArray((${entry})) AS ${name} FROM (SELECT ${DAY} AS day, ${sums}) GROUP BY day) AS of_${name} ON of_${name}.day = changed.day`;
  const each = (list: string, columns: string): string =>
    `${columns}, sum(one.spans) AS spans FROM (SELECT hour, arrayJoin(${list}) AS one FROM ${runs}) GROUP BY ALL`;
  const changed = days.map(({ day, print }) => `(${day}, ${print})`).join(', ');
  const columns = MAP_DAYS.columns.map(({ name }) => name).join(', ');
  return `INSERT INTO map_days (${columns}) SELECT ${tenant}, changed.day, changed.print, toUnixTimestamp64Micro(now64(6)), hours, nodes, edges
    FROM (SELECT one.1 AS day, one.2 AS print FROM (SELECT arrayJoin(CAST([${changed}], 'Array(Tuple(Int32, UInt64))')) AS one)) AS changed
    LEFT JOIN ${byDay('hours', 'hour, spans, errors', `hour, sum(${SPANS_OF_NODES}) AS spans, sum(${ERRORS_OF_NODES}) AS errors FROM ${runs} GROUP BY ALL`)}
    LEFT JOIN ${byDay('nodes', 'name, type, grade, spans', each('nodes', 'one.name AS name, one.type AS type, one.grade AS grade'))}
    LEFT JOIN ${byDay('edges', 'source, target, grade, spans', each('edges', 'one.source AS source, one.target AS target, one.grade AS grade'))}`;
}
