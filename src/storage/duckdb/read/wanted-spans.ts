import { storableName } from '../../../signal/names.js';
import { AGENT_NODE } from '../../../signal/service-map.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import type { SpanFilter } from '../../contracts/runs.js';
import { SPANS } from '../../schema/tables.js';
import type { Agents } from '../stats/agents.js';
import { literal } from '../files/database.js';
import { narrowed, type OfCommits } from '../segments/commit-ranges.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/** SQL for the wanted spans; a run must have at least one of them. */
export interface WantedSpans {
  readonly sql: string;
  /** Agents whose own node is wanted: for their runs, a span with the node of its agent matches. */
  readonly agentNos: readonly number[];
}

/** The names of the service map's nodes. */
export interface NodeNames {
  readonly name: (number: number) => string;
  readonly find: (tenant: number, name: string) => number | undefined;
}

/** @returns null if no span can match */
export function wantedSpans(
  { model, name, type, node }: SpanFilter,
  { agents, services }: { readonly agents: Agents; readonly services: NodeNames },
  tenant: number,
): WantedSpans | null {
  const sql = [`tenant = ${tenant}`];
  if (model !== undefined) sql.push(`model = ${literal(storableName(model))}`);
  if (name !== undefined) sql.push(`name = ${literal(storableName(name))}`);
  if (type !== undefined) sql.push(`type = ${SPAN_TYPES.indexOf(type)}`);
  if (node === undefined) return { sql: sql.join(' AND '), agentNos: [] };
  const agentNos = [...agents.ofTenant(tenant)]
    .filter((agent) => agent.name === node)
    .map((agent) => agent.agent_no);
  // A name beyond the limit of names shares the number of another name.
  const found = services.find(tenant, node);
  const isNode = found !== undefined && services.name(found) === node;
  const numbers = [...(isNode ? [found] : []), ...(agentNos.length > 0 ? [AGENT_NODE] : [])];
  if (numbers.length === 0) return null;
  return { sql: [...sql, `node_no IN (${numbers.join(', ')})`].join(' AND '), agentNos };
}

/** The condition for runs that have a wanted span. @param there commits to search; absent: all */
export function hasSpan(capture: Capture, { sql, agentNos }: WantedSpans, there?: OfCommits): string {
  const having = (also: string): string => {
    const spans = newest(capture, SPANS, there === undefined ? also : narrowed(there, also));
    return `trace_id IN (SELECT trace_id FROM ${spans})`;
  };
  if (agentNos.length === 0) return having(sql);
  const ofAgent = `agent_no IN (${agentNos.join(', ')}) AND ${having(`${sql} AND node_no = ${AGENT_NODE}`)}`;
  return `(${having(`${sql} AND node_no <> ${AGENT_NODE}`)} OR (${ofAgent}))`;
}
