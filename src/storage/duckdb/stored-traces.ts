import { selectList } from '../table.js';
import { SPANS, SPAN_WIRE, TRACES, TRACE_WIRE } from '../tables.js';
import type { Agents } from './agents.js';
import type { Connection, Row, Value } from './connection.js';
import { CommitRanges, conditionsOn } from './commit-ranges.js';
import { firstPayloads } from './payloads.js';
import { relation } from './relation.js';
import type { Capture } from './segment.js';
import { pickRow, spanStateOf } from './stored-rows.js';
import { FACT_COLUMNS } from './trace-rows.js';
import { ClosedSpans } from './spans/closed-spans.js';
import { loadManySpans } from './spans/load-many-spans.js';
import type { SpanState } from './spans/span-state.js';
import type { RunSize } from './spans/run-size.js';
import { spansOf } from './spans/spans-of.js';
import { TraceState } from './trace-state.js';

/** The columns of a header that say in which commits its trace's spans lie. */
export const COMMITS = 'first_seq, last_seq, commits';

/** A trace to load, by its id and by the commits that may hold its newest header. */
export interface TraceToLoad {
  readonly id: string;
  readonly seqs: readonly number[];
}

/** A trace as its newest header says it is. */
export interface StoredTrace {
  /** Without its spans, where it is not closed. */
  readonly state: TraceState;
  /** How many it has. */
  readonly spans: number;
}

/** Loads the headers of one tenant's traces. @returns those that are stored, by trace id */
export async function loadHeaders(
  connection: Connection,
  capture: Capture,
  agents: Agents,
  tenant: number,
  wanted: readonly TraceToLoad[],
  size: RunSize,
): Promise<Map<string, StoredTrace>> {
  const ids = uuidList(wanted.map((trace) => trace.id));
  const seqs = [...new Set(wanted.flatMap((trace) => trace.seqs))].join(', ');
  const headers = await connection.rows(
    `SELECT seq, agent_no, span_count, closed_seq, closed, ${COMMITS}, is_mapped, has_ended, epoch_us(heard_at) AS heard_at, ${selectList(TRACE_WIRE)} FROM ${relation(capture, TRACES, `tenant = ${tenant} AND seq IN (${seqs}) AND trace_id IN (${ids})`)} ORDER BY seq`,
  );
  // In the order of the commits: one trace's commit may hold an older version of another.
  const found = new Map<string, StoredTrace>();
  for (const row of headers) {
    const header = pickRow(row, TRACE_WIRE);
    const agentNo = Number(row.agent_no);
    const agent = agents.byNumber(agentNo)?.name ?? '';
    const place = {
      heardAt: Number(row.heard_at),
      stored: { seq: Number(row.seq), agentNo, header },
      commits: commitsAt(row),
      isMapped: row.is_mapped === true,
      hasEnded: row.has_ended === true,
    };
    const state = new TraceState({ header, agent }, place, size);
    const spans = Number(row.span_count);
    found.set(header.trace_id, { state, spans });
    if (typeof row.closed !== 'string') continue;
    const { error_message: error } = header;
    const [closedSeq, printed] = [Number(row.closed_seq), row.closed];
    state.spans = ClosedSpans.stored({ size: spans, closedSeq, printed, agent, error });
  }
  return found;
}

/** Loads the spans of one tenant's traces into their states, without payloads. */
export async function loadSpansOf(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traces: readonly StoredTrace[],
  size: RunSize,
): Promise<void> {
  const few = new Map<string, TraceState>();
  for (const { state, spans } of traces) if (spans <= size.few) few.set(state.header.trace_id, state);
  if (few.size > 0) await loadSpans(connection, capture, tenant, few, size);
  for (const { state, spans } of traces) {
    if (spans <= size.few) continue;
    const { header, commits } = state;
    state.spans = await loadManySpans(connection, capture, tenant, header.trace_id, commits);
  }
}

async function loadSpans(
  connection: Connection,
  capture: Capture,
  tenant: number,
  states: ReadonlyMap<string, TraceState>,
  size: RunSize,
): Promise<void> {
  const places = [...states.values()].map(({ commits }) => commits);
  const where = conditionsOn(places).map(
    (commits) => `tenant = ${tenant} AND trace_id IN (${uuidList([...states.keys()])}) AND ${commits}`,
  );
  const rows = await connection.rows(
    `SELECT trace_id::VARCHAR AS trace_id, seq, line, node_no, ${selectList(FACT_COLUMNS)} FROM ${relation(capture, SPANS, where)} ORDER BY seq, line`,
  );
  const found = new Map<string, Map<string, SpanState>>();
  for (const stored of rows) {
    const span = spanStateOf(stored, pickRow(stored, FACT_COLUMNS));
    const traceId = String(stored.trace_id);
    const spans = found.get(traceId) ?? new Map<string, SpanState>();
    found.set(traceId, spans);
    // In the order of the commits, so that the newest version stays.
    spans.set(span.span_id, span);
  }
  for (const [traceId, spans] of found) {
    const state = states.get(traceId);
    if (state !== undefined) state.spans = spansOf([...spans.values()], size);
  }
}

/**
 * Reads what is left of stored spans of one trace into their states: their rows, and their lines of the payload.
 *
 * @param maxBytes of payloads: where they are longer only the first of the spans are read, but one at least
 * @returns of how many keys, from the first on, that is done, and how many bytes of payloads were read
 */
export async function loadWhole(
  connection: Connection,
  capture: Capture,
  tenant: number,
  state: TraceState,
  spanKeys: readonly string[],
  maxBytes: number,
): Promise<{ readonly keys: number; readonly bytes: number }> {
  const wanted = spanKeys
    .flatMap((key) => state.find(key) ?? [])
    .filter((span) => span.row === undefined && span.seq > 0);
  if (wanted.length === 0) return { keys: spanKeys.length, bytes: 0 };
  const of = { places: wanted, areAll: state.spans.size === wanted.length };
  const traceId = state.header.trace_id;
  const payloads = await firstPayloads(connection, capture, tenant, traceId, of, maxBytes);
  const spans = wanted.slice(0, payloads.spans);
  const seqs = [...new Set(spans.map(({ seq }) => seq))];
  const where = `tenant = ${tenant} AND seq IN (${seqs.join(', ')}) AND trace_id = ${uuidList([traceId])}`;
  const rows = await connection.rows(
    `SELECT seq, line, ${selectList(SPAN_WIRE)} FROM ${relation(capture, SPANS, where)}`,
  );
  const wholes = new Map(rows.map((row) => [placeOf(row), pickRow(row, SPAN_WIRE)]));
  for (const span of spans) {
    span.row = wholes.get(placeOf(span));
    span.payload = payloads.lines.get(span.seq)?.get(span.line) ?? '';
  }
  const next = wanted[payloads.spans];
  const keys = next === undefined ? spanKeys.length : spanKeys.indexOf(next.span_id);
  return { keys, bytes: payloads.bytes };
}

function placeOf({ seq, line }: { readonly seq?: Value; readonly line?: Value }): string {
  return `${Number(seq)}/${Number(line)}`;
}

/** @param row with the columns of {@link COMMITS} */
export function commitsAt(row: Row): CommitRanges {
  const { first_seq: first, last_seq: last, commits } = row;
  return CommitRanges.stored({
    first: Number(first),
    last: Number(last),
    printed: typeof commits === 'string' ? commits : null,
  });
}

/** For ids that were printed from their binary form, so that there is nothing to escape. */
function uuidList(ids: readonly string[]): string {
  return ids.map((id) => `'${id}'::UUID`).join(', ');
}
