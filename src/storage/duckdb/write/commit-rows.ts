import { byteAt, itemAt, wordAt } from '../../../signal/checked.js';
import { RUN_KINDS } from '../../../signal/span.js';
import { ColumnsReader } from '../../../worker/columns-reader.js';
import { ColumnsWriter } from '../../../worker/columns-writer.js';
import { TextScratch } from '../../../worker/text-scratch.js';
import { AGENTS, LONG_PIECE_BYTES, PAYLOADS, PIECE_BYTES, SPANS, TRACES } from '../../schema/tables.js';
import type { Agent } from '../stats/agents.js';
import { isRunningAt } from '../../incoming/incoming-rows.js';
import { indexOf, type AssignedColumns, type TableRow } from '../../schema/table.js';
import {
  beginsPiece,
  lengthOf,
  NO_PAYLOAD,
  PayloadWriter,
  type Payload,
} from '../../../runs/rules/payload.js';
import type { SpanState } from '../../../runs/spans/span-state.js';
import type { TraceState } from './trace-state.js';
import { PAYLOAD, type IncomingBatch } from '../../incoming/incoming-batch.js';
import { columnRows, objectRows, type Rows } from './rows.js';

const P = {
  trace_id: indexOf(PAYLOADS.wire, 'trace_id'),
  lines: indexOf(PAYLOADS.wire, 'lines'),
  long_lines: indexOf(PAYLOADS.wire, 'long_lines'),
};

/** The data that a commit writes for a touched trace. */
export interface TouchedRows {
  readonly tenant: number;
  readonly state: TraceState;
  readonly agentNo: number;
  readonly spans: readonly SpanState[];
  /** Whether its new spans are copied from the columns of the message ({@link newSpanRows}). */
  readonly areSpansNew: boolean;
}

/**
 * The header rows of completely new traces, copied unchanged from the columns of the message.
 *
 * @param traces positions in the batch, ascending
 * @param agentNo returns the agent number of a trace of the batch
 */
export function wholeRows(
  seq: number,
  batch: IncomingBatch,
  traces: readonly number[],
  agentNo: (trace: number) => number,
): Rows[] {
  const spans = (trace: number): number => batch.end(trace) - batch.start(trace);
  const seqOfSpans = (trace: number): number => (spans(trace) === 0 ? 0 : seq);
  const assigned: AssignedColumns<typeof TRACES> = {
    seq,
    tenant: batch.tenant,
    agent_no: agentNo,
    span_count: spans,
    first_seq: seqOfSpans,
    last_seq: seqOfSpans,
    heard_at: batch.receivedAt,
    replaces: false,
    is_mapped: batch.map !== null,
    has_ended: (trace) => !isRunningAt(batch, trace),
    closed_seq: 0,
  };
  return runsOf(traces).map(([from, to]) => columnRows(TRACES, { source: batch.traces, from, to, assigned }));
}

/**
 * The rows of new spans, copied from the columns of the message, for traces whose spans in this batch are all new.
 *
 * @param traces positions in the batch, ascending
 * @param firstLine first payload line of a trace; greater than 0 if earlier batches of the commit contain spans of it
 */
export function newSpanRows(
  seq: number,
  batch: IncomingBatch,
  traces: readonly number[],
  firstLine: (trace: number) => number,
): Rows[] {
  const lines = linesOf(batch, traces, firstLine);
  const assigned: AssignedColumns<typeof SPANS> = {
    seq,
    tenant: batch.tenant,
    line: (row) => wordAt(lines, row),
    replaces: false,
    node_no: (row) => batch.nodeAt(row),
    replaced_seq: 0,
  };
  const spans = runsOf(traces).map(([from, to]) =>
    columnRows(SPANS, { source: batch.spans, from: batch.start(from), to: batch.end(to - 1), assigned }),
  );
  return [...spans, payloadRows(seq, batch, traces, lines)];
}

/** New versions of traces and spans, with the payloads of the spans. */
export function touchedRows(seq: number, written: readonly TouchedRows[]): Rows[] {
  const headers: TableRow<typeof TRACES>[] = [];
  const spanRows: TableRow<typeof SPANS>[] = [];
  const payloads: TableRow<typeof PAYLOADS>[] = [];
  for (const { tenant, state, agentNo, spans, areSpansNew } of written) {
    const { header, commits, truncated } = state;
    headers.push({
      seq,
      tenant,
      agent_no: agentNo,
      span_count: state.spans.size,
      first_seq: commits.first,
      last_seq: commits.last,
      heard_at: state.lastSeenAt,
      replaces: state.stored !== null,
      is_mapped: state.isMapped,
      has_ended: state.hasEnded,
      closed_seq: truncated?.truncatedSeq ?? 0,
      commits: commits.print(),
      closed: truncated?.serialize() ?? null,
      ...header,
    });
    // New spans come before stored ones.
    const first = areSpansNew ? spans.findIndex(({ row }) => row !== undefined) : 0;
    if (first < 0) continue;
    spans.forEach((span, line) => {
      if (span.row === undefined) return;
      spanRows.push({
        seq,
        tenant,
        line,
        replaces: span.seq > 0,
        node_no: span.node,
        replaced_seq: span.seq,
        ...span.row,
      });
    });
    const brought = spans.slice(first).map(({ payload }) => payload ?? NO_PAYLOAD);
    for (const { firstLine, frames } of piecesOf(brought)) {
      const isLong = frames.length > LONG_PIECE_BYTES;
      payloads.push({
        seq,
        tenant,
        first_line: first + firstLine,
        bytes: frames.length,
        trace_id: header.trace_id,
        lines: isLong ? null : frames,
        long_lines: isLong ? frames : null,
      });
    }
  }
  return [...objectRows(TRACES, headers), ...objectRows(SPANS, spanRows), ...objectRows(PAYLOADS, payloads)];
}

