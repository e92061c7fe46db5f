import { itemAt } from '../../../signal/checked.js';
import { RUN_STATUSES } from '../../../signal/span.js';
import type { JsonObject } from '../../../signal/attributes.js';
import { removedMeanwhile } from '../../contracts/errors.js';
import {
  hasFailed,
  type StoredLoggedEvent,
  loggedEvent,
  EVENT_PAGE_BYTES,
  eventsBySpan,
  fittingSpans,
  SPAN_EVENTS,
  type EventsOfSpans,
} from '../../shared/logged-events.js';
import type {
  DetailedSpan,
  SpanSummary,
  RunSummary,
  StoredScore,
  StoredTrace,
  TraceSummary,
  StoredSpan,
} from '../../contracts/runs.js';
import { hoursOfRun, type StoredMessage } from '../runs/run-facts.js';
import { inTraceOrder, type OrderedSpan } from '../../shared/trace-order.js';
import { textOf, numberOf, spanHeadOfRow } from '../../shared/summaries-of-rows.js';
import { summariesOf, SUMMARY_COLUMNS, type ListParts } from './listed-runs.js';
import { PAGE_TEXTS } from '../../schema/tables.js';
import { PAYLOAD_COLUMNS, SPAN_ROW_COLUMNS } from '../tables/run-tables.js';
import { traceKey } from '../runs/sent-traces.js';
import { readScores } from './score-reads.js';
import type { SpanPosition } from '../../contracts/search.js';
import { HEADER_TEXTS, textsOfHeader, textsOfSpan, type SearchedPage } from '../../shared/run-search.js';
import { uuidIn } from '../client/literals.js';
import { readMessages } from '../runs/stored-facts.js';
import type { Row } from '../client/connection.js';
import { storedCall } from '../../../signal/call-details.js';
import { parseJson } from '../../../signal/json.js';
import { shownNode } from '../runs/node-names.js';
import { payloadOf } from '../runs/run-rows.js';
import type { Reads } from '../client/reads.js';
import { recordsAt } from '../logs/log-condition.js';

/** Limits of a page: spans, and bytes of their payloads and texts. Memory holds a page several times over. */
const PAGE_SPANS = 500;
const PAGE_BYTES = 16 * 1024 * 1024;
const ROW = SPAN_ROW_COLUMNS.map(({ name }) => name).join(', ');
const PAYLOAD = PAYLOAD_COLUMNS.map(({ name }) => name).join(', ');
const SIZE = [...PAYLOAD_COLUMNS.map(({ name }) => name), ...PAGE_TEXTS]
  .map((name) => `length(ifNull(${name}, ''))`)
  .join(' + ');
/** Characters of an input that are read for a summary: more than it shows. */
const BEGINNING = 400;

/** A trace, and the location of its spans. */
interface FoundTrace {
  readonly tenant: number;
  readonly traceId: string;
  readonly summary: RunSummary;
  readonly metadata: JsonObject | null;
  /** SQL conditions for its rows, and for the rows of its spans. */
  readonly there: string;
  readonly where: string;
  /** The order of its last message. */
  readonly last: number;
}

interface PlaceInTrace {
  readonly startedAt: number;
  readonly spanId: string;
}

/** @param details whether the spans include their payloads @returns null for an unknown trace */
export async function readTrace(
  parts: ListParts,
  tenant: number,
  traceId: string,
  details: boolean,
  abort?: AbortSignal,
): Promise<StoredTrace | null> {
  const found = await findTrace(parts, tenant, traceId, abort);
  if (found === null) return null;
  const print = details ? detailedSpan : storedSpan;
  return { ...found.summary, metadata: found.metadata, spans: spansOf(parts, found, print, abort) };
}

/** @param since the order of a message: returns only spans that later messages added or changed */
export async function readSummary(
  parts: ListParts,
  tenant: number,
  traceId: string,
  since: number,
  abort?: AbortSignal,
): Promise<TraceSummary | null> {
  const found = await findTrace(parts, tenant, traceId, abort);
  if (found === null) return null;
  const spans = summaryPages(parts, found, since, abort);
  return { ...found.summary, metadata: found.metadata, seq: found.last, spans };
}

/** The scores of a trace, which may not be stored. */
export async function readTraceScores(
  parts: ListParts,
  tenant: number,
  traceId: string,
  abort?: AbortSignal,
): Promise<readonly StoredScore[]> {
  const found = await findTrace(parts, tenant, traceId, abort);
  return await readScores(parts.reads, { tenant, traceId, spans: found && found.where }, abort);
}

