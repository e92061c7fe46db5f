import { SPANS, SPAN_WIRE, PAYLOADS, selectList, TRACES, TRACE_WIRE } from '../tables.js';
import type { Connection, Row } from './database.js';
import { relation } from './relation.js';
import type { Capture } from './segments.js';
import { TraceState, type SpanRow, type TraceRow } from './trace-state.js';

/** A trace to load, by its id and by the commits that may hold its newest header. */
export interface TraceToLoad {
  readonly id: string;
  readonly seqs: readonly number[];
}

/** Loads one tenant's traces with their spans, without payloads. @returns those that are stored, by trace id */
export async function loadTraces(
  connection: Connection,
  capture: Capture,
  tenant: number,
  wanted: readonly TraceToLoad[],
): Promise<Map<string, TraceState>> {
  const ids = uuidList(wanted.map((trace) => trace.id));
  const seqs = [...new Set(wanted.flatMap((trace) => trace.seqs))].join(', ');
  const headers = await connection.rows(
    `SELECT seq, agent_no, first_seq, last_seq, ${selectList(TRACE_WIRE)} FROM ${relation(capture, TRACES, `tenant = ${tenant} AND seq IN (${seqs}) AND trace_id IN (${ids})`)} ORDER BY seq`,
  );
  // In the order of the commits: one trace's commit may hold an older version of another.
  const states = new Map<string, TraceState>();
  for (const row of headers) {
    const header = pickRow(row, TRACE_WIRE) as TraceRow;
    states.set(
      header.trace_id,
      new TraceState(header, {
        agentNo: Number(row.agent_no),
        storedSeq: Number(row.seq),
        firstSeq: Number(row.first_seq),
        lastSeq: Number(row.last_seq),
      }),
    );
  }
  if (states.size > 0) await loadSpans(connection, capture, tenant, states);
  return states;
}

async function loadSpans(
  connection: Connection,
  capture: Capture,
  tenant: number,
  states: ReadonlyMap<string, TraceState>,
): Promise<void> {
  const where = `tenant = ${tenant} AND trace_id IN (${uuidList([...states.keys()])}) AND ${commitsOf([...states.values()])}`;
  const rows = await connection.rows(
    `SELECT seq, line, ${selectList(SPAN_WIRE)} FROM ${relation(capture, SPANS, where)} ORDER BY seq, line`,
  );
  for (const stored of rows) {
    const row = pickRow(stored, SPAN_WIRE) as SpanRow;
    // In the order of the commits, so that the newest version stays.
    states.get(row.trace_id)?.spans.set(row.span_id, {
      row,
      stored: { seq: Number(stored.seq), line: Number(stored.line) },
      payload: undefined,
      changed: false,
    });
  }
}

/** Reads the payload lines of stored spans of one trace into their states. */
export async function loadPayloads(
  connection: Connection,
  capture: Capture,
  tenant: number,
  state: TraceState,
  spanIds: readonly string[],
): Promise<void> {
  const spans = spanIds
    .flatMap((id) => state.spans.get(id) ?? [])
    .filter((span) => span.payload === undefined);
  const seqs = new Set(spans.flatMap((span) => span.stored?.seq ?? []));
  if (seqs.size === 0) return;
  const lines = await payloadLines(connection, capture, tenant, state.header.trace_id, [...seqs]);
  for (const span of spans) {
    if (span.stored !== null) span.payload = lines.get(span.stored.seq)?.[span.stored.line] ?? '';
  }
}

/** The payload lines that some commits brought for a trace, by commit. */
export async function payloadLines(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  seqs: readonly number[],
): Promise<Map<number, string[]>> {
  const where = `tenant = ${tenant} AND seq IN (${seqs.join(', ')}) AND trace_id = ${uuidList([traceId])}`;
  const rows = await connection.rows(`SELECT seq, lines FROM ${relation(capture, PAYLOADS, where)}`);
  return new Map(rows.map((row) => [Number(row.seq), String(row.lines).split('\n')]));
}

/** Which of these spans of one tenant are stored, whatever their trace: looks through the whole table. */
export async function storedSpans(
  connection: Connection,
  capture: Capture,
  tenant: number,
  spanIds: readonly string[],
): Promise<Set<string>> {
  const where = `tenant = ${tenant} AND span_id IN (${uuidList(spanIds)})`;
  const rows = await connection.rows(`SELECT span_id::VARCHAR AS id FROM ${relation(capture, SPANS, where)}`);
  return new Set(rows.map((row) => String(row.id)));
}

/** A condition on `seq` that lets a scan skip all row groups in which none of these traces has spans. */
function commitsOf(states: readonly TraceState[]): string {
  const single = states.filter((state) => state.firstSeq === state.lastSeq).map((state) => state.firstSeq);
  const ranges = states
    .filter((state) => state.firstSeq !== state.lastSeq)
    .map((state) => `seq BETWEEN ${state.firstSeq} AND ${state.lastSeq}`);
  if (single.length > 0) ranges.push(`seq IN (${[...new Set(single)].join(', ')})`);
  return `(${ranges.join(' OR ')})`;
}

/** For ids that were printed from their binary form, so that there is nothing to escape. */
function uuidList(ids: readonly string[]): string {
  return ids.map((id) => `'${id}'::UUID`).join(', ');
}

function pickRow(row: Row, columns: readonly { readonly name: string }[]): unknown {
  return Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null]));
}
