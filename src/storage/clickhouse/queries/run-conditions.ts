import { storableIdentity, storableTag, DIMENSIONS } from '../../../signal/run-context.js';
import { RUN_KINDS, RUN_STATUSES } from '../../../signal/span.js';
import { MICROS_PER_HOUR } from '../../../signal/time-units.js';
import type { Micros } from '../../../signal/time.js';
import {
  metadataKey,
  type DimensionFilter,
  type FieldCondition,
  type RunCursor,
  type RunField,
  type RunFilter,
} from '../../contracts/runs.js';
import { textInJson } from '../logs/log-condition.js';
import type { AgentsOfUser } from '../names/agent-names.js';
import { quoted } from '../client/literals.js';
import { hasScores } from './score-reads.js';

/** A filter of the rows of `runs` in SQL; null if it names an agent that the user does not have. */
export function conditions(agents: AgentsOfUser, tenant: number, filter: RunFilter): string | null {
  const sql = [
    `tenant = ${tenant}`,
    ...timesOf(filter),
    ...boundsOf(filter),
    ...contextOf(filter),
    ...(filter.where ?? []).map(fieldCondition),
    ...hasScores(tenant, filter.scores),
  ];
  const { agent_id: agentId, kind, status, success } = filter;
  if (agentId !== undefined) {
    const agent = agents.byId(agentId);
    if (agent === undefined) return null;
    sql.push(`agent_no = ${agent.number}`);
  }
  if (kind !== undefined) sql.push(`kind = ${RUN_KINDS.indexOf(kind)}`);
  if (status !== undefined) sql.push(`status = ${RUN_STATUSES.indexOf(status)}`);
  if (success !== undefined) sql.push(success ? 'success' : 'NOT success');
  return sql.join(' AND ');
}

/** Includes the hour, which is part of the key. */
function timesOf({ start_time: from, end_time: to }: RunFilter): string[] {
  return [
    ...(from === undefined ? [] : [`hour >= ${hourOf(from)}`, `started_at >= ${from}`]),
    ...(to === undefined ? [] : [`hour <= ${hourOf(to)}`, `started_at <= ${to}`]),
  ];
}

function hourOf(time: Micros): number {
  return Math.floor(time / MICROS_PER_HOUR);
}

/** Bounds of duration and cost; a run without the value does not match. */
function boundsOf({ min_duration_ms, max_duration_ms, min_cost, max_cost }: RunFilter): string[] {
  return [
    ...(min_duration_ms === undefined ? [] : [`duration_ms >= toFloat64(${min_duration_ms})`]),
    ...(max_duration_ms === undefined ? [] : [`duration_ms <= toFloat64(${max_duration_ms})`]),
    ...(min_cost === undefined ? [] : [`total_cost_usd >= ${min_cost}`]),
    ...(max_cost === undefined ? [] : [`total_cost_usd <= ${max_cost}`]),
  ];
}

/** The text of a field, in SQL; null if missing. */
export function fieldText(field: RunField): string {
  const key = metadataKey(field);
  return key === null ? field : textInJson('metadata', key);
}

function fieldCondition({ field, test, value }: FieldCondition): string {
  const text = fieldText(field);
  if (test === 'contains')
    return `positionUTF8(lowerUTF8(ifNull(${text}, '')), lowerUTF8(${quoted(value)})) > 0`;
  const wanted = quoted(metadataKey(field) === null ? storableIdentity(value) : value);
  const isIt = `ifNull(${text} = ${wanted}, false)`;
  return test === 'is' ? isIt : `NOT ${isIt}`;
}

/** The conditions for runs of some versions; none without such a filter. */
export function dimensionsOf(filter: DimensionFilter): string[] {
  return DIMENSIONS.flatMap((field) => {
    const value = filter[field];
    return value === undefined ? [] : `${field} = ${quoted(storableIdentity(value))}`;
  });
}

function contextOf(filter: RunFilter): string[] {
  const { session_id, user_id, tag } = filter;
  return [
    ...dimensionsOf(filter),
    ...(session_id === undefined ? [] : [`session_id = ${quoted(storableIdentity(session_id))}`]),
    ...(user_id === undefined ? [] : [`user_id = ${quoted(storableIdentity(user_id))}`]),
    ...(tag === undefined ? [] : [`has(splitByChar('\\n', ifNull(tags, '')), ${quoted(storableTag(tag))})`]),
  ];
}

/** The condition that a column contains a text, in any case. */
export function contains(column: string, text: string): string {
  return `positionUTF8(lowerUTF8(ifNull(${column}, '')), lowerUTF8(${quoted(text)})) > 0`;
}

/** The order of a list, in SQL. Ids sort the same as numbers and as texts. */
export function orderOf({ oldest_first = false, sort }: RunFilter): string {
  const direction = oldest_first ? '' : ' DESC';
  const byStart = `started_at${direction}, toUInt128(trace_id)${direction}`;
  return sort === undefined ? byStart : `${sort}${direction} NULLS LAST, ${byStart}`;
}

/** The condition for runs after a cursor. */
export function behind({ sort, oldest_first = false }: RunFilter, place: RunCursor | null): string {
  if (place === null) return 'true';
  const than = oldest_first ? '>' : '<';
  const id = `toUInt128(toUUID(${quoted(place.trace_id)}))`;
  const isLater = `(started_at, toUInt128(trace_id)) ${than} (${place.started_at}, ${id})`;
  // Also restricts the key column, so that other rows are not read.
  if (sort === undefined) return `hour ${than}= ${hourOf(place.started_at)} AND ${isLater}`;
  if (place.value === null) return `${sort} IS NULL AND ${isLater}`;
  const value = `toFloat64(${place.value})`;
  return `(${sort} ${than} ${value} OR ${sort} IS NULL OR (${sort} = ${value} AND ${isLater}))`;
}