/** @returns null for an unknown trace or span */
export async function readSpan(
  parts: ListParts,
  tenant: number,
  { traceId, spanId }: { readonly traceId: string; readonly spanId: string },
  abort?: AbortSignal,
): Promise<DetailedSpan | null> {
  const found = await findTrace(parts, tenant, traceId, abort);
  if (found === null) return null;
  const [row] = await parts.reads.rows(
    `SELECT ${ROW}, ${PAYLOAD} FROM spans WHERE ${found.where} AND span_id = '${spanId}' ORDER BY ${BEST_FIRST} LIMIT 1`,
    abort,
  );
  if (row === undefined) return null;
  const { events } = await eventsOfSpans(parts.reads, found, lacking([row]), abort);
  return detailedSpan(row, events.get(spanId));
}

/** The effective span is the row with `seq` 0 and the greatest fence, else the row of the first message. */
const BEST_FIRST = 'seq, version DESC';

async function findTrace(
  parts: ListParts,
  tenant: number,
  traceId: string,
  abort: AbortSignal | undefined,
): Promise<FoundTrace | null> {
  const found = await readMessages(parts.reads, [{ tenant, traceId }], abort);
  const messages = found.get(traceKey(tenant, traceId)) ?? [];
  const hours = [...hoursOfRun({ messages })];
  if (hours.length === 0) return null;
  const there = `tenant = ${tenant} AND hour IN (${hours.join(', ')}) AND trace_id = '${traceId}'`;
  const [row] = await parts.reads.rows(
    `SELECT ${SUMMARY_COLUMNS}, metadata FROM runs FINAL WHERE ${there}`,
    abort,
  );
  // Its write is still in progress.
  if (row === undefined) return null;
  const [summary] = await summariesOf(parts.names, tenant, [row]);
  if (summary === undefined) return null;
  return {
    tenant,
    traceId,
    summary,
    metadata: objectOf(textOf(row.metadata)),
    there,
    where: `${there} AND seq IN (0, ${ordersOf(messages).join(', ')})`,
    last: messages.at(-1)?.order ?? 0,
  };
}

/** The orders of messages with spans. */
function ordersOf(messages: readonly StoredMessage[]): number[] {
  return messages.flatMap((message) =>
    message.kind === 'header' && message.spans > 0 ? [message.order] : [],
  );
}

async function* spansOf<Span>(
  parts: ListParts,
  found: FoundTrace,
  print: (row: Row, events?: readonly StoredLoggedEvent[]) => Span,
  abort: AbortSignal | undefined,
): AsyncGenerator<readonly Span[]> {
  let read = 0;
  for (let after: PlaceInTrace | null = null; ;) {
    const places: readonly Row[] = await readPlaces(parts, found, after, abort);
    read += places.length;
    let from = 0;
    while (from < places.length) {
      const some = firstOf(places.slice(from));
      const rows = await readAt(parts, found, some, `${ROW}, ${PAYLOAD}`, abort);
      const { spans, events } = await eventsOfSpans(parts.reads, found, lacking(rows), abort);
      const kept = rows.slice(0, spans);
      yield inTraceOrder(kept, orderOf).map((row) => print(row, events.get(String(row.span_id))));
      const last = kept.length < rows.length ? kept.at(-1)?.span_id : undefined;
      from += last === undefined ? some.length : some.findIndex(({ span_id }) => span_id === last) + 1;
    }
    if (places.length < PAGE_SPANS) break;
    after = placeOf(places.at(-1));
  }
  await checkThere(parts, found, read, abort);
}

/** A page of a trace's spans with their searched texts; at the start also those of its header. Null for an unknown trace. */
export async function searchedSpans(
  parts: ListParts,
  tenant: number,
  traceId: string,
  after: SpanPosition | null,
  abort?: AbortSignal,
): Promise<SearchedPage | null> {
  const found = await findTrace(parts, tenant, traceId, abort);
  if (found === null) return null;
  const { summary, there } = found;
  const [header] =
    after === null
      ? await parts.reads.rows(`SELECT ${HEADER_TEXTS.join(', ')} FROM runs FINAL WHERE ${there}`, abort)
      : [];
  const start = after && { startedAt: after.started_at, spanId: uuidIn(after.span_id) ?? traceId };
  const places = await readPlaces(parts, found, start, abort);
  const some = firstOf(places);
  const columns =
    'span_id, started_at, type, name, model, error_message, input AS input_data, output AS output_data';
  const rows = some.length === 0 ? [] : await readAt(parts, found, some, columns, abort);
  return {
    header: header === undefined ? [] : textsOfHeader(traceId, summary.agent_name, header),
    spans: rows.map((row) => ({
      position: { started_at: Number(row.started_at), span_id: String(row.span_id) },
      texts: textsOfSpan(traceId, row),
    })),
    isLast: places.length < PAGE_SPANS && some.length === places.length,
  };
}

