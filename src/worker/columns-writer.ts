import { wordAt } from '../signal/checked.js';
import {
  NO_BYTES,
  partAt,
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

/** Writes the values of a known number of rows. Every column of a row has to be set once, as a value or as null. */
export class ColumnsWriter {
  readonly #columns: readonly Column[];
  readonly #rows: number;
  readonly #fixed: ArrayBuffer;
  readonly #text: TextScratch;
  readonly #nulls: Uint8Array[];
  readonly #words: Uint32Array[];
  readonly #doubles: Float64Array[];
  readonly #bytes: Uint8Array[];
  /** How many rows have a value, of each column. */
  readonly #written: Uint32Array;

  /** @param text cleared here; no other writer may use it before `finish` */
  constructor(columns: readonly Column[], rows: number, text: TextScratch) {
    const { places, bytes } = placesOf(columns, rows);
    const fixed = new ArrayBuffer(bytes);
    text.clear();
    this.#columns = columns;
    this.#written = new Uint32Array(columns.length);
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
    ) => columns.map(({ kind }, i) => (isWanted(kind) ? view(partAt(places, i).data, WIDTHS[kind]) : none));
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
    const nulls = partAt(this.#nulls, column);
    if (nulls === NO_BYTES) throw new RangeError(`The column ${this.#name(column)} is never null.`);
    nulls[row] = 1;
    this.#count(column);
  }

  uuid(column: number, row: number, text: string): void {
    parseUuid(text, partAt(this.#words, column), row * 4);
    this.#count(column);
  }

  /** A UUID that is already in words. */
  uuidWords(column: number, row: number, from: Uint32Array, offset: number): void {
    partAt(this.#words, column).set(from.subarray(offset, offset + 4), row * 4);
    this.#count(column);
  }

  int64(column: number, row: number, value: number): void {
    const words = partAt(this.#words, column);
    const high = Math.floor(value / TWO_32);
    words[row * 2] = value - high * TWO_32;
    words[row * 2 + 1] = high;
    this.#count(column);
  }

  int32(column: number, row: number, value: number): void {
    // Taken modulo 2^32, which also gives the bits of a negative number.
    this.uint32(column, row, value);
  }

  uint32(column: number, row: number, value: number): void {
    partAt(this.#words, column)[row] = value;
    this.#count(column);
  }

  float64(column: number, row: number, value: number): void {
    partAt(this.#doubles, column)[row] = value;
    this.#count(column);
  }

  /** For `uint8` and `bool`. */
  byte(column: number, row: number, value: number): void {
    partAt(this.#bytes, column)[row] = value;
    this.#count(column);
  }

  text(column: number, row: number, value: string): void {
    const start = this.#text.length;
    this.#text.append(value);
    this.span(column, row, start, this.#text.length);
  }

  /** A text that the caller has already written to the scratch. */
  span(column: number, row: number, start: number, end: number): void {
    const words = partAt(this.#words, column);
    words[row * 2] = start;
    words[row * 2 + 1] = end;
    this.#count(column);
  }

  /** Writes any value of the column's kind, or null: for rows that are objects. */
  value(
    column: number,
    kind: ColumnKind,
    row: number,
    value: string | number | boolean | Uint8Array | null,
  ): void {
    if (value === null) this.isNull(column, row);
    else if (value instanceof Uint8Array) {
      const start = this.#text.length;
      this.#text.appendBytes(value);
      this.span(column, row, start, this.#text.length);
    } else if (typeof value === 'string') {
      if (kind === 'uuid') this.uuid(column, row, value);
      else this.text(column, row, value);
    } else if (typeof value === 'boolean') this.byte(column, row, value ? 1 : 0);
    else if (kind === 'int64') this.int64(column, row, value);
    else if (kind === 'float64') this.float64(column, row, value);
    else if (kind === 'int32') this.int32(column, row, value);
    else if (kind === 'uint32') this.uint32(column, row, value);
    else this.byte(column, row, value);
  }

  /**
   * @param of.text the text that the `span` calls refer to, if it is not the scratch's
   * @param of.rows number of written rows; default: all rows
   * @throws RangeError where a column was not written for every one of them
   */
  finish(of: { readonly text?: ArrayBuffer; readonly rows?: number } = {}): ColumnsMessage {
    const { text = this.#text.take(), rows = this.#rows } = of;
    for (const [column, { name }] of this.#columns.entries()) {
      const written = wordAt(this.#written, column);
      if (written !== rows)
        throw new RangeError(`The column ${name} has values for ${written} of ${rows} rows.`);
    }
    return { rows: this.#rows, fixed: this.#fixed, text };
  }

  #count(column: number): void {
    this.#written[column] = wordAt(this.#written, column) + 1;
  }

  #name(column: number): string {
    return partAt(this.#columns, column).name;
  }
}

/** Encodes rows that are objects with a key for each column. @throws RangeError for a key that is missing */
export function encodeRows(
  columns: readonly Column[],
  rows: readonly Readonly<Record<string, string | number | boolean | Uint8Array | null>>[],
): ColumnsMessage {
  const writer = new ColumnsWriter(columns, rows.length, new TextScratch());
  rows.forEach((row, r) => {
    columns.forEach((column, c) => {
      const value = row[column.name];
      if (value === undefined) throw new RangeError(`A row has no value for the column ${column.name}.`);
      writer.value(c, column.kind, r, value);
    });
  });
  return writer.finish();
}
