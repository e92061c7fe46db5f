import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { JsonObject } from '../../../signal/attributes.js';
import { moneyToNumber } from '../../../signal/money.js';
import { RUN_STATUSES, SPAN_TYPES } from '../../../signal/span.js';
import { formatTime } from '../../../signal/time.js';
import type { StoredTrace } from '../../telemetry-store.js';
import { selectList } from '../../table.js';
import { SPANS, SPAN_WIRE, TRACES } from '../../tables.js';
import type { Connection, Row, Value } from '../connection.js';
import { conditionsOn, type CommitRanges } from '../commit-ranges.js';
import { newest, relation } from '../relation.js';
import type { Capture } from '../segment.js';
import { firstPayloads } from '../payloads.js';
import { COMMITS, commitsAt } from '../stored-traces.js';
import { runSummary, RUN_COLUMNS } from './run-summary.js';
import type { Agents } from '../agents.js';
import { parseJson } from '../../../signal/json.js';

/** Of a run with more spans than its header follows, the key in its metadata that says how many that are. */
const FOLLOWED_SPANS = 'jackdaw.followed_spans';
/** Spans of one page: as many as are made in a few milliseconds. */
const PAGE_SPANS = 500;
/**
 * And as much of their payloads, and of their other texts, as may be held in memory several times over. Not less: to read one
 * packed row of payloads DuckDB unpacks up to 2048, so that each page of middling ones costs as much as many.
 */
const PAGE_BYTES = 16 * 1024 * 1024;
/** Texts of a span that may be long, beside its payload. */
const TEXT_BYTES = 'strlen(name) + coalesce(strlen(model), 0) + coalesce(strlen(error_message), 0)';

/** Where a page of a trace's spans begins. */
export interface SpanCursor {
  readonly traceId: string;
  /** The last span of the page before; null at the start. */
  readonly after: { readonly startedAt: number; readonly spanId: string } | null;
}

export interface SpanPage {
  /** Spans as JSON with commas between them. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly next: SpanCursor | null;
}

/** @param seqs the commits that may hold the trace's newest header */
export async function readHeader(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  traceId: string,
  seqs: readonly number[],
): Promise<{ trace: Omit<StoredTrace, 'spans'>; commits: CommitRanges } | null> {
  const row = await newestHeader(
    connection,
    capture,
    tenant,
    traceId,
    seqs,
    `${RUN_COLUMNS}, metadata, closed`,
  );
  if (row === undefined) return null;
  return {
    trace: { ...runSummary(row, agents), metadata: metadataOf(row) },
    commits: commitsAt(row),
  };
}

/** Where a trace's spans lie now. @param seqs as of {@link readHeader}. @returns null when the trace is gone */
export async function readCommits(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  seqs: readonly number[],
): Promise<CommitRanges | null> {
  const row = await newestHeader(connection, capture, tenant, traceId, seqs, 'seq');
  return row === undefined ? null : commitsAt(row);
}

async function newestHeader(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  seqs: readonly number[],
  columns: string,
): Promise<Row | undefined> {
  if (seqs.length === 0) return undefined;
  const where = `tenant = ${tenant} AND seq IN (${seqs.join(', ')}) AND trace_id = '${traceId}'::UUID`;
  const [row] = await connection.rows(
    `SELECT ${columns}, ${COMMITS} FROM ${relation(capture, TRACES, where)} ORDER BY seq DESC LIMIT 1`,
  );
  return row;
}

/** A page of a trace's spans, in the order of `started_at`, then `span_id`. */
export async function readSpans(
  connection: Connection,
  capture: Capture,
  tenant: number,
  { traceId, after }: SpanCursor,
  commits: CommitRanges,
): Promise<SpanPage> {
  // Once more in the scans, so that they skip what comes before.
  const from = after === null ? '' : ` AND started_at >= make_timestamp(${after.startedAt})`;
  const later =
    after === null
      ? ''
      : ` WHERE (started_at, span_id) > (make_timestamp(${after.startedAt}), '${after.spanId}'::UUID)`;
  const where = conditionsOn([commits]).map(
    (seqs) => `tenant = ${tenant} AND ${seqs} AND trace_id = '${traceId}'::UUID${from}`,
  );
  const inOrder = '(ORDER BY started_at, span_id ROWS UNBOUNDED PRECEDING)';
  const page = `SELECT *, count(*) OVER () AS on_page, sum(${TEXT_BYTES}) OVER ${inOrder} AS text_bytes, row_number() OVER ${inOrder} AS place
    FROM (SELECT * FROM ${newest(capture, SPANS, where)}${later} ORDER BY started_at, span_id LIMIT ${PAGE_SPANS})`;
  const found = await connection.rows(
    `SELECT seq, line, on_page::INTEGER AS on_page, ${selectList(SPAN_WIRE)} FROM (${page}) WHERE place = 1 OR text_bytes <= ${PAGE_BYTES} ORDER BY started_at, span_id`,
  );
  const onPage = Number(found[0]?.on_page ?? 0);
  const places = found.map((row) => ({ seq: Number(row.seq), line: Number(row.line) }));
  const areAll = after === null && onPage < PAGE_SPANS && onPage === places.length;
  const of = { places, areAll };
  const payloads = await firstPayloads(connection, capture, tenant, traceId, of, PAGE_BYTES);
  await yieldToOthers();
  const rows = found.slice(0, payloads.spans);
  const texts = rows.map((row) =>
    spanJson(row, payloads.lines.get(Number(row.seq))?.get(Number(row.line)) ?? ''),
  );
  const last = rows.at(-1);
  const isFull = (onPage === PAGE_SPANS || rows.length < onPage) && last !== undefined;
  return {
    json: new TextEncoder().encode(texts.join(',')),
    next: isFull
      ? { traceId, after: { startedAt: Number(last.started_at), spanId: String(last.span_id) } }
      : null,
  };
}

/** A span as the API shows it; its payload's JSON is passed on as it was stored. */
function spanJson(row: Row, payload: string): string {
  const [input = '', output = ''] = payload.split('\t');
  const head = JSON.stringify({
    span_id: row.span_id,
    trace_id: row.trace_id,
    parent_span_id: row.parent_span_id,
    type: SPAN_TYPES[Number(row.type)],
    name: row.name,
    status: RUN_STATUSES[Number(row.status)],
    started_at: formatTime(Number(row.started_at)),
    ended_at: row.ended_at === null ? null : formatTime(Number(row.ended_at)),
    duration_ms: row.duration_ms,
    model: row.model,
    input_tokens: row.input_tokens,
    output_tokens: row.output_tokens,
    total_tokens: row.total_tokens,
    cost_usd: row.cost_usd === null ? null : moneyToNumber(Number(row.cost_usd)),
    error_message: row.error_message,
  });
  return `${head.slice(0, -1)},"input_data":${input || 'null'},"output_data":${output || 'null'}}`;
}

/** What was sent, and how many spans the header follows where there are more. */
function metadataOf({ metadata, closed }: Row): JsonObject | null {
  const sent = parseObject(metadata);
  const summary = parseObject(closed);
  return summary === null ? sent : { ...sent, [FOLLOWED_SPANS]: summary.followed ?? null };
}

function parseObject(text: Value | undefined): JsonObject | null {
  return typeof text === 'string' ? (parseJson(text) as JsonObject) : null;
}
