import { RUN_STATUSES } from '../../../signal/span.js';
import type { RunFilter, RunSummary } from '../../telemetry-store.js';
import { TRACES } from '../../tables.js';
import type { Agents } from '../agents.js';
import type { Connection, Value } from '../database.js';
import { newest, relation } from '../relation.js';
import type { Capture } from '../segments.js';
import { RUN_COLUMNS, runSummary } from './run-summary.js';

/** One page of runs, newest first, and how many match in all. */
export async function listRuns(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  filter: RunFilter,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ items: RunSummary[]; count: number }> {
  const matching = conditions(agents, tenant, filter);
  if (matching === null) return { items: [], count: 0 };
  const { sql, values } = matching;
  const from = `FROM ${newest(capture, TRACES, `tenant = ${tenant}`)} WHERE ${sql}`;
  const [total] = await connection.rows(`SELECT count(*) AS runs ${from}`, values);
  // First which runs, by the narrow columns; then those few rows, found by their commits.
  const keys = await connection.rows(
    `SELECT seq, trace_id::VARCHAR AS id ${from} ORDER BY started_at DESC, trace_id DESC LIMIT ${page.limit} OFFSET ${page.offset}`,
    values,
  );
  return { items: await rowsOf(connection, capture, agents, tenant, keys), count: Number(total?.runs) };
}

async function rowsOf(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  keys: readonly Readonly<Record<string, Value>>[],
): Promise<RunSummary[]> {
  if (keys.length === 0) return [];
  const seqs = [...new Set(keys.map((key) => Number(key.seq)))].join(', ');
  const ids = keys.map((key) => `'${String(key.id)}'::UUID`).join(', ');
  const where = `tenant = ${tenant} AND seq IN (${seqs}) AND trace_id IN (${ids})`;
  const rows = await connection.rows(`SELECT seq, ${RUN_COLUMNS} FROM ${relation(capture, TRACES, where)}`);
  const found = new Map(rows.map((row) => [`${String(row.trace_id)}@${String(row.seq)}`, row]));
  return keys.flatMap((key) => {
    const row = found.get(`${String(key.id)}@${String(key.seq)}`);
    return row === undefined ? [] : [runSummary(row, agents)];
  });
}

/** The filter in SQL; null when it names an agent that the tenant does not have. */
function conditions(
  agents: Agents,
  tenant: number,
  filter: RunFilter,
): { sql: string; values: Value[] } | null {
  const sql = ['TRUE'];
  const values: Value[] = [];
  if (filter.agent_id !== undefined) {
    const agent = agents.byId(tenant, filter.agent_id);
    if (agent === undefined) return null;
    sql.push(`agent_no = ${agent.agent_no}`);
  }
  if (filter.status !== undefined) sql.push(`status = ${RUN_STATUSES.indexOf(filter.status)}`);
  if (filter.success !== undefined) sql.push(filter.success ? 'success' : 'NOT success');
  if (filter.start_time !== undefined) sql.push(`started_at >= make_timestamp(${filter.start_time})`);
  if (filter.end_time !== undefined) sql.push(`started_at <= make_timestamp(${filter.end_time})`);
  if (filter.query !== undefined) {
    const named = agents.matching(tenant, filter.query).map((agent) => agent.agent_no);
    const text = filter.query.toLowerCase();
    const byAgent = named.length > 0 ? `agent_no IN (${named.join(', ')}) OR ` : '';
    // Null in one column must not hide a match in the other.
    sql.push(
      `(${byAgent}coalesce(contains(lower(outcome), ?), FALSE) OR coalesce(contains(lower(error_message), ?), FALSE))`,
    );
    values.push(text, text);
  }
  return { sql: sql.join(' AND '), values };
}
