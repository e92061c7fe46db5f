import { AGENT_SPANS } from '../../schema/agent-spans-table.js';
import { SPANS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { rowsOf } from './relation.js';
import type { Segment } from './segment.js';
import { COLD_RUNS, withAgent, type MovedRuns } from './agents-of-runs.js';

/**
 * The kinds of spans of each agent (`AGENT_SPANS`), so that a search for runs with certain spans skips the runs of other agents.
 * May contain extra kinds, such as those of spans that retention removed, but never misses one. So a read ignores the commit of a
 * kind, and compaction only adds new kinds.
 */

const TABLE = `cold.main.${AGENT_SPANS.name}`;
const COLUMNS = ['tenant', ...AGENT_SPANS.wire.map(({ name }) => name)];
const LIST = COLUMNS.join(', ');
/** An agent with more kinds gets one wildcard row instead: its span names contain numbers or other variable parts. */
const MOST_KINDS = 256;
/** If the agents of one user have more kinds in total, each with more than `FEW_KINDS` gets the wildcard row. */
const MOST_OF_USER = 100_000;
const FEW_KINDS = 8;

/** Adds the kinds of a segment. Call within the transaction of its compaction, before the rows are copied. */
export async function noteMovedAgentSpans(
  connection: Connection,
  segment: Segment,
  { headers, changed }: MovedRuns,
): Promise<void> {
  const came = [`SELECT ${LIST} FROM ${withAgent(rowsOf(segment, SPANS), headers)}`];
  if (changed !== null && changed.commits.length > 0) {
    // If the agent of a run changes, the new agent gets all kinds of the old one, which include those of the run.
    const columns = COLUMNS.map((name) => (name === 'agent_no' ? 'r.new_no' : `k.${name}`));
    came.push(
      `SELECT ${columns.join(', ')} FROM ${TABLE} k JOIN ${changed.runs} r ON r.tenant = k.tenant AND r.old_no = k.agent_no`,
    );
  }
  await add(connection, came, segment.lastSeq);
}

/** Rebuilds all kinds. Call within the transaction that changed spans and headers in an unknown way. */
export async function rederiveAgentSpans(connection: Connection): Promise<void> {
  await connection.run(`DELETE FROM ${TABLE}`);
  await add(connection, [`SELECT ${LIST} FROM ${withAgent(`cold.main.${SPANS.name}`, COLD_RUNS)}`], 0);
}

/** Rebuilds the kinds if the store was written before this table existed. Call when the cold file is opened. */
export async function completeAgentSpans(connection: Connection): Promise<void> {
  const [row] = await connection.rows(
    `SELECT EXISTS (SELECT 1 FROM cold.main.${SPANS.name}) AND NOT EXISTS (SELECT 1 FROM ${TABLE}) AS is_missing`,
  );
  if (row?.is_missing !== true) return;
  await connection.run('BEGIN');
  try {
    await rederiveAgentSpans(connection);
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/**
 * A statement that selects the agents (`agent_no`) with spans of some kinds in the cold file. It may select too many agents.
 *
 * @param condition on type, name, model and node of spans
 */
export function agentsWithKinds(tenant: number, condition: string): string {
  return `SELECT agent_no FROM ${TABLE} WHERE tenant = ${tenant} AND (type IS NULL OR (${condition}))`;
}

/** @param came statements that select kinds */
async function add(connection: Connection, came: readonly string[], seq: number): Promise<void> {
  const isSame = COLUMNS.map((name) => `k.${name} IS NOT DISTINCT FROM c.${name}`).join(' AND ');
  const areAll = `SELECT 1 FROM ${TABLE} k WHERE k.tenant = c.tenant AND k.agent_no = c.agent_no AND k.type IS NULL`;
  await connection.run(
    `INSERT INTO ${TABLE} SELECT ${seq}, ${LIST} FROM (SELECT DISTINCT * FROM (${came.join(' UNION ALL ')})) c
      WHERE NOT EXISTS (${areAll}) AND NOT EXISTS (SELECT 1 FROM ${TABLE} k WHERE ${isSame}) ORDER BY ${LIST}`,
  );
  // Only users with new kinds can have exceeded the limit.
  const grown = `SELECT tenant FROM ${TABLE} WHERE seq = ${seq}`;
  const many = await connection.rows(
    `SELECT tenant, agent_no FROM (SELECT tenant, agent_no, count(*) AS kinds, sum(count(*)) OVER (PARTITION BY tenant) AS of_user FROM ${TABLE} WHERE tenant IN (${grown}) GROUP BY tenant, agent_no)
      WHERE kinds > ${MOST_KINDS} OR (of_user > ${MOST_OF_USER} AND kinds > ${FEW_KINDS})`,
  );
  if (many.length === 0) return;
  const agents = `(VALUES ${many.map((row) => `(${Number(row.tenant)}, ${Number(row.agent_no)})`).join(', ')}) m(tenant, agent_no)`;
  await connection.run(
    `DELETE FROM ${TABLE} k USING ${agents} WHERE k.tenant = m.tenant AND k.agent_no = m.agent_no`,
  );
  await connection.run(
    `INSERT INTO ${TABLE} SELECT ${seq}, tenant, agent_no, NULL, NULL, NULL, NULL FROM ${agents}`,
  );
}
