import { itemAt } from '../../../signal/checked.js';
import { RUN_STATUSES } from '../../../signal/span.js';
import type { RunFilter, RunSummary } from '../../contracts/runs.js';
import { TRACES } from '../../schema/tables.js';
import type { Agent, Agents } from '../stats/agents.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import type { Read } from '../segments/read.js';
import { newest, relation, type Condition } from '../segments/relation.js';
import type { RunStats } from '../stats/run-stats.js';
import type { Capture } from '../segments/segment.js';
import { PART_BYTES } from '../segments/read-limits.js';
import { narrowed, ofCommits } from '../segments/commit-ranges.js';
import { conditions, isFromMemory, isWholeList, type Matching } from './run-conditions.js';
import { hasScores } from './run-scores.js';
import { conditionsOnPage, countIn, matchingPlaces } from './run-places.js';
import { RUN_COLUMNS, runSummary } from '../write/run-summary.js';

const TEXT_BYTES = 'coalesce(strlen(outcome), 0) + coalesce(strlen(error_message), 0)';
const NEWEST_FIRST = 'started_at DESC, trace_id DESC';
const OLDEST_FIRST = 'started_at, trace_id';

/** The first runs of a list, up to {@link PART_BYTES}, and the ids of the others. */
export interface RunsPart {
  readonly items: readonly RunSummary[];
  /** Ids of traces. */
  readonly rest: readonly string[];
}

interface Page {
  readonly offset: number;
  readonly limit: number;
}

interface Wanted extends Matching {
  readonly tenant: number;
  readonly filter: RunFilter;
  readonly page: Page;
}

/** One page of runs, and the number of all matching runs. */
export async function listRuns(
  read: Read,
  agents: Agents,
  stats: RunStats,
  tenant: number,
  filter: RunFilter,
  page: Page,
): Promise<RunsPart & { readonly count: number }> {
  const matching = conditions(agents, tenant, filter);
  if (matching === null) return NONE;
  if (matching.list !== null && isWholeList(filter))
    await stats.loadStarts(read, matching.list, page.offset + page.limit);
  return await read((connection, capture) =>
    readRuns(connection, capture, agents, stats, { tenant, filter, page, ...matching }),
  );
}

async function readRuns(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  stats: RunStats,
  { tenant, filter, page, sql, counted: under, list }: Wanted,
): Promise<RunsPart & { readonly count: number }> {
  // Both from memory before the first await, because every commit changes it.
  const counted = countKnown(stats, under, filter);
  const order = orderOf(filter);
  const since = list !== null && isWholeList(filter) ? stats.nthNewest(list, page.offset + page.limit) : null;
  if (counted !== null && counted <= page.offset) return { ...NONE, count: counted };
  if (counted !== null && since !== null) {
    const where = `tenant = ${tenant} AND ${sql} AND started_at >= make_timestamp(${since})`;
    const rows = await sizedRows(
      connection,
      `SELECT * FROM ${newest(capture, TRACES, where)} ${orderAndCut(page, order)}`,
      order,
    );
    return { ...partOf(rows, agents), count: counted };
  }
  const matches = `tenant = ${tenant} AND ${sql}`;
  let where: Condition[] = [matches];
  let count = counted;
  const also = await hasScores({ connection, capture, tenant }, filter.scores);
  if (count === null) {
    const places = await matchingPlaces(connection, capture, where, also);
    count = countIn(places);
    if (count <= page.offset) return { ...NONE, count };
    if (order === NEWEST_FIRST)
      where = conditionsOnPage(places, page.offset + page.limit).map((there) => narrowed(there, matches));
  }
  // Narrow columns show which runs these are; then only their rows are read, by commit.
  const keys = await connection.rows(
    `SELECT seq, trace_id::VARCHAR AS id FROM ${newest(capture, TRACES, where)} WHERE ${also} ${orderAndCut(page, order)}`,
  );
  const wanted = keys.map(({ id, seq }) => ({ id: String(id), seq: Number(seq) }));
  return { ...(await readRunsAt(connection, capture, agents, tenant, wanted, order)), count };
}

const NONE = { items: [], rest: [], count: 0 };

/** The order of a list, in SQL. */
export function orderOf({ oldest_first = false, sort }: RunFilter): string {
  const byStart = oldest_first ? OLDEST_FIRST : NEWEST_FIRST;
  return sort === undefined ? byStart : `${sort}${oldest_first ? '' : ' DESC'} NULLS LAST, ${byStart}`;
}

function orderAndCut({ limit, offset }: Page, order: string): string {
  return `ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`;
}

/** The number of matching runs; null if it cannot be computed from the stats in memory. */
function countKnown(stats: RunStats, under: readonly Agent[], filter: RunFilter): number | null {
  const { status, success } = filter;
  if (!isFromMemory(filter) || (status !== undefined && success !== undefined)) return null;
  const totals = under.map((one) => stats.totals(one.agent_no)).filter((known) => known !== undefined);
  return totals.reduce((sum, { runs, byStatus, successes, failures }) => {
    if (status !== undefined) return sum + itemAt(byStatus, RUN_STATUSES.indexOf(status));
    if (success !== undefined) return sum + (success ? successes : failures);
    return sum + runs;
  }, 0);
}

/**
 * Reads the first of some runs, in the order of their list ({@link orderOf}), by the commits of their headers. Removed runs are
 * left out.
 */
export async function readRunsAt(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  wanted: readonly { readonly id: string; readonly seq: number }[],
  order: string,
): Promise<RunsPart> {
  if (wanted.length === 0) return NONE;
  const seqOf = new Map(wanted.map(({ id, seq }) => [id, seq]));
  const ids = [...seqOf.keys()].map((id) => `'${id}'::UUID`).join(', ');
  const where = narrowed(ofCommits(seqOf.values()), `tenant = ${tenant} AND trace_id IN (${ids})`);
  // The commit of one run may hold an older header of another run, which must not count toward the limit.
  const places = [...seqOf].map(([id, seq]) => `('${id}'::UUID, ${seq}::BIGINT)`).join(', ');
  const headers = `SELECT * FROM ${relation(capture, TRACES, where)} WHERE (trace_id, seq::BIGINT) IN (${places})`;
  return partOf(await sizedRows(connection, headers, order), agents);
}

/** Headers in the order of lists. Only the first ones, up to {@link PART_BYTES}, have their texts. @param headers in SQL */
async function sizedRows(connection: Connection, headers: string, order: string): Promise<Row[]> {
  const inOrder = `OVER (ORDER BY ${order} ROWS UNBOUNDED PRECEDING)`;
  const sized = `SELECT *, row_number() ${inOrder} AS place, sum(${TEXT_BYTES}) ${inOrder} AS upto FROM (${headers})`;
  const fitting = `SELECT * REPLACE (CASE WHEN fits THEN outcome END AS outcome, CASE WHEN fits THEN error_message END AS error_message)
    FROM (SELECT *, place = 1 OR upto <= ${PART_BYTES} AS fits FROM (${sized}))`;
  return await connection.rows(`SELECT seq, fits, ${RUN_COLUMNS} FROM (${fitting}) ORDER BY place`);
}

function partOf(rows: readonly Row[], agents: Agents): RunsPart {
  return {
    items: rows.filter(({ fits }) => fits === true).map((row) => runSummary(row, agents)),
    rest: rows.filter(({ fits }) => fits !== true).map(({ trace_id: id }) => String(id)),
  };
}
