import type { Micros } from '../../../signal/time.js';
import { SPANS, TRACES } from '../../schema/tables.js';
import { ofCommitsSince } from '../segments/commit-ranges.js';
import type { Connection } from '../files/connection.js';
import { coldOf, newest, relation } from '../segments/relation.js';
import type { AgentsOf, RunList } from './counted-run.js';
import type { Capture } from '../segments/segment.js';
import { RUNNING } from '../../../runs/rules/rows.js';

/** The newest start of each agent that has runs, by its number. */
export async function newestStarts(
  connection: Connection,
  capture: Capture,
  agents: AgentsOf,
): Promise<ReadonlyMap<number, Micros>> {
  const rows = await connection.rows(
    `SELECT agent_no, epoch_us(max(started_at)) AS start FROM ${newest(capture, TRACES, runsOf(agents))} GROUP BY agent_no`,
  );
  return new Map(rows.map((row) => [Number(row.agent_no), Number(row.start)]));
}

/** The newest starts of the runs of a list, up to the requested number. */
export async function someNewestStarts(
  connection: Connection,
  capture: Capture,
  { tenant, kind, agentNo }: RunList,
  count: number,
): Promise<Micros[]> {
  const ofKind = kind === undefined ? '' : ` AND kind = ${kind}`;
  const where =
    agentNo === undefined ? `tenant = ${tenant}${ofKind}` : runsOf({ tenant, numbers: [agentNo] });
  const floor = await leastOfNewest(connection, capture, where, count);
  if (floor !== null) {
    const late = `${where} AND started_at >= make_timestamp(${floor})`;
    const starts = await newestOfAll(connection, capture, late, count);
    // Retention may have removed some of them meanwhile.
    if (starts.length === count) return starts;
  }
  return await newestOfAll(connection, capture, where, count);
}

async function newestOfAll(
  connection: Connection,
  capture: Capture,
  where: string,
  count: number,
): Promise<Micros[]> {
  // Not `ORDER BY … LIMIT`: `max` keeps the greatest values of each part while reading it.
  const [row] = await connection.rows(
    `SELECT array_to_string(max(epoch_us(started_at), ${count}), ' ') AS starts FROM ${newest(capture, TRACES, where)}`,
  );
  return typeof row?.starts === 'string' ? row.starts.split(' ').map(Number) : [];
}

/** How many of the newest commits are searched first for the newest runs: few if commits are large, more if they are small. */
const NEWEST_COMMITS = [256, 16_384];
/** If more rows may be replaced, the newest runs are not searched in so few commits. */
const MOST_REPLACED = 4096;

/**
 * A lower bound for the starts of the `count` newest runs, even if every replaceable row is replaced: the newest runs are mostly
 * in the newest commits of the cold file, and earlier starts need not be read.
 *
 * @returns null if these commits hold too few runs
 */
async function leastOfNewest(
  connection: Connection,
  capture: Capture,
  where: string,
  count: number,
): Promise<Micros | null> {
  const replacing = capture.hot.reduce((sum, segment) => sum + (segment.replacing.get(TRACES.name) ?? 0), 0);
  if (replacing > MOST_REPLACED) return null;
  const most = count + replacing;
  for (const commits of NEWEST_COMMITS) {
    const late = coldOf(capture, TRACES, `${where} AND seq > ${capture.bound - commits}`);
    const [row] = await connection.rows(
      `SELECT least, found FROM (SELECT max(epoch_us(started_at), ${most}) AS newest, newest[-1] AS least, len(newest) AS found FROM ${late})`,
    );
    if (Number(row?.found ?? 0) === most) return Number(row?.least);
    if (capture.bound <= commits) break;
  }
  return null;
}

/**
 * The last time of the agents' runs, as in `RunChanges`: the time of the header, for a running run also of its spans, capped at
 * the time when the run was last seen.
 */
export async function lastActivity(
  connection: Connection,
  capture: Capture,
  agentNos: readonly number[],
): Promise<ReadonlyMap<number, Micros>> {
  const isOf = `agent_no IN (${agentNos.join(', ')})`;
  const rows = await connection.rows(
    `SELECT agent_no, epoch_us(max(least(greatest(started_at, coalesce(ended_at, started_at), coalesce(last_span, started_at)), heard_at))) AS at
     FROM ${await withLastSpans(connection, capture, isOf)} GROUP BY agent_no`,
  );
  return new Map(rows.map((row) => [Number(row.agent_no), Number(row.at)]));
}

/** The headers, for running runs with the last time of their spans. */
async function withLastSpans(connection: Connection, capture: Capture, where: string): Promise<string> {
  const running = newest(capture, TRACES, `status = ${RUNNING} AND first_seq > 0 AND ${where}`);
  const headers = newest(capture, TRACES, where);
  const [row] = await connection.rows(`SELECT min(first_seq) AS first FROM ${running}`);
  const first = row?.first ?? null;
  if (first === null) return `(SELECT *, NULL::TIMESTAMP AS last_span FROM ${headers})`;
  const spans = relation(capture, SPANS, ofCommitsSince(Number(first)));
  return `(SELECT t.*, l.last_span FROM ${headers} t LEFT JOIN (
    SELECT s.tenant, s.trace_id, max(greatest(s.started_at, coalesce(s.ended_at, s.started_at))) AS last_span
    FROM ${spans} s JOIN ${running} r ON s.tenant = r.tenant AND s.trace_id = r.trace_id
    GROUP BY s.tenant, s.trace_id) l ON t.tenant = l.tenant AND t.trace_id = l.trace_id)`;
}

/** The condition for the runs of some agents of one user. */
export function runsOf({ tenant, numbers }: AgentsOf): string {
  return `tenant = ${tenant} AND agent_no IN (${numbers.join(', ')})`;
}
