import { storableIdentity, storableTag, DIMENSIONS } from '../../../signal/run-context.js';
import { RUN_KINDS, RUN_STATUSES, type RunKind } from '../../../signal/span.js';
import {
  metadataKey,
  type DimensionFilter,
  type FieldCondition,
  type RunField,
  type RunFilter,
} from '../../contracts/runs.js';
import { textInJson } from '../index/log-condition.js';
import type { Agent, Agents } from '../stats/agents.js';
import type { RunList } from '../stats/counted-run.js';
import { literal } from '../files/database.js';

/** A filter in SQL. */
export interface Matching {
  readonly sql: string;
  /** The agents whose counts cover every run of the filter's agent and kind, regardless of the rest of the filter. */
  readonly counted: readonly Agent[];
  /** The list of newest starts for these runs, if one exists. */
  readonly list: RunList | null;
}

const WHOSE: ReadonlySet<string> = new Set(['agent_id', 'kind']);
/** Filters that allow counting runs from memory. */
const MEMORY_FILTERS: ReadonlySet<string> = new Set([...WHOSE, 'status', 'success', 'sort', 'oldest_first']);

function hasOnly(filter: RunFilter, names: ReadonlySet<string>): boolean {
  return Object.entries(filter).every(([name, value]) => value === undefined || names.has(name));
}

/** Whether the number of runs can be computed from memory, unless `status` and `success` are both set. */
export function isFromMemory(filter: RunFilter): boolean {
  return hasOnly(filter, MEMORY_FILTERS);
}

/** Whether the filter selects all runs of the user, of an agent or of a kind. */
export function isWholeList(filter: RunFilter): boolean {
  return hasOnly(filter, WHOSE);
}

/** @returns the filter in SQL; null if it names an agent that the user does not have */
export function conditions(agents: Agents, tenant: number, filter: RunFilter): Matching | null {
  const { agent_id: agentId, kind } = filter;
  const sql = ['TRUE'];
  const named = agentId === undefined ? [...agents.ofTenant(tenant)] : agents.namedById(tenant, agentId);
  if (agentId !== undefined && named.length === 0) return null;
  const counted = named.filter((one) => kind === undefined || one.kind === kind);
  if (agentId !== undefined) sql.push(ofAny(counted));
  if (kind !== undefined) sql.push(`kind = ${RUN_KINDS.indexOf(kind)}`);
  if (filter.status !== undefined) sql.push(`status = ${RUN_STATUSES.indexOf(filter.status)}`);
  if (filter.success !== undefined) sql.push(filter.success ? 'success' : 'NOT success');
  if (filter.start_time !== undefined) sql.push(`started_at >= make_timestamp(${filter.start_time})`);
  if (filter.end_time !== undefined) sql.push(`started_at <= make_timestamp(${filter.end_time})`);
  sql.push(...boundsOf(filter));
  if (filter.session_id !== undefined)
    sql.push(hasIdentity('session_id', [storableIdentity(filter.session_id)]));
  if (filter.user_id !== undefined) sql.push(hasIdentity('user_id', [storableIdentity(filter.user_id)]));
  if (filter.tag !== undefined)
    sql.push(
      `contains(chr(10) || tags || chr(10), chr(10) || ${literal(storableTag(filter.tag))} || chr(10))`,
    );
  sql.push(...dimensionsOf(filter), ...(filter.where ?? []).map(fieldCondition));
  return {
    sql: sql.join(' AND '),
    counted,
    list: agentId === undefined ? listOf(tenant, kind) : listUnder(tenant, counted),
  };
}

/** The text of a field, in SQL. */
export function fieldText(field: RunField): string {
  const key = metadataKey(field);
  return key === null ? field : textInJson('metadata', key);
}

function fieldCondition({ field, test, value }: FieldCondition): string {
  const text = fieldText(field);
  if (test === 'contains') return `contains(lower(${text}), lower(${literal(value)}))`;
  const wanted = literal(metadataKey(field) === null ? storableIdentity(value) : value);
  return test === 'is' ? `${text} = ${wanted}` : `${text} IS DISTINCT FROM ${wanted}`;
}

/** The conditions for the dimensions of runs; empty without such a filter. */
export function dimensionsOf(filter: DimensionFilter): string[] {
  return DIMENSIONS.flatMap((field) => {
    const value = filter[field];
    return value === undefined ? [] : `${field} = ${literal(storableIdentity(value))}`;
  });
}

/** Bounds on duration and cost; a run without the value never matches. */
function boundsOf({ min_duration_ms, max_duration_ms, min_cost, max_cost }: RunFilter): string[] {
  return [
    ...(min_duration_ms === undefined ? [] : [`duration_ms >= '${min_duration_ms}'::DOUBLE`]),
    ...(max_duration_ms === undefined ? [] : [`duration_ms <= '${max_duration_ms}'::DOUBLE`]),
    ...(min_cost === undefined ? [] : [`total_cost_usd >= ${min_cost}`]),
    ...(max_cost === undefined ? [] : [`total_cost_usd <= ${max_cost}`]),
  ];
}

/** The condition for runs of one of some sessions or users. */
export function hasIdentity(column: 'session_id' | 'user_id', ids: readonly string[]): string {
  return `${column} IN (${ids.map(literal).join(', ')})`;
}

function listOf(tenant: number, kind: RunKind | undefined): RunList {
  return kind === undefined ? { tenant } : { tenant, kind: RUN_KINDS.indexOf(kind) };
}

/** Two numbers mean runs of both kinds under one name, which are two lists. */
function listUnder(tenant: number, counted: readonly Agent[]): RunList | null {
  const [one, ...others] = counted;
  return one === undefined || others.length > 0 ? null : { tenant, agentNo: one.agent_no };
}

function ofAny(counted: readonly Agent[]): string {
  return counted.length === 0 ? 'FALSE' : `agent_no IN (${counted.map((one) => one.agent_no).join(', ')})`;
}
