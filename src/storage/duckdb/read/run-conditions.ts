import { storableIdentity, storableTag } from '../../../signal/run-context.js';
import { RUN_KINDS, RUN_STATUSES, type RunKind } from '../../../signal/span.js';
import type { RunFilter } from '../../contracts/runs.js';
import type { Agent, Agents } from '../stats/agents.js';
import type { RunList } from '../stats/counted-run.js';
import { hasLine, type LookedUp } from '../index/text-blocks.js';

/** A filter in SQL. */
export interface Matching {
  /** All of the filter but the text. */
  readonly sql: string;
  /** What the runs are counted under: every run of the filter's agent and kind, whatever else the filter says. */
  readonly counted: readonly Agent[];
  /** The list of these runs, where there is one of them. */
  readonly list: RunList | null;
  /** What is asked for of session, user and tags; it is in {@link sql}, too. */
  readonly lines: readonly LookedUp[];
  /** The agents that have the text in their names: all their runs match. */
  readonly named: readonly number[];
}

const WHOSE: ReadonlySet<string> = new Set(['agent_id', 'kind']);
/** What changes nothing of how many runs memory knows of. */
const COUNTED: ReadonlySet<string> = new Set([...WHOSE, 'status', 'success', 'sort', 'oldest_first']);

function hasOnly(filter: RunFilter, names: ReadonlySet<string>): boolean {
  return Object.entries(filter).every(([name, value]) => value === undefined || names.has(name));
}

/** Whether memory knows how many runs there are, but for `status` and `success`. */
export function isCounted(filter: RunFilter): boolean {
  return hasOnly(filter, COUNTED);
}

/** Whether all runs of the user, of an agent or of a kind are asked for. */
export function isWholeList(filter: RunFilter): boolean {
  return hasOnly(filter, WHOSE);
}

/** @returns the filter in SQL; null where it names an agent that the user does not have. */
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
  const lines = linesOf(filter);
  sql.push(...lines.map(hasLine));
  const matching = filter.query === undefined ? [] : agents.matching(tenant, filter.query);
  return {
    sql: sql.join(' AND '),
    counted,
    list: agentId === undefined ? listOf(tenant, kind) : listUnder(tenant, counted),
    lines,
    named: matching.map((agent) => agent.agent_no),
  };
}

/** Bounds of figures; a run without the figure is in none. */
function boundsOf({ min_duration_ms, max_duration_ms, min_cost, max_cost }: RunFilter): string[] {
  return [
    ...(min_duration_ms === undefined ? [] : [`duration_ms >= '${min_duration_ms}'::DOUBLE`]),
    ...(max_duration_ms === undefined ? [] : [`duration_ms <= '${max_duration_ms}'::DOUBLE`]),
    ...(min_cost === undefined ? [] : [`total_cost_usd >= ${min_cost}`]),
    ...(max_cost === undefined ? [] : [`total_cost_usd <= ${max_cost}`]),
  ];
}

/** What is asked for of session, user and tags, as it is kept. */
function linesOf({ session_id, user_id, tag }: RunFilter): LookedUp[] {
  return [
    ...(session_id === undefined
      ? []
      : [{ column: 'session_id', lines: [storableIdentity(session_id)] } as const]),
    ...(user_id === undefined ? [] : [{ column: 'user_id', lines: [storableIdentity(user_id)] } as const]),
    ...(tag === undefined ? [] : [{ column: 'tags', lines: [storableTag(tag)] } as const]),
  ];
}

function listOf(tenant: number, kind: RunKind | undefined): RunList {
  return kind === undefined ? { tenant } : { tenant, kind: RUN_KINDS.indexOf(kind) };
}

/** Runs of both kinds under one name are two lists. */
function listUnder(tenant: number, counted: readonly Agent[]): RunList | null {
  const [one, ...others] = counted;
  return one === undefined || others.length > 0 ? null : { tenant, agentNo: one.agent_no };
}

function ofAny(counted: readonly Agent[]): string {
  return counted.length === 0 ? 'FALSE' : `agent_no IN (${counted.map((one) => one.agent_no).join(', ')})`;
}