/** The ids of spans that log records may complete with payloads or errors; null for the others. */
function lacking(rows: readonly Row[]): (string | null)[] {
  return rows.map(({ span_id, input, output, status }) =>
    input === null || output === null || hasFailed(itemAt(RUN_STATUSES, Number(status)))
      ? String(span_id)
      : null,
  );
}

async function* summaryPages(
  parts: ListParts,
  found: FoundTrace,
  since: number,
  abort: AbortSignal | undefined,
): AsyncGenerator<readonly SpanSummary[]> {
  const columns = `${ROW}, node, if(input IS NULL, NULL, length(input)) AS input_bytes, if(output IS NULL, NULL, length(output)) AS output_bytes, if(input IS NULL, NULL, substringUTF8(ifNull(input, ''), 1, ${BEGINNING})) AS beginning`;
  const changed = since === 0 ? '' : `HAVING max(greatest(seq, begun_by, completed_by)) > ${since}`;
  let read = 0;
  for (let after: PlaceInTrace | null = null; ;) {
    const places: readonly Row[] = await readPlaces(parts, found, after, abort, changed);
    read += places.length;
    if (places.length > 0) {
      const rows = await readAt(parts, found, places, columns, abort);
      yield inTraceOrder(rows, orderOf).map((row) => spanSummary(row, found.summary.agent_name));
    }
    if (places.length < PAGE_SPANS) break;
    after = placeOf(places.at(-1));
  }
  if (since === 0) await checkThere(parts, found, read, abort);
}

/** Summaries are read without the sent span. */
function orderOf(row: Row): OrderedSpan {
  const { started_at, span_id, parent_span_id, sent } = row;
  const bytes = typeof sent === 'string' ? Buffer.from(sent, 'latin1') : null;
  return { started_at, span_id, parent_span_id, sent: bytes };
}

function placeOf(row: Row | undefined): PlaceInTrace | null {
  return row === undefined ? null : { startedAt: Number(row.start), spanId: String(row.span_id) };
}

/** The spans of the next page by start, then id, with the row and size of each. */
async function readPlaces(
  { reads }: ListParts,
  { where }: FoundTrace,
  after: PlaceInTrace | null,
  abort: AbortSignal | undefined,
  having = '',
): Promise<readonly Row[]> {
  const behind =
    after === null
      ? ''
      : `WHERE (start, toUInt128(span_id)) > (${after.startedAt}, toUInt128(toUUID('${after.spanId}')))`;
  return await reads.rows(
    `SELECT span_id, start, best.1 AS seq, best.2 AS made_by, best.3 AS bytes, best.4 AS hour FROM (
       SELECT span_id, argMin(started_at, (seq, -toInt64(version))) AS start, argMin((seq, version, ${SIZE}, hour), (seq, -toInt64(version))) AS best
       FROM spans WHERE ${where} GROUP BY span_id ${having}
     ) ${behind} ORDER BY start, toUInt128(span_id) LIMIT ${PAGE_SPANS}`,
    abort,
  );
}

/** The places whose spans fit into the memory limit; at least one. */
function firstOf(places: readonly Row[]): readonly Row[] {
  let bytes = 0;
  const beyond = places.findIndex((place, i) => {
    bytes += Number(place.bytes);
    return i > 0 && bytes > PAGE_BYTES;
  });
  return beyond < 0 ? places : places.slice(0, beyond);
}

/**
 * Must be called after the last page.
 *
 * @param read number of spans found
 * @throws ConsumeError `storage_unavailable` if the trace was removed meanwhile, which looks like the end of its spans
 */
async function checkThere(
  { reads }: ListParts,
  { there, summary }: FoundTrace,
  read: number,
  abort: AbortSignal | undefined,
): Promise<void> {
  if (read >= summary.span_count) return;
  const rows = await reads.rows(`SELECT 1 FROM runs FINAL WHERE ${there} LIMIT 1`, abort);
  if (rows.length === 0) throw removedMeanwhile({ what: 'trace', list: 'spans' });
}

/**
 * The rows of spans in the order of their places.
 *
 * @throws ConsumeError `storage_unavailable` if a span was removed meanwhile
 */
