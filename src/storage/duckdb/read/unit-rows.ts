import { RUN_KINDS } from '../../../signal/span.js';
import type { Micros } from '../../../signal/time.js';
import { HAS_FAILED, SPANS, TRACES } from '../../schema/tables.js';
import { conditionsOn, narrowed, ofCommitsSince, type OfCommits } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { COMMITS, commitsAt } from '../write/stored-traces.js';
import { RUNNING } from '../../../runs/rules/rows.js';

/** Rows that alerts count for a target: the runs of an agent or of all agents of a user, or the spans of a node of the service map. */
export type Unit = 'agent' | 'tenant' | 'node';

/** Some agents, users or nodes, by number. */
export interface Units {
  readonly unit: Unit;
  readonly numbers: readonly number[];
}

/** The condition for runs of agents. */
export const IS_AGENTS = `kind = ${RUN_KINDS.indexOf('agent')}`;
/** At this many traces, everything from the first commit on is read instead of single commits. */
const MANY_TRACES = 10_000;
/** Counted without `FILTER` and without `CASE`, since both take longer. */
const RUN_FAILED = `coalesce(NOT success, ${HAS_FAILED})`;

/**
 * Finished runs or spans whose event time is after `after` and not after `until`, as a relation with the columns `no`,
 * `trace_id`, `seq`, `event`, `failed`, `duration_ms`. The event time is the end, else the start, capped at the time when the run
 * was last seen: so only runs last seen after `after` are read, which are at the end of all files.
 */
export async function finishedRows(
  connection: Connection,
  capture: Capture,
  units: Units,
  { after, until }: { readonly after: Micros; readonly until: Micros },
): Promise<string> {
  const seenAfter = `heard_at > make_timestamp(${after})`;
  const isWithin = `event > make_timestamp(${after}) AND event <= make_timestamp(${until})`;
  if (units.unit !== 'node') {
    const runs = newest(capture, TRACES, `${isOf(units)} AND ${seenAfter} AND status <> ${RUNNING}`);
    return `(SELECT ${NUMBERS[units.unit]} AS no, trace_id, seq, least(coalesce(ended_at, started_at), heard_at) AS event,
      ${RUN_FAILED} AS failed, duration_ms FROM ${runs} WHERE ${isWithin})`;
  }
  const traces = newest(capture, TRACES, seenAfter);
  const commits = await commitsOfSpans(connection, traces);
  const spans = newest(
    capture,
    SPANS,
    commits.map((seqs) => narrowed(seqs, `${isOf(units)} AND status <> ${RUNNING}`)),
  );
  return `(SELECT s.node_no AS no, s.trace_id, s.seq, least(coalesce(s.ended_at, s.started_at), t.heard_at) AS event,
    s.${HAS_FAILED} AS failed, s.duration_ms
    FROM ${spans} s JOIN ${traces} t ON s.tenant = t.tenant AND s.trace_id = t.trace_id WHERE ${isWithin})`;
}

/** Runs or spans that started in a range, both ends included, with the columns `no`, `trace_id`, `cost`, `started_at`. */
export function startedRows(
  capture: Capture,
  units: Units,
  { from, to }: { readonly from: Micros; readonly to: Micros },
): string {
  const where = `${isOf(units)} AND started_at >= make_timestamp(${from}) AND started_at <= make_timestamp(${to})`;
  return units.unit !== 'node'
    ? `(SELECT ${NUMBERS[units.unit]} AS no, trace_id, total_cost_usd AS cost, started_at FROM ${newest(capture, TRACES, where)})`
    : `(SELECT node_no AS no, trace_id, cost_usd AS cost, started_at FROM ${newest(capture, SPANS, where)})`;
}

/**
 * All runs or spans that began up to a time, as a relation with the columns `began` and `ended`: how long each was active, in
 * microseconds, capped at the time when its run was last seen.
 */
export function activeRows(capture: Capture, units: Units, until: Micros): string {
  const where = `${isOf(units)} AND started_at <= make_timestamp(${until})`;
  // A running one was active until it was last seen.
  const end = (row: string, lastSeen: string): string =>
    `least(greatest(${row}started_at, CASE WHEN ${row}status = ${RUNNING} THEN ${lastSeen} ELSE coalesce(${row}ended_at, ${row}started_at) END), ${lastSeen})`;
  if (units.unit !== 'node')
    return `(SELECT epoch_us(least(started_at, heard_at)) AS began, epoch_us(${end('', 'heard_at')}) AS ended
      FROM ${newest(capture, TRACES, where)})`;
  const traces = newest(capture, TRACES, 'last_seq > 0');
  return `(SELECT epoch_us(least(s.started_at, t.heard_at)) AS began, epoch_us(${end('s.', 't.heard_at')}) AS ended
    FROM ${newest(capture, SPANS, where)} s JOIN ${traces} t ON s.tenant = t.tenant AND s.trace_id = t.trace_id)`;
}

/**
 * Conditions on the commits that hold spans of traces, for {@link newest}. Nearly all of these traces arrived entirely after some
 * commit; the headers of the others list their commits.
 *
 * @param seenRuns a relation of all headers of runs last seen after some time
 */
async function commitsOfSpans(connection: Connection, seenRuns: string): Promise<OfCommits[]> {
  // From the first commit that wrote both spans and a header of `seenRuns`, every commit with spans belongs to such runs.
  const [row] = await connection.rows(
    `SELECT min(first_seq) AS first, min(seq) FILTER (WHERE seq = last_seq) AS since FROM ${seenRuns} WHERE last_seq > 0`,
  );
  if (typeof row?.first !== 'number') return [];
  const since = typeof row.since === 'number' ? row.since : Number.MAX_SAFE_INTEGER;
  const earlier = await connection.rows(
    `SELECT DISTINCT ${COMMITS} FROM ${seenRuns} WHERE last_seq > 0 AND first_seq < ${since} LIMIT ${MANY_TRACES}`,
  );
  if (earlier.length === MANY_TRACES) return [ofCommitsSince(row.first)];
  const places = earlier.length === 0 ? [] : conditionsOn(earlier.map(commitsAt));
  return [...places.map((seqs) => narrowed(seqs, `seq < ${since}`)), ofCommitsSince(since)];
}

const NUMBERS = { agent: 'agent_no', tenant: 'tenant', node: 'node_no' } as const;

export function isOf({ unit, numbers }: Units): string {
  const isOne = `${NUMBERS[unit]} IN (${numbers.join(', ')})`;
  return unit === 'tenant' ? `${isOne} AND ${IS_AGENTS}` : isOne;
}
