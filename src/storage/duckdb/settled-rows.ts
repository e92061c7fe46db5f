import { ColumnsReader, ColumnsWriter, encodeRows } from '../../worker/columns.js';
import { TextScratch } from '../../worker/text-scratch.js';
import { AGENTS, PAYLOADS, SPANS, TRACES, type Table } from '../tables.js';
import type { Agent } from './agents.js';
import type { SpanRow, SpanState, TraceRow, TraceState } from './trace-state.js';
import { PAYLOAD, type IncomingBatch, type Rows } from './write-group.js';

/** What a commit writes of a trace that was touched. */
export interface TouchedRows {
  readonly tenant: number;
  readonly state: TraceState;
  readonly spans: readonly SpanState[];
  readonly writesHeader: boolean;
}

/**
 * The rows of traces that are new as a whole: they go from the sender's columns into the tables as they are.
 *
 * @param traces positions in the batch, ascending
 * @param agentNo of a trace of the batch
 */
export function wholeRows(
  seq: number,
  batch: IncomingBatch,
  traces: readonly number[],
  agentNo: (trace: number) => number,
): Rows[] {
  const { tenant } = batch;
  const lines = linesOf(batch, traces);
  const ownOfSpan = (row: number, values: number[]): void => {
    values[0] = seq;
    values[1] = tenant;
    values[2] = lines[row] ?? 0;
    values[3] = 0;
  };
  const ownOfTrace = (trace: number, values: number[]): void => {
    const spans = batch.end(trace) - batch.start(trace);
    values[0] = seq;
    values[1] = tenant;
    values[2] = agentNo(trace);
    values[3] = spans;
    values[4] = spans === 0 ? 0 : seq;
    values[5] = spans === 0 ? 0 : seq;
    values[6] = 0;
  };
  const rows = runsOf(traces).flatMap(([from, to]): Rows[] => [
    { table: TRACES, source: batch.traces, from, to, own: ownOfTrace, replacing: 0 },
    {
      table: SPANS,
      source: batch.spans,
      from: batch.start(from),
      to: batch.end(to - 1),
      own: ownOfSpan,
      replacing: 0,
    },
  ]);
  rows.push(payloadRows(seq, batch, traces));
  return rows;
}

/** New versions of traces and spans, with the payload of the spans. */
export function touchedRows(seq: number, written: readonly TouchedRows[]): Rows[] {
  const headers: OwnedRow<TraceRow>[] = [];
  const spanRows: OwnedRow<SpanRow>[] = [];
  const payloads: OwnedRow<{ trace_id: string; lines: string }>[] = [];
  for (const { tenant, state, spans, writesHeader } of written) {
    if (!writesHeader) continue;
    const replaces = state.storedSeq === null ? 0 : 1;
    headers.push({
      row: state.header,
      own: [seq, tenant, state.agentNo, state.spans.size, state.firstSeq, state.lastSeq, replaces],
      replaces: state.storedSeq !== null,
    });
    spans.forEach(({ row, stored }, line) => {
      spanRows.push({ row, own: [seq, tenant, line, stored === null ? 0 : 1], replaces: stored !== null });
    });
    const lines = spans.map((span) => span.payload ?? '');
    if (lines.some((line) => line !== '')) {
      const row = { trace_id: state.header.trace_id, lines: lines.join('\n') };
      payloads.push({ row, own: [seq, tenant], replaces: false });
    }
  }
  return [...objectRows(TRACES, headers), ...objectRows(SPANS, spanRows), ...objectRows(PAYLOADS, payloads)];
}

export function agentRows(seq: number, agents: readonly Agent[]): Rows[] {
  return objectRows(
    AGENTS,
    agents.map(({ tenant, ...row }) => ({ row, own: [seq, tenant], replaces: false })),
  );
}

/** One row for each trace whose spans have payloads: the lines of its spans lie side by side in the message. */
function payloadRows(seq: number, batch: IncomingBatch, traces: readonly number[]): Rows {
  const writer = new ColumnsWriter(PAYLOADS.wire, traces.length, new TextScratch(0));
  let rows = 0;
  for (const trace of traces) {
    const [first, end] = [batch.start(trace), batch.end(trace)];
    if (end === first) continue;
    const textStart = batch.spans.textStart(PAYLOAD, first);
    const textEnd = batch.spans.textEnd(PAYLOAD, end - 1);
    // Nothing but the line ends: no span has a payload.
    if (textEnd - textStart === end - first - 1) continue;
    writer.uuidWords(0, rows, batch.traceIds, trace * 4);
    writer.span(1, rows++, textStart, textEnd);
  }
  const own = (_row: number, values: number[]): void => {
    values[0] = seq;
    values[1] = batch.tenant;
  };
  const source = new ColumnsReader(PAYLOADS.wire, writer.finish(batch.spans.textBuffer));
  return { table: PAYLOADS, source, from: 0, to: rows, own, replacing: 0 };
}

/** The line of each span within its trace's payload row. */
function linesOf(batch: IncomingBatch, traces: readonly number[]): Uint32Array {
  const lines = new Uint32Array(batch.spans.rows);
  for (const trace of traces) {
    const first = batch.start(trace);
    for (let row = first; row < batch.end(trace); row++) lines[row] = row - first;
  }
  return lines;
}

interface OwnedRow<Row> {
  readonly row: Row;
  /** The values of the table's own columns. */
  readonly own: readonly number[];
  readonly replaces: boolean;
}

function objectRows(table: Table, rows: readonly OwnedRow<object>[]): Rows[] {
  if (rows.length === 0) return [];
  const objects = rows.map(({ row }) => row as Record<string, string | number | boolean | null>);
  const source = new ColumnsReader(table.wire, encodeRows(table.wire, objects));
  const own = (row: number, values: number[]): void => {
    rows[row]?.own.forEach((value, i) => (values[i] = value));
  };
  const replacing = rows.filter((row) => row.replaces).length;
  return [{ table, source, from: 0, to: rows.length, own, replacing }];
}

/** Neighbouring numbers as runs `[from, to)`. */
function runsOf(numbers: readonly number[]): [from: number, to: number][] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.[1] === number) last[1] = number + 1;
    else runs.push([number, number + 1]);
  }
  return runs;
}
