import { DERIVED } from '../../runs/rules/derived.js';
import { PayloadWriter } from '../../runs/rules/payload.js';
import { RUNNING, TIMED_OUT } from '../../runs/rules/rows.js';
import { MapBuilder } from '../../signal/map-builder.js';
import { parentPositions } from '../../signal/parent-positions.js';
import { AGENT_NODE, NO_NODE, type DerivedMap } from '../../signal/service-map.js';
import type { Micros } from '../../signal/time.js';
import { ColumnsWriter } from '../../worker/columns-writer.js';
import type { Column } from '../../worker/columns.js';
import { TextScratch } from '../../worker/text-scratch.js';
import { SPAN_MESSAGE, TRACE_MESSAGE } from '../incoming/encode-traces.js';
import { indexOf } from '../schema/table.js';
import { LONG_PIECE_BYTES, PIECE_BYTES } from '../schema/tables.js';
import type { ExportedRow, TransferredRuns } from '../contracts/transfer.js';

/** Some spans of a run, in the order of the export, with the row of their run. */
export interface RunPart {
  readonly run: ExportedRow;
  readonly spans: readonly ExportedRow[];
}

const PAYLOAD = indexOf(SPAN_MESSAGE, 'payload');

/**
 * Encodes exported rows as a received batch. A stored header, including the bits of undeclared runs, is a valid first message of its
 * run: the rules then recompute everything that depends on its spans (`runs/`).
 */
export class ExportedRunsEncoder {
  readonly #spanText = new TextScratch();
  readonly #traceText = new TextScratch();

  /** @param receivedAt when the runs were last updated @param isMapped whether they count in the service map */
  encode(parts: readonly RunPart[], receivedAt: Micros, isMapped: boolean): TransferredRuns {
    const all = parts.flatMap(({ spans }) => spans);
    const spans = new ColumnsWriter(SPAN_MESSAGE, all.length, this.#spanText);
    all.forEach((row, at) => {
      SPAN_MESSAGE.forEach((column, c) => {
        if (c !== PAYLOAD) spans.value(c, column.kind, at, valueOf(row, column));
      });
    });
    this.#writePayloads(spans, parts);
    const traces = new ColumnsWriter(TRACE_MESSAGE, parts.length, this.#traceText);
    parts.forEach((part, at) => {
      const header = headerOf(part);
      TRACE_MESSAGE.forEach((column, c) => {
        traces.value(c, column.kind, at, valueOf(header, column));
      });
    });
    return {
      receivedAt,
      traces: traces.finish(),
      spans: spans.finish(),
      ...(isMapped && { map: mapOf(parts) }),
    };
  }

  /** Written after all other texts, so that a run's payloads are adjacent. */
  #writePayloads(spans: ColumnsWriter, parts: readonly RunPart[]): void {
    const writer = new PayloadWriter(this.#spanText);
    let at = 0;
    for (const part of parts) {
      writer.beginPiece();
      let before: Uint8Array | null = null;
      for (const row of part.spans) {
        const own = bytesOf(row, 'origin');
        // Consecutive spans with the same origin share one copy.
        const origin: Uint8Array | null =
          own !== null && before !== null && isEqual(own, before) ? before : own;
        before = origin;
        const start = this.#spanText.length;
        const payload = {
          input: textOf(row, 'input'),
          output: textOf(row, 'output'),
          metadata: textOf(row, 'metadata'),
          sent: bytesOf(row, 'sent'),
          origin,
        };
        writer.write(payload, PIECE_BYTES, LONG_PIECE_BYTES);
        spans.span(PAYLOAD, at++, start, this.#spanText.length);
      }
    }
  }
}

/** The header of a message. A run that the store timed out starts as running, because the store times it out again. */
function headerOf({ run, spans }: RunPart): ExportedRow {
  const derived = Number(run['derived']);
  const isProvisional =
    run['status'] === TIMED_OUT && (derived & DERIVED.status) !== 0 && run['idle_timeout_ms'] !== null;
  return {
    ...run,
    ...(isProvisional && {
      status: RUNNING,
      ...((derived & DERIVED.ended_at) !== 0 && { ended_at: null }),
      ...((derived & DERIVED.duration_ms) !== 0 && { duration_ms: null }),
    }),
    commits: null,
    closed: null,
    spans: spans.length,
  };
}

function mapOf(parts: readonly RunPart[]): DerivedMap {
  const builder = new MapBuilder();
  for (const { spans } of parts)
    builder.trace({
      types: spans.map((row) => Number(row['type'])),
      nodes: spans.map((row) => nodeOf(String(row['node']), builder)),
      parents: parentPositions(
        spans.map((row) => ({
          span_id: String(row['span_id']),
          parent_span_id: textOf(row, 'parent_span_id'),
        })),
      ),
    });
  return builder.finish();
}

/** @param node in the form of `SPANS_EXPORT` */
function nodeOf(node: string, builder: MapBuilder): number {
  if (node === '') return NO_NODE;
  return node === '@' ? AGENT_NODE : builder.number(node.slice(1));
}

function valueOf(row: ExportedRow, { name }: Column): ExportedRow[string] {
  const value = row[name];
  if (value === undefined) throw new RangeError(`A row of an export has no ${name}.`);
  return value;
}

function textOf(row: ExportedRow, name: string): string | null {
  const value = row[name];
  return typeof value === 'string' ? value : null;
}

function bytesOf(row: ExportedRow, name: string): Uint8Array | null {
  const value = row[name];
  return value instanceof Uint8Array ? value : null;
}

function isEqual(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
