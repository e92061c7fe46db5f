import { hourOf } from '../../../signal/trace-map.js';
import type { FollowingRuns, FoundRuns, RunFilter, RunCursor, RunSummary } from '../../contracts/runs.js';
import { numberOf, summaryOfRow } from '../../shared/summaries-of-rows.js';
import type { PageRange } from '../../contracts/paging.js';
import type { AgentNames } from '../names/agent-names.js';
import { behind, conditions, orderOf } from './run-conditions.js';
import type { Row } from '../client/connection.js';
import type { Reads } from '../client/reads.js';

/** Maximum bytes of texts in memory at a time. */
const PART_BYTES = 16 * 1024 * 1024;
/** Runs read at a time for another order; each has texts of up to some 64 KiB. */
const IN_ORDER = 100;
const SUMMARY =
  'trace_id, agent_no, kind, session_id, user_id, tags, environment, release, agent_version, repository, status, started_at, ended_at, duration_ms, success, outcome, error_message, total_tokens, total_cost_usd, sample_rate, span_count';
const BYTES = "length(ifNull(outcome, '')) + length(ifNull(error_message, ''))";

/** A run of a list: its place and the length of its texts. */
export interface ListedRun {
  readonly traceId: string;
  readonly startedAt: number;
  readonly bytes: number;
  readonly value: number | null;
}

/** Dependencies for reading lists of runs. */
export interface ListParts {
  readonly reads: Reads;
  readonly names: Pick<AgentNames, 'of'>;
}

/** A page of the runs that match a filter, and how many do. */
export async function listRuns(
  parts: ListParts,
  tenant: number,
  filter: RunFilter,
  { offset, limit }: PageRange,
  abort?: AbortSignal,
): Promise<FoundRuns> {
  const where = conditions(await parts.names.of(tenant), tenant, filter);
  if (where === null) return { items: [], count: 0 };
  const [counted, listed] = await Promise.all([
    parts.reads.rows(`SELECT count() AS runs FROM runs FINAL WHERE ${where}`, abort),
    readPlaces(parts.reads, where, filter, `LIMIT ${limit} OFFSET ${offset}`, abort),
  ]);
  const count = Number(counted[0]?.runs);
  return { count, ...(await runsOf(parts, tenant, listed, abort)) };
}

/** The runs of a list after a cursor. @param also an additional SQL condition */
export async function listRunsAfter(
  parts: ListParts,
  tenant: number,
  filter: RunFilter,
  { after, limit, also }: { readonly after: RunCursor | null; readonly limit: number; readonly also: string },
  abort?: AbortSignal,
): Promise<FollowingRuns> {
  const where = conditions(await parts.names.of(tenant), tenant, filter);
  if (where === null) return { items: [], next: null };
  const all = `${where} AND ${behind(filter, after)} AND ${also}`;
  // One extra row shows whether others follow.
  const listed = await readPlaces(parts.reads, all, filter, `LIMIT ${limit + 1}`, abort);
  const last = listed.length > limit ? listed[limit - 1] : undefined;
  const next =
    last === undefined ? null : { trace_id: last.traceId, started_at: last.startedAt, value: last.value };
  return { ...(await runsOf(parts, tenant, listed.slice(0, limit), abort)), next };
}

export async function readPlaces(
  reads: Reads,
  where: string,
  filter: RunFilter,
  range: string,
  abort: AbortSignal | undefined,
): Promise<ListedRun[]> {
  const value = filter.sort ?? 'NULL';
  const rows = await reads.rows(
    `SELECT trace_id, started_at, ${BYTES} AS bytes, ${value} AS value FROM runs FINAL WHERE ${where} ORDER BY ${orderOf(filter)} ${range}`,
    abort,
  );
  return rows.map((row) => ({
    traceId: String(row.trace_id),
    startedAt: Number(row.started_at),
    bytes: Number(row.bytes),
    value: numberOf(row.value),
  }));
}

