import { itemAt, wordAt } from '../../../signal/checked.js';
import { formatUuid, uuidKey } from '../../../worker/uuid-words.js';
import type { NamedRow } from '../write/node-of-stored.js';
import type { FixedChunk } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';

/** A stored span whose node depends on its payload. */
export interface OpenSpan {
  readonly rows: SpanRows;
  readonly row: number;
}

/** Spans by the commit and the trace that they belong to, then by their payload line. */
export type OpenSpans = Map<string, Map<number, OpenSpan>>;

/** Replaces a missing hint. */
const NO_HINT = '-';

/** The select list of {@link SpanRows}. */
export const SPAN_COLUMNS = `seq, tenant, trace_id, span_id, line, type::INTEGER, node_no, name, coalesce(map_hint, '${NO_HINT}')`;

/** A copy of some spans, selected by {@link SPAN_COLUMNS}: a chunk is valid only until the next one. */
export class SpanRows {
  readonly length: number;
  readonly traceIds: Uint32Array;
  readonly #seqs: Uint32Array;
  readonly #tenants: Uint32Array;
  readonly #spanIds: Uint32Array;
  readonly #lines: Uint32Array;
  readonly #types: Uint32Array;
  readonly #nodes: Uint32Array;
  readonly #names: readonly string[];
  readonly #hints: readonly (string | null)[];

  constructor(chunk: FixedChunk) {
    this.length = chunk.rows;
    this.#seqs = chunk.words(0, 8).slice();
    this.#tenants = chunk.words(1, 4).slice();
    this.traceIds = chunk.words(2, 16).slice();
    this.#spanIds = chunk.words(3, 16).slice();
    this.#lines = chunk.words(4, 4).slice();
    this.#types = chunk.words(5, 4).slice();
    this.#nodes = chunk.words(6, 4).slice();
    this.#names = Array.from({ length: chunk.rows }, (_, row) => chunk.text(7, row));
    this.#hints = Array.from({ length: chunk.rows }, (_, row) => hintIn(chunk.text(8, row)));
  }

  tenant(row: number): number {
    return wordAt(this.#tenants, row);
  }

  node(row: number): number {
    return wordAt(this.#nodes, row) | 0;
  }

  /** The columns that determine the node of a span, in addition to the payload. */
  named(row: number): NamedRow {
    return {
      type: wordAt(this.#types, row),
      name: itemAt(this.#names, row),
      map_hint: itemAt(this.#hints, row),
    };
  }

  spanId(row: number): string {
    return formatUuid(this.#spanIds, row * 4);
  }

  /** Adds a span to those whose payload must be read. */
  open(row: number, open: OpenSpans): void {
    const key = placeKey(int64At(this.#seqs, row), this.tenant(row), this.traceIds, row);
    const span = { rows: this, row };
    const line = wordAt(this.#lines, row);
    const lines = open.get(key);
    if (lines === undefined) open.set(key, new Map([[line, span]]));
    else lines.set(line, span);
  }
}

function hintIn(text: string): string | null {
  return text === NO_HINT ? null : text;
}

/** A key for the payload lines of a trace in one commit. */
export function placeKey(seq: number, tenant: number, traceIds: Uint32Array, row: number): string {
  return `${seq}/${tenant}/${uuidKey(traceIds, row * 4)}`;
}
