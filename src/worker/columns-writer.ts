import {
  at,
  NO_BYTES,
  placesOf,
  TWO_32,
  WIDTHS,
  type Column,
  type ColumnKind,
  type ColumnsMessage,
} from './columns.js';
import { TextScratch } from './text-scratch.js';
import { parseUuid } from './uuid-words.js';

const NO_WORDS = new Uint32Array(0);
const NO_DOUBLES = new Float64Array(0);

/** Writes the values of a known number of rows. Every column of a row has to be set once; unset ones are zero. */
export class ColumnsWriter {
  readonly #rows: number;
  readonly #fixed: ArrayBuffer;
  readonly #text: TextScratch;
  readonly #nulls: Uint8Array[];
  readonly #words: Uint32Array[];
  readonly #doubles: Float64Array[];
  readonly #bytes: Uint8Array[];

  /** @param text cleared here; no other writer may use it before `finish` */
  constructor(columns: readonly Column[], rows: number, text: TextScratch) {
    const { places, bytes } = placesOf(columns, rows);
    const fixed = new ArrayBuffer(bytes);
    text.clear();
    this.#rows = rows;
    this.#fixed = fixed;
    this.#text = text;
    this.#nulls = places.map((place) =>
      place.nulls < 0 ? NO_BYTES : new Uint8Array(fixed, place.nulls, rows),
    );
    const dataOf = <View>(
      isWanted: (kind: ColumnKind) => boolean,
      none: View,
      view: (at: number, width: number) => View,
    ) => columns.map(({ kind }, i) => (isWanted(kind) ? view(places[i]?.data ?? 0, WIDTHS[kind]) : none));
    this.#words = dataOf(
      (kind) => WIDTHS[kind] >= 4,
      NO_WORDS,
      (at, width) => new Uint32Array(fixed, at, (rows * width) / 4),
    );
    this.#doubles = dataOf(
      (kind) => kind === 'float64',
      NO_DOUBLES,
      (at) => new Float64Array(fixed, at, rows),
    );
    this.#bytes = dataOf(
      (kind) => WIDTHS[kind] === 1,
      NO_BYTES,
      (at) => new Uint8Array(fixed, at, rows),
    );
  }

  isNull(column: number, row: number): void {
    at(this.#nulls, column)[row] = 1;
  }

  uuid(column: number, row: number, text: string): void {
    parseUuid(text, at(this.#words, column), row * 4);
  }

  /** A UUID that is already in words. */
  uuidWords(column: number, row: number, from: Uint32Array, offset: number): void {
    at(this.#words, column).set(from.subarray(offset, offset + 4), row * 4);
  }

  int64(column: number, row: number, value: number): void {
    const words = at(this.#words, column);
    const high = Math.floor(value / TWO_32);
    words[row * 2] = value - high * TWO_32;
    words[row * 2 + 1] = high;
  }

  int32(column: number, row: number, value: number): void {
    // Taken modulo 2^32, which also gives the bits of a negative number.
    at(this.#words, column)[row] = value;
  }

  uint32(column: number, row: number, value: number): void {
    at(this.#words, column)[row] = value;
  }

  float64(column: number, row: number, value: number): void {
    at(this.#doubles, column)[row] = value;
  }

  /** For `uint8` and `bool`. */
  byte(column: number, row: number, value: number): void {
    at(this.#bytes, column)[row] = value;
  }

  text(column: number, row: number, value: string): void {
    const start = this.#text.length;
    this.#text.append(value);
    this.span(column, row, start, this.#text.length);
  }

  /** A text that the caller has put into the scratch itself. */
  span(column: number, row: number, start: number, end: number): void {
    const words = at(this.#words, column);
    words[row * 2] = start;
    words[row * 2 + 1] = end;
  }

  /** Writes any value of the column's kind, or null: for rows that are objects. */
  value(column: number, kind: ColumnKind, row: number, value: string | number | boolean | null): void {
    if (value === null) this.isNull(column, row);
    else if (typeof value === 'string') {
      if (kind === 'uuid') this.uuid(column, row, value);
      else this.text(column, row, value);
    } else if (typeof value === 'boolean') this.byte(column, row, value ? 1 : 0);
    else if (kind === 'int64') this.int64(column, row, value);
    else if (kind === 'float64') this.float64(column, row, value);
    else if (kind === 'int32') this.int32(column, row, value);
    else if (kind === 'uint32') this.uint32(column, row, value);
    else this.byte(column, row, value);
  }

  /** @param text the text that the `span` calls refer to, if it is not the scratch's */
  finish(text: ArrayBuffer = this.#text.take()): ColumnsMessage {
    return { rows: this.#rows, fixed: this.#fixed, text };
  }
}

/** Encodes rows that are objects with a key for each column. */
export function encodeRows(
  columns: readonly Column[],
  rows: readonly Readonly<Record<string, string | number | boolean | null>>[],
): ColumnsMessage {
  const writer = new ColumnsWriter(columns, rows.length, new TextScratch());
  rows.forEach((row, r) => {
    columns.forEach((column, c) => {
      writer.value(c, column.kind, r, row[column.name] ?? null);
    });
  });
  return writer.finish();
}