export function agentRows(seq: number, agents: readonly Agent[]): Rows[] {
  return objectRows(
    AGENTS,
    agents.map((agent) => ({ ...agent, seq, kind: RUN_KINDS.indexOf(agent.kind) })),
  );
}

/** The payload rows of new traces: the payloads of a trace are contiguous in the message. */
function payloadRows(seq: number, batch: IncomingBatch, traces: readonly number[], lines: Uint32Array): Rows {
  const writer = new ColumnsWriter(PAYLOADS.wire, batch.spans.rows, new TextScratch(0));
  const firstLines: number[] = [];
  const bytes: number[] = [];
  const { text } = batch.spans;
  for (const trace of traces) {
    const [start, end] = [batch.start(trace), batch.end(trace)];
    for (let first = start; first < end;) {
      const textStart = batch.spans.textStart(PAYLOAD, first);
      let next = first + 1;
      while (next < end && !beginsPiece(byteAt(text, batch.spans.textStart(PAYLOAD, next)))) next++;
      const textEnd = batch.spans.textEnd(PAYLOAD, next - 1);
      // A payload has at least a first byte. If there is nothing else, no span of this piece has a payload.
      if (textEnd - textStart > next - first) {
        const isLong = textEnd - textStart > LONG_PIECE_BYTES;
        writer.uuidWords(P.trace_id, firstLines.length, batch.traceIds, trace * 4);
        writer.span(isLong ? P.long_lines : P.lines, firstLines.length, textStart, textEnd);
        writer.isNull(isLong ? P.lines : P.long_lines, firstLines.length);
        firstLines.push(wordAt(lines, first));
        bytes.push(textEnd - textStart);
      }
      first = next;
    }
  }
  const written = writer.finish({ text: batch.spans.textBuffer, rows: firstLines.length });
  return columnRows(PAYLOADS, {
    source: new ColumnsReader(PAYLOADS.wire, written),
    from: 0,
    to: firstLines.length,
    assigned: {
      seq,
      tenant: batch.tenant,
      first_line: (row) => itemAt(firstLines, row),
      bytes: (row) => itemAt(bytes, row),
    },
  });
}

/** Groups payloads into pieces: the first payload of each piece, and its frames. Pieces without payloads are left out. */
function piecesOf(
  payloads: readonly Payload[],
): { readonly firstLine: number; readonly frames: Uint8Array }[] {
  const pieces: { firstLine: number; frames: Uint8Array }[] = [];
  for (let first = 0; first < payloads.length;) {
    let next = first;
    for (let length = 0; next < payloads.length && length < PIECE_BYTES; next++) {
      const own = lengthOf(itemAt(payloads, next));
      if (length > 0 && length + own > LONG_PIECE_BYTES) break;
      length += own;
    }
    const text = new TextScratch(PIECE_BYTES);
    const writer = new PayloadWriter(text);
    for (const payload of payloads.slice(first, next)) writer.write(payload, Infinity);
    if (text.length > next - first) pieces.push({ firstLine: first, frames: new Uint8Array(text.take()) });
    first = next;
  }
  return pieces;
}

/** The number of each span's payload within its trace and commit. */
function linesOf(
  batch: IncomingBatch,
  traces: readonly number[],
  firstLine: (trace: number) => number,
): Uint32Array {
  const lines = new Uint32Array(batch.spans.rows);
  for (const trace of traces) {
    const [first, line] = [batch.start(trace), firstLine(trace)];
    for (let row = first; row < batch.end(trace); row++) lines[row] = line + row - first;
  }
  return lines;
}

/** Consecutive numbers as ranges `[from, to)`. */
function runsOf(numbers: readonly number[]): [from: number, to: number][] {
  const runs: [number, number][] = [];
  for (const number of numbers) {
    const last = runs.at(-1);
    if (last?.[1] === number) last[1] = number + 1;
    else runs.push([number, number + 1]);
  }
  return runs;
}
