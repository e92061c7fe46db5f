import { RUNNING } from '../../../runs/rules/rows.js';
import { RUN_KINDS } from '../../../signal/span.js';
import { hourOf } from '../../../signal/trace-map.js';
import type { Micros } from '../../../signal/time.js';
import { HAS_FAILED } from '../../schema/tables.js';
import { nodeFromRow } from '../runs/node-names.js';
import { quoted } from '../client/literals.js';

/**
 * Rows that alerts count for a target: the runs of an agent or of all agents of a user, or the spans of a node of the service map, of
 * any user.
 */
export interface Units {
  readonly unit: 'agent' | 'tenant' | 'node';
  readonly units: readonly Unit[];
}

export interface Unit {
  readonly tenant: number;
  /** The number of an agent, or the name of a node; 0 for all agents of a user. */
  readonly is: number | string;
}

/** A key of a unit, unique among units of its kind. */
export function unitKey({ tenant, is }: Unit): string {
  return `${tenant} ${is}`;
}

/** A success signal takes precedence over the status of a run. */
const RUN_FAILED = `ifNull(NOT success, ${HAS_FAILED})`;
/** The condition for runs of agents. */
export const IS_AGENTS = `kind = ${RUN_KINDS.indexOf('agent')}`;

/** The condition for the rows of units, in SQL. */
export function isOf({ unit, units }: Units): string {
  if (unit === 'tenant') return `tenant IN (${numbersOf(units)})`;
  const column = unit === 'agent' ? 'agent_no' : 'node';
  const pairs = units.map(({ tenant, is }) =>
    typeof is === 'number' ? `(${tenant}, ${is})` : `(${tenant}, ${quoted(nodeFromRow(is))})`,
  );
  return `tenant IN (${numbersOf(units)}) AND (tenant, ${column}) IN (${pairs.join(', ')})`;
}

/** The effective spans of nodes, with the last update and the fence of their runs. */
function spansOf(units: Units, where: string, runs: string): string {
  const columns =
    'tenant, trace_id, span_id, seq, version, node, status, started_at, ended_at, duration_ms, cost_usd';
  const seenAfter = `SELECT tenant AS of_tenant, trace_id AS of_trace, heard_at, version AS fence FROM runs FINAL WHERE ${runs}`;
  return `(SELECT * FROM (
      SELECT ${columns} FROM spans WHERE ${isOf(units)} AND ${where} AND (tenant, trace_id) IN (SELECT tenant, trace_id FROM runs FINAL WHERE ${runs})
      ORDER BY seq, version DESC LIMIT 1 BY tenant, trace_id, span_id) AS s
    INNER JOIN (${seenAfter}) AS r ON s.tenant = r.of_tenant AND s.trace_id = r.of_trace)`;
}

function tenantsOf({ units }: Units): string {
  return `tenant IN (${numbersOf(units)})`;
}

function numbersOf(units: readonly Unit[]): string {
  return [...new Set(units.map(({ tenant }) => tenant))].join(', ');
}

/**
 * Finished runs or spans whose event time is after `after` and not after `until`, as a relation with the columns `tenant`, `is`,
 * `trace_id`, `fence`, `event`, `failed`, `duration_ms`. The event time is the end, else the start, capped at the last update of the run.
 */
export function finishedRows(
  units: Units,
  { after, until }: { readonly after: Micros; readonly until: Micros },
): string {
  const seenAfter = `heard_at > ${after}`;
  const event = 'least(ifNull(ended_at, started_at), heard_at) AS event';
  const isWithin = `event > ${after} AND event <= ${until}`;
  if (units.unit !== 'node')
    return `(SELECT tenant, ${numberOf(units)} AS is, trace_id, version AS fence, ${event}, ${RUN_FAILED} AS failed, duration_ms
      FROM runs FINAL WHERE ${isOf(units)} AND ${IS_AGENTS} AND ${seenAfter} AND status <> ${RUNNING} AND ${isWithin})`;
  const spans = spansOf(units, 'true', `${tenantsOf(units)} AND ${seenAfter}`);
  return `(SELECT tenant, ${NODE_NAME} AS is, trace_id, fence, ${event}, ${HAS_FAILED} AS failed, duration_ms
    FROM ${spans} WHERE status <> ${RUNNING} AND ${isWithin})`;
}

function numberOf({ unit }: Units): string {
  return unit === 'agent' ? 'agent_no' : '0';
}

/** The name of a node without its mark. */
const NODE_NAME = 'substring(toString(node), 2)';

/** Runs or spans that started in a range, both ends included, with the columns `tenant`, `is`, `trace_id`, `cost`, `started_at`. */
export function startedRows(
  units: Units,
  { from, to }: { readonly from: Micros; readonly to: Micros },
): string {
  const where = `hour BETWEEN ${hourOf(from)} AND ${hourOf(to)} AND started_at >= ${from} AND started_at <= ${to}`;
  return units.unit !== 'node'
    ? `(SELECT tenant, ${numberOf(units)} AS is, trace_id, total_cost_usd AS cost, started_at FROM runs FINAL WHERE ${isOf(units)} AND ${IS_AGENTS} AND ${where})`
    : `(SELECT tenant, ${NODE_NAME} AS is, trace_id, cost_usd AS cost, started_at FROM (
         SELECT tenant, trace_id, node, cost_usd, started_at FROM spans WHERE ${isOf(units)} AND ${where} ORDER BY seq, version DESC LIMIT 1 BY tenant, trace_id, span_id))`;
}

/** All runs or spans with the columns `tenant`, `is` and `ended`: their last time, capped at the last update of the run. */
export function activityRows(units: Units): string {
  return units.unit !== 'node'
    ? `(SELECT tenant, ${numberOf(units)} AS is, active_at AS ended FROM runs FINAL WHERE ${isOf(units)} AND ${IS_AGENTS})`
    : `(SELECT tenant, ${NODE_NAME} AS is, least(greatest(started_at, ifNull(ended_at, started_at)), heard_at) AS ended FROM ${spansOf(units, 'true', tenantsOf(units))})`;
}

/**
 * All runs or spans that began until a time, with the columns `began` and `ended`: the interval in which each is known to be active, capped
 * at the last update of its run. A running one was active at its last update.
 */
export function activeRows(units: Units, until: Micros): string {
  const end = `if(status = ${RUNNING}, heard_at, ifNull(ended_at, started_at))`;
  const columns = `least(started_at, heard_at) AS began, least(greatest(started_at, ${end}), heard_at) AS ended`;
  const where = `started_at <= ${until}`;
  return units.unit !== 'node'
    ? `(SELECT ${columns} FROM runs FINAL WHERE ${isOf(units)} AND ${IS_AGENTS} AND ${where})`
    : `(SELECT ${columns} FROM ${spansOf(units, where, tenantsOf(units))})`;
}

/** Moments equal steps apart. */
export interface Moments {
  readonly first: Micros;
  readonly step: Micros;
  readonly count: number;
}

/** SQL for the index of the first moment at or after a time in microseconds. */
export function momentOf({ first, step }: Moments, time: string): string {
  return `intDiv(greatest(${time}, ${first}) - ${first} + ${step - 1}, ${step})`;
}

export function lastOf({ first, step, count }: Moments): Micros {
  return first + step * (count - 1);
}