async function readAt(
  { reads }: ListParts,
  { tenant, traceId, where }: FoundTrace,
  places: readonly Row[],
  columns: string,
  abort: AbortSignal | undefined,
): Promise<readonly Row[]> {
  const at = places.map(
    (place) =>
      `(${Number(place.hour)}, '${String(place.span_id)}', ${Number(place.seq)}, ${Number(place.made_by)})`,
  );
  const rows = await reads.rows(
    `SELECT ${columns} FROM spans WHERE tenant = ${tenant} AND trace_id = '${traceId}' AND (hour, span_id, seq, version) IN (${at.join(', ')}) LIMIT 1 BY span_id`,
    abort,
  );
  const found = new Map(rows.map((row) => [String(row.span_id), row]));
  const missing = places.map(({ span_id }) => String(span_id)).filter((id) => !found.has(id));
  if (missing.length > 0) {
    // A merge may have removed the row because a write replaced it since.
    const newer = await reads.rows(
      `SELECT ${columns} FROM spans WHERE ${where} AND span_id IN (${missing.map((id) => `'${id}'`).join(', ')}) ORDER BY ${BEST_FIRST} LIMIT 1 BY span_id`,
      abort,
    );
    for (const row of newer) found.set(String(row.span_id), row);
  }
  return places.map(({ span_id }) => {
    const row = found.get(String(span_id));
    if (row === undefined) throw removedMeanwhile({ what: 'trace', list: 'spans' });
    return row;
  });
}

/** UTF-16 units of the input that a summary shows. */
const SHOWN = 200;

/** The first characters of a text, without splitting a surrogate pair. */
function inputBeginning(text: string): string {
  const some = text.slice(0, SHOWN);
  return /[\uD800-\uDBFF]$/.test(some) ? some.slice(0, -1) : some;
}

function headOf(row: Row) {
  return spanHeadOfRow(String(row.trace_id), row);
}

function storedSpan(row: Row, events: readonly StoredLoggedEvent[] = []): StoredSpan {
  return {
    ...headOf(row),
    input_data: objectOf(textOf(row.input)),
    output_data: objectOf(textOf(row.output)),
    ...(events.length > 0 && { events: events.map(loggedEvent) }),
  };
}

function detailedSpan(row: Row, events: readonly StoredLoggedEvent[] = []): DetailedSpan {
  const { sent, origin } = payloadOf(row);
  return {
    ...storedSpan(row, events),
    details: {
      call: storedCall(textOf(row.call_details)),
      metadata: objectOf(textOf(row.metadata)),
      sent: sent === null || origin === null ? null : { bytes: sent, origin },
    },
  };
}

function spanSummary(row: Row, agentName: string): SpanSummary {
  const beginning = textOf(row.beginning);
  return {
    node: shownNode(String(row.node), agentName),
    input_bytes: numberOf(row.input_bytes),
    output_bytes: numberOf(row.output_bytes),
    preview: beginning === null ? null : inputBeginning(beginning),
    ...headOf(row),
  };
}

function objectOf(json: string | null): JsonObject | null {
  return json === null ? null : (parseJson(json) as JsonObject);
}

/**
 * The GenAI events among the log records of some spans of a trace.
 *
 * @param spans in their order; null entries are skipped
 */
async function eventsOfSpans(
  reads: Reads,
  { tenant, traceId }: { readonly tenant: number; readonly traceId: string },
  spans: readonly (string | null)[],
  abort?: AbortSignal,
): Promise<EventsOfSpans> {
  const none = { spans: spans.length, events: new Map() };
  const wanted = spans.filter((id) => id !== null);
  if (wanted.length === 0) return none;
  const of = (ids: readonly string[]): string =>
    `logged_events FINAL WHERE tenant = ${String(tenant)} AND trace_id = '${traceId}' AND span_id IN (${ids.map((id) => `'${id}'`).join(', ')})`;
  const sized = await reads.rows(
    `SELECT span_id, count() AS events, sum(bytes) AS all_bytes FROM ${of(wanted)} GROUP BY span_id`,
    abort,
  );
  if (sized.length === 0) return none;
  const sizes = new Map(
    sized.map((row) => [String(row.span_id), { events: Number(row.events), bytes: Number(row.all_bytes) }]),
  );
  const count = fittingSpans(spans, sizes);
  const ids = spans.slice(0, count).filter((id) => id !== null && sizes.has(id));
  if (ids.length === 0) return { spans: count, events: new Map() };
  const newest = await reads.rows(
    `SELECT id, timestamp FROM (SELECT span_id, id, timestamp, row_number() OVER newest_first AS place, sum(bytes) OVER newest_first AS held FROM ${of(ids.filter((id) => id !== null))}
       WINDOW newest_first AS (PARTITION BY span_id ORDER BY timestamp DESC, toUInt128(id) DESC ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW))
     WHERE place <= ${String(SPAN_EVENTS)} AND (place = 1 OR held <= ${String(EVENT_PAGE_BYTES)})`,
    abort,
  );
  const places = newest.map((row) => ({ id: String(row.id), timestamp: Number(row.timestamp) }));
  const records = await reads.rows(
    `SELECT span_id, id, timestamp, event_name, body, attributes FROM logs WHERE ${recordsAt(tenant, places)}`,
    abort,
  );
  return { spans: count, events: eventsBySpan(records) };
}
