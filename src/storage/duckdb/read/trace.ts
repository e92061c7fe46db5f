import type { StoredLoggedEvent } from '../../shared/logged-events.js';
import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { JsonObject } from '../../../signal/attributes.js';
import { NO_PAYLOAD, type Payload } from '../../../runs/rules/payload.js';
import type { StoredTrace } from '../../contracts/runs.js';
import { selectList } from '../../schema/table.js';
import { PAGE_TEXTS, SPANS, SPAN_WIRE, TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import type { Row, Value } from '../files/plain-rows.js';
import { conditionsOn, narrowed, ofCommits, type CommitRanges } from '../segments/commit-ranges.js';
import { newest, relation } from '../segments/relation.js';
import { onLines, placeKey, placeOf } from '../segments/line-places.js';
import type { Capture } from '../segments/segment.js';
import type { ParallelPart } from '../segments/connection-pool.js';
import { FEW_SPANS, firstPayloads, piecesOf } from '../write/payloads.js';
import { COMMITS, commitsAt } from '../write/stored-traces.js';
import { runSummary, RUN_COLUMNS } from '../write/run-summary.js';
import type { Agents } from '../stats/agents.js';
import { parseJson } from '../../../signal/json.js';

/** Metadata key of a truncated run: the number of spans that its header includes. */
const FOLLOWED_SPANS = 'jackdaw.followed_spans';
/** Spans on one page, which takes a few milliseconds. */
const PAGE_SPANS = 500;
/**
 * Bytes of payloads, and of other texts, on one page; memory holds several pages. Smaller pages would cost as much: for one
 * packed row of payloads DuckDB unpacks up to 2048 rows.
 */
const PAGE_BYTES = 16 * 1024 * 1024;
const TEXT_BYTES = PAGE_TEXTS.map((name) => `coalesce(strlen(${name}), 0)`).join(' + ');
/** Longer texts are cut. Most texts are shorter, and a page of spans with texts of this length fits into memory. */
const CUT_CHARACTERS = 8192;
const NOT_SHOWN: readonly string[] = [
  'trace_id',
  'agent_source',
  'agent_name',
  'run_kind',
  'context',
  'derived',
  'call_key',
  'counted',
];
/** The columns of a span that are shown. */
export const SHOWN = SPAN_WIRE.filter(({ name }) => !NOT_SHOWN.includes(name));
const CUT_TEXTS = PAGE_TEXTS.map((name) => `left(${name}, ${CUT_CHARACTERS}) AS ${name}`).join(', ');

/** Where a page of a trace's spans begins. */
export interface SpanCursor {
  readonly traceId: string;
  /** The last span of the page before; null at the start. */
  readonly after: { readonly startedAt: number; readonly spanId: string } | null;
  /** Only spans added or changed after this commit. */
  readonly since?: number;
  /** Maximum number of spans on a page. */
  readonly most?: number;
}

/** A span of a page with its payload. */
export interface SpanOnPage {
  readonly row: Row;
  readonly payload: Payload;
  /** GenAI events from log records, if the span's payload is incomplete and there are any. */
  readonly events?: readonly StoredLoggedEvent[];
}

/** The spans of a page with their payloads. */
export interface SpanRows {
  readonly spans: readonly SpanOnPage[];
  readonly next: SpanCursor | null;
}

/** Where to look for a trace's spans. */
export interface SpansOfTrace {
  readonly commits: CommitRanges;
  /** The number of spans; Infinity if it was not read. */
  readonly count: number;
}

/** @param seq the commit that holds the trace's newest header */
export async function readHeader(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  traceId: string,
  seq: number,
): Promise<{ trace: Omit<StoredTrace, 'spans'>; spans: SpansOfTrace } | null> {
  const row = await newestHeader(
    connection,
    capture,
    tenant,
    traceId,
    seq,
    `${RUN_COLUMNS}, metadata, closed`,
  );
  if (row === undefined) return null;
  return {
    trace: { ...runSummary(row, agents), metadata: metadataOf(row) },
    spans: { commits: commitsAt(row), count: Number(row.span_count) },
  };
}

/**
 * The place of the remaining spans of a trace.
 *
 * @param seq as in {@link readHeader}
 * @returns null if the trace is gone
 */
export async function readCommits(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  seq: number,
): Promise<SpansOfTrace | null> {
  const row = await newestHeader(connection, capture, tenant, traceId, seq, 'seq');
  return row === undefined ? null : { commits: commitsAt(row), count: Infinity };
}

async function newestHeader(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  seq: number,
  columns: string,
): Promise<Row | undefined> {
  const where = narrowed(ofCommits([seq]), `tenant = ${tenant} AND trace_id = '${traceId}'::UUID`);
  const [row] = await connection.rows(
    `SELECT ${columns}, ${COMMITS} FROM ${relation(capture, TRACES, where)}`,
  );
  return row;
}

/**
 * A page of a trace's spans, in the order of `started_at`, then `span_id`.
 *
 * @param runParallel reads the payloads of a trace with few spans in parallel with its spans: in a large store both lookups take
 *   equally long
 */
export async function readSpanRows(
  connection: Connection,
  capture: Capture,
  tenant: number,
  cursor: SpanCursor,
  where: SpansOfTrace,
  runParallel: ParallelPart,
): Promise<SpanRows> {
  const { traceId, after, since = 0, most = PAGE_SPANS } = cursor;
  const [{ found, onPage }, pieces] = await both(
    pageRows(connection, capture, tenant, cursor, where),
    after === null && since === 0 && where.count <= FEW_SPANS
      ? runParallel((other) => piecesOf(other, capture, tenant, traceId, conditionsOn([where.commits]), true))
      : null,
  );
  const places = found.map(placeOf);
  const areAll = after === null && since === 0 && onPage < most && onPage === places.length;
  const of = { places, areAll, pieces };
  const payloads = await firstPayloads(connection, capture, tenant, traceId, of, PAGE_BYTES);
  await yieldToOthers();
  const rows = found.slice(0, payloads.spans);
  const spans = rows.map((row) => {
    const { seq, line } = placeOf(row);
    return { row, payload: payloads.lines.get(seq)?.get(line) ?? NO_PAYLOAD };
  });
  const isFull = onPage === most || rows.length < onPage;
  return { spans, next: isFull ? cursorBehind(cursor, rows.at(-1)) : null };
}

/** The cursor of the page after a span. */
export function cursorBehind(cursor: SpanCursor, last: Row | undefined): SpanCursor | null {
  if (last === undefined) return null;
  return { ...cursor, after: { startedAt: Number(last.started_at), spanId: String(last.span_id) } };
}

/** Waits for both, even if one fails. @throws what one of them throws */
async function both<One, Other>(
  one: Promise<One>,
  other: Promise<Other> | null,
): Promise<[One, Other | null]> {
  await Promise.allSettled([one, other]);
  return [await one, await other];
}

/**
 * The spans of a page, up to {@link PAGE_BYTES} of texts but at least one. DuckDB sorts rows with cut texts; then the full texts
 * of the returned spans are read.
 *
 * @returns the spans, and how many the page would have without the byte limit
 */
async function pageRows(
  connection: Connection,
  capture: Capture,
  tenant: number,
  { traceId, after, since = 0, most = PAGE_SPANS }: SpanCursor,
  { commits, count }: SpansOfTrace,
): Promise<{ found: Row[]; onPage: number }> {
  const isOfTrace = `tenant = ${tenant} AND trace_id = '${traceId}'::UUID`;
  // Repeated in each scan, so that it skips earlier rows.
  const from = after === null ? '' : ` AND started_at >= make_timestamp(${after.startedAt})`;
  const changed = since === 0 ? '' : ` AND seq > ${since}`;
  const later =
    after === null
      ? ''
      : ` WHERE (started_at, span_id) > (make_timestamp(${after.startedAt}), '${after.spanId}'::UUID)`;
  const where = conditionsOn([commits]).map((seqs) => narrowed(seqs, `${isOfTrace}${from}${changed}`));
  const cut = `SELECT * REPLACE (${CUT_TEXTS}), ${TEXT_BYTES} AS text_bytes FROM ${newest(capture, SPANS, where)}${later}`;
  const columns = `SELECT seq, line, node_no, text_bytes, ${selectList(SHOWN)}`;
  const order = 'ORDER BY started_at, span_id';
  // For a few spans, planning an ORDER BY takes DuckDB longer than reading them.
  const rows =
    count <= most
      ? (await connection.rows(`${columns} FROM (${cut})`)).sort(byStart)
      : await connection.rows(`${columns} FROM (SELECT * FROM (${cut}) ${order} LIMIT ${most}) ${order}`);
  const found: Row[] = [];
  let bytes = 0;
  for (const row of rows) {
    bytes += Number(row.text_bytes);
    if (found.length > 0 && bytes > PAGE_BYTES) break;
    found.push(row);
  }
  const long = new Map(found.filter(isCut).map((row) => [placeKey(placeOf(row)), row]));
  if (long.size > 0) {
    const there = narrowed(onLines('line', [...long.values()].map(placeOf)), isOfTrace);
    const whole = `SELECT seq, line, ${PAGE_TEXTS.join(', ')} FROM ${relation(capture, SPANS, there)}`;
    for (const row of await connection.rows(whole))
      Object.assign(long.get(placeKey(placeOf(row))) ?? {}, row);
  }
  return { found, onPage: rows.length };
}

/** UUIDs as text sort in the same order as in DuckDB. */
function byStart(a: Row, b: Row): number {
  return Number(a.started_at) - Number(b.started_at) || (String(a.span_id) < String(b.span_id) ? -1 : 1);
}

/** Whether a text of a span may have been cut. */
function isCut(row: Row): boolean {
  return PAGE_TEXTS.some((name) => String(row[name] ?? '').length >= CUT_CHARACTERS);
}

/** The metadata as received, plus {@link FOLLOWED_SPANS} if the run is truncated. */
function metadataOf({ metadata, closed }: Row): JsonObject | null {
  const sent = parseObject(metadata);
  const summary = parseObject(closed);
  return summary === null ? sent : { ...sent, [FOLLOWED_SPANS]: summary.followed ?? null };
}

function parseObject(text: Value | undefined): JsonObject | null {
  return typeof text === 'string' ? (parseJson(text) as JsonObject) : null;
}
