import { byteAt, itemAt, wordAt } from '../../../signal/checked.js';
import { RUN_KINDS } from '../../../signal/span.js';
import { ColumnsReader } from '../../../worker/columns-reader.js';
import { ColumnsWriter } from '../../../worker/columns-writer.js';
import { TextScratch } from '../../../worker/text-scratch.js';
import { AGENTS, LONG_PIECE_BYTES, PAYLOADS, PIECE_BYTES, SPANS, TRACES } from '../../schema/tables.js';
import type { Agent } from '../stats/agents.js';
import { isRunningAt } from '../../incoming/incoming-rows.js';
import { indexOf } from '../../schema/table.js';
import { objectRows, type OwnedRow } from './object-rows.js';
import { beginsPiece, NO_PAYLOAD, PayloadWriter, sizeOf, type Payload } from '../../../runs/rules/payload.js';
import type { SpanRow, HeaderRow } from '../../../runs/rules/rows.js';
import type { SpanState } from '../../../runs/spans/span-state.js';
import type { TraceState } from './trace-state.js';
import { PAYLOAD, type IncomingBatch } from '../../incoming/incoming-batch.js';
import type { Rows } from './rows.js';

const P = {
  trace_id: indexOf(PAYLOADS.wire, 'trace_id'),
  lines: indexOf(PAYLOADS.wire, 'lines'),
  long_lines: indexOf(PAYLOADS.wire, 'long_lines'),
};

/** A row of payloads. */
interface PieceRow {
  readonly trace_id: string;
  readonly lines: Uint8Array | null;
  readonly long_lines: Uint8Array | null;
}

/** What a commit writes for a trace that it touches. */
export interface TouchedRows {
  readonly tenant: number;
  readonly state: TraceState;
  readonly agentNo: number;
  readonly spans: readonly SpanState[];
  /** Whether its new spans are written from the sender's columns ({@link newSpanRows}). */
  readonly areSpansNew: boolean;
}

/**
 * The header rows of traces that are new as a whole, which go from the sender's columns into the tables as they are.
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
  const mapped = Number(batch.map !== null);
  const own = (trace: number, values: Float64Array): void => {
    const spans = batch.end(trace) - batch.start(trace);
    values[0] = seq;
    values[1] = tenant;
    values[2] = agentNo(trace);
    values[3] = spans;
    values[4] = spans === 0 ? 0 : seq;
    values[5] = spans === 0 ? 0 : seq;
    values[6] = batch.receivedAt;
    values[7] = 0;
    values[8] = mapped;
    values[9] = Number(!isRunningAt(batch, trace));
    values[10] = 0;
  };
  return runsOf(traces).map(([from, to]) => ({
    table: TRACES,
    source: batch.traces,
    from,
    to,
    own,
    replacing: 0,
  }));
}

/**
 * The rows of new spans, for traces whose spans in this batch are all new: from the sender's columns, too.
 *
 * @param traces positions in the batch, ascending
 * @param firstLine where a trace's payloads begin: more than 0 where other batches of the commit brought spans of it before
 */
export function newSpanRows(
  seq: number,
  batch: IncomingBatch,
  traces: readonly number[],
  firstLine: (trace: number) => number,
): Rows[] {
  const { tenant } = batch;
  const lines = linesOf(batch, traces, firstLine);
  const ownOfSpan = (row: number, values: Float64Array): void => {
    values[0] = seq;
    values[1] = tenant;
    values[2] = wordAt(lines, row);
    values[3] = 0;
    values[4] = batch.nodeAt(row);
    values[5] = 0;
  };
  const rows = runsOf(traces).map(([from, to]): Rows => ({
    table: SPANS,
    source: batch.spans,
    from: batch.start(from),
    to: batch.end(to - 1),
    own: ownOfSpan,
    replacing: 0,
  }));
  rows.push(payloadRows(seq, batch, traces, lines));
  return rows;
}

/** New versions of traces and spans, with the payloads of the spans. */
export function touchedRows(seq: number, written: readonly TouchedRows[]): Rows[] {
  const headers: OwnedRow<HeaderRow & { readonly commits: string | null; readonly closed: string | null }>[] =
    [];
  const spanRows: OwnedRow<SpanRow>[] = [];
  const payloads: OwnedRow<PieceRow>[] = [];
  for (const { tenant, state, agentNo, spans, areSpansNew } of written) {
    const { header, commits, heardAt, stored } = state;
    const replaces = stored !== null;
    const { closed } = state;
    headers.push({
      row: { commits: commits.print(), closed: closed?.print() ?? null, ...header },
      own: [
        seq,
        tenant,
        agentNo,
        state.spans.size,
        commits.first,
        commits.last,
        heardAt,
        Number(replaces),
        Number(state.isMapped),
        Number(state.hasEnded),
        closed?.closedSeq ?? 0,
      ],
      replaces,
    });
    // New spans come before stored ones.
    const first = areSpansNew ? spans.findIndex(({ row }) => row !== undefined) : 0;
    if (first < 0) continue;
    spans.forEach((span, line) => {
      if (span.row === undefined) return;
      const isNewVersion = span.seq > 0;
      spanRows.push({
        row: span.row,
        own: [seq, tenant, line, Number(isNewVersion), span.node, span.seq],
        replaces: isNewVersion,
      });
    });
    const brought = spans.slice(first).map(({ payload }) => payload ?? NO_PAYLOAD);
    for (const { firstLine, frames } of piecesOf(brought)) {
      const isLong = frames.length > LONG_PIECE_BYTES;
      const row = {
        trace_id: header.trace_id,
        lines: isLong ? null : frames,
        long_lines: isLong ? frames : null,
      };
      payloads.push({ row, own: [seq, tenant, first + firstLine, frames.length], replaces: false });
    }
  }
  return [...objectRows(TRACES, headers), ...objectRows(SPANS, spanRows), ...objectRows(PAYLOADS, payloads)];
}

export function agentRows(seq: number, agents: readonly Agent[]): Rows[] {
  return objectRows(
    AGENTS,
    agents.map(({ tenant, kind, ...row }) => ({
      row: { ...row, kind: RUN_KINDS.indexOf(kind) },
      own: [seq, tenant],
      replaces: false,
    })),
  );
}

/** The payload rows of whole traces: the frames of a trace's spans lie side by side in the message. */
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
      // Only the first bytes: no span of this piece has a payload.
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
  const own = (row: number, values: Float64Array): void => {
    values[0] = seq;
    values[1] = batch.tenant;
    values[2] = itemAt(firstLines, row);
    values[3] = itemAt(bytes, row);
  };
  const written = writer.finish({ text: batch.spans.textBuffer, rows: firstLines.length });
  const source = new ColumnsReader(PAYLOADS.wire, written);
  return { table: PAYLOADS, source, from: 0, to: firstLines.length, own, replacing: 0 };
}

/** Puts payloads into pieces: which of them begins each, and its frames. Pieces without anything are left out. */
function piecesOf(
  payloads: readonly Payload[],
): { readonly firstLine: number; readonly frames: Uint8Array }[] {
  const pieces: { firstLine: number; frames: Uint8Array }[] = [];
  for (let first = 0; first < payloads.length;) {
    let next = first;
    for (let length = 0; next < payloads.length && length < PIECE_BYTES; next++)
      length += sizeOf(itemAt(payloads, next));
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