/** The first runs up to the memory limit, and the others in pages. */
async function runsOf(
  parts: ListParts,
  tenant: number,
  listed: readonly ListedRun[],
  abort: AbortSignal | undefined,
): Promise<Pick<FoundRuns, 'items' | 'rest'>> {
  const first = firstPart(listed);
  const items = await readRuns(parts, tenant, listed.slice(0, first), abort);
  const rest = listed.slice(first);
  if (rest.length === 0) return { items };
  return { items, rest: { runs: rest.length, pages: pagesOf(parts, tenant, rest, abort) } };
}

async function* pagesOf(
  parts: ListParts,
  tenant: number,
  listed: readonly ListedRun[],
  abort: AbortSignal | undefined,
): AsyncGenerator<readonly RunSummary[]> {
  for (let rest = listed; rest.length > 0;) {
    const count = firstPart(rest);
    yield await readRuns(parts, tenant, rest.slice(0, count), abort);
    rest = rest.slice(count);
  }
}

/** How many of the first runs fit into the memory limit; at least one. */
function firstPart(listed: readonly ListedRun[]): number {
  let bytes = 0;
  const beyond = listed.findIndex((run, i) => {
    bytes += run.bytes;
    return i > 0 && bytes > PART_BYTES;
  });
  return beyond < 0 ? listed.length : beyond;
}

/** Runs by their places, in that order; removed runs are skipped. */
async function readRuns(
  { reads, names }: ListParts,
  tenant: number,
  listed: readonly ListedRun[],
  abort: AbortSignal | undefined,
): Promise<RunSummary[]> {
  if (listed.length === 0) return [];
  const places = listed.map(({ traceId, startedAt }) => `(${tenant}, ${hourOf(startedAt)}, '${traceId}')`);
  const rows = await reads.rows(
    `SELECT ${SUMMARY} FROM runs FINAL WHERE (tenant, hour, trace_id) IN (${places.join(', ')})`,
    abort,
  );
  const summaries = new Map((await summariesOf(names, tenant, rows)).map((run) => [run.trace_id, run]));
  return listed.flatMap(({ traceId }) => summaries.get(traceId) ?? []);
}

/** Runs by id, in pages within the memory limit; unknown ids are skipped. */
export async function* findRuns(
  parts: ListParts,
  tenant: number,
  traceIds: readonly string[],
  abort?: AbortSignal,
): AsyncGenerator<readonly RunSummary[]> {
  if (traceIds.length === 0) return;
  const ids = traceIds.map((id) => `'${id}'`).join(', ');
  const where = `tenant = ${tenant} AND trace_id IN (${ids}) AND hour IN (${hoursOf(tenant, ids)})`;
  yield* pagesOf(parts, tenant, await readPlaces(parts.reads, where, {}, '', abort), abort);
}

/** The same in the order of the ids. */
export async function* runsInOrder(
  parts: ListParts,
  tenant: number,
  traceIds: readonly string[],
  abort?: AbortSignal,
): AsyncGenerator<readonly RunSummary[]> {
  for (let at = 0; at < traceIds.length; at += IN_ORDER) {
    const ids = traceIds.slice(at, at + IN_ORDER);
    const found = new Map<string, RunSummary>();
    for await (const page of findRuns(parts, tenant, ids, abort))
      for (const run of page) found.set(run.trace_id, run);
    yield ids.flatMap((id) => found.get(id) ?? []);
  }
}

/** SQL for the hours whose rows may contain the runs. @param ids in SQL */
export function hoursOf(tenant: number, ids: string): string {
  return `SELECT arrayJoin(hours) FROM messages WHERE tenant = ${tenant} AND trace_id IN (${ids})`;
}

/** @param rows with the columns {@link SUMMARY} */
export async function summariesOf(
  names: Pick<AgentNames, 'of'>,
  tenant: number,
  rows: readonly Row[],
): Promise<RunSummary[]> {
  const agents = await names.of(tenant, new Set(rows.map((row) => Number(row.agent_no))));
  return rows.map((row) => summaryOfRow(row, agents.byNumber(Number(row.agent_no))));
}

/** The columns of a summary. */
export const SUMMARY_COLUMNS = SUMMARY;
