import type { CallFilter as OfRuns, RepricedFilter } from '../../contracts/runs.js';
import { CALL_SUMS } from '../../schema/sum-tables.js';
import { SPANS, TRACES } from '../../schema/tables.js';
import { hoursOfTime } from '../../shared/whole-hours.js';
import type { Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import { hasReplacing, hotPartsOf, newest, newestHot } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { dimensionsOf } from './run-conditions.js';
import { REPORTS_USAGE } from '../segments/call-tokens.js';
import { changedRuns, withAgent } from '../segments/agents-of-runs.js';
import {
  CALL_PARTS,
  callsOf,
  callsOfChanged,
  callsOfReplaced,
  replacedCommits,
  sumsOfCalls,
} from '../segments/call-sums.js';

/** The filter on calls and models. */
export type CallFilter = OfRuns & Partial<RepricedFilter>;

const ALL = 'TRUE';

/** The condition for the agents whose runs have the calls; null if the user has no such agent. */
function ofAgents(agents: Agents, tenant: number, { agent_id, kind }: CallFilter): string | null {
  if (agent_id !== undefined) {
    const agent = agents.byId(tenant, agent_id);
    return agent === undefined ? null : `agent_no = ${agent.agent_no}`;
  }
  if (kind === undefined) return ALL;
  const others = [...agents.ofTenant(tenant)].filter((agent) => agent.kind !== kind);
  return others.length === 0 ? ALL : `agent_no NOT IN (${others.map(({ agent_no }) => agent_no).join(', ')})`;
}

/** The spans of the calls within the time as a relation; null if the user has no such agent. */
export function someCalls(
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: CallFilter,
): string | null {
  const calls = newest(capture, SPANS, callsWithin(tenant, filter));
  const isOfAgent = ofAgents(agents, tenant, filter);
  if (isOfAgent === null) return null;
  const isOf = [...dimensionsOf(filter), ...(isOfAgent === ALL ? [] : [isOfAgent])];
  if (isOf.length === 0) return calls;
  const runs = newest(capture, TRACES, `tenant = ${tenant}`);
  return `(SELECT * FROM ${calls} WHERE trace_id IN (SELECT trace_id FROM ${runs} WHERE ${isOf.join(' AND ')}))`;
}

/** Conditions on the spans that count. */
function callsWithin(tenant: number, { start_time, end_time, model }: CallFilter): string {
  const where = [`tenant = ${tenant}`, REPORTS_USAGE, ofModel(model)];
  if (start_time !== undefined) where.push(`started_at >= make_timestamp(${start_time})`);
  if (end_time !== undefined) where.push(`started_at <= make_timestamp(${end_time})`);
  return where.join(' AND ');
}

function ofModel(model: string | null | undefined): string {
  if (model === undefined) return 'TRUE';
  return model === null ? 'model IS NULL' : `model = ${literal(model)}`;
}

/** The part of a read that stays the same. */
interface Place {
  readonly connection: Connection;
  readonly capture: Capture;
  readonly tenant: number;
}

/**
 * The parts of `CALL_SUMS` except the agent, for all calls within the time or those of some agents: from sums if possible. A single
 * statement, so that sums and rows are of the same moment.
 *
 * @returns null if the user has no such agent
 */
export async function callParts(place: Place, agents: Agents, filter: CallFilter): Promise<string | null> {
  const { connection, capture, tenant } = place;
  const isOfAgent = ofAgents(agents, tenant, filter);
  if (isOfAgent === null) return null;
  // The sums do not tell versions apart, and ignore which rows a quarantined segment replaces.
  const isOneByOne = capture.isAnyQuarantined || dimensionsOf(filter).length > 0;
  const { sums, ends } = isOneByOne ? { sums: null, ends: [filter] } : hoursWithin(place, filter);
  const calls = ends.map((end) => callsOf(someCalls(capture, agents, tenant, end) ?? ''));
  const parts = CALL_PARTS.split(', ').filter((name) => name !== 'agent_no');
  const statements: string[] = [];
  if (sums !== null) {
    const of = [sums.condition, ofModel(filter.model), isOfAgent];
    statements.push(`SELECT ${parts.join(', ')} FROM cold.main.${CALL_SUMS.name} WHERE ${of.join(' AND ')}`);
    const within = callsWithin(tenant, sums.filter);
    const hot = newestHot(capture, SPANS, within);
    const hotRuns = newestHot(capture, TRACES, `tenant = ${tenant}`);
    const { newer, commits } = await whatIsReplaced(place);
    const replaced = commits.map((condition) => `${isMoved(place)} AND ${within} AND ${condition}`);
    if (isOfAgent === ALL || hotRuns === null) {
      if (hot !== null) calls.push(callsOf(hot));
      if (newer !== null) calls.push(...replaced.map((where) => callsOfReplaced(where, newer)));
    } else {
      const ofAgent = (rows: string): string =>
        `SELECT * EXCLUDE (agent_no) FROM (${rows}) WHERE ${isOfAgent}`;
      if (hot !== null) calls.push(ofAgent(callsOf(withAgent(hot, hotRuns), ', agent_no')));
      const changed = await changedRuns(connection, hotRuns);
      if (newer !== null) {
        const versions = withAgent(newer, changed.before);
        calls.push(...replaced.map((where) => ofAgent(callsOfReplaced(where, versions, ', n.agent_no'))));
      }
      for (const condition of changed.commits)
        calls.push(
          ofAgent(callsOfChanged(changed.runs, `${isMoved(place)} AND ${within} AND ${condition}`, newer)),
        );
    }
  }
  if (calls.length > 0) statements.push(`SELECT ${parts.join(', ')} FROM (${sumsOfCalls(calls)})`);
  return statements.join(' UNION ALL ');
}

function isMoved({ capture }: Place): string {
  return `seq <= ${capture.bound}`;
}

/** How the calls within a time are counted. */
interface Hours {
  /** The hours entirely within the time: the condition for their sums, and the filter for their calls; null if there are none. */
  readonly sums: { readonly condition: string; readonly filter: CallFilter } | null;
  /** The parts of hours at its ends. */
  readonly ends: readonly CallFilter[];
}

function hoursWithin(place: Place, filter: CallFilter): Hours {
  const { whole, ends } = hoursOfTime(filter);
  if (whole === null) return { sums: null, ends };
  const hours = [isMoved(place), `tenant = ${place.tenant}`];
  if (whole.first > -Infinity) hours.push(`hour >= ${whole.first}`);
  if (whole.before < Infinity) hours.push(`hour < ${whole.before}`);
  return { sums: { condition: hours.join(' AND '), filter: whole.filter }, ends };
}

/** Spans of hot segments that may replace spans of the cold file, null if none do; and the commits that may hold the replaced spans. */
async function whatIsReplaced({
  connection,
  capture,
  tenant,
}: Place): Promise<{ readonly newer: string | null; readonly commits: readonly string[] }> {
  const newer = newestHot(capture, SPANS, `tenant = ${tenant}`);
  if (newer === null || !hasReplacing(capture, SPANS)) return { newer: null, commits: [] };
  const replacing = hotPartsOf(capture, SPANS, `tenant = ${tenant} AND replaces`).join(' UNION ALL ');
  return { newer, commits: await replacedCommits(connection, `(${replacing})`, capture.isAnyQuarantined) };
}
