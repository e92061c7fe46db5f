import {
  NO_BYTES,
  partAt,
  placesOf,
  TWO_32,
  WIDTHS,
  type Column,
  type ColumnsMessage,
  type Place,
  type RowOf,
} from './columns.js';
import { rowShape } from '../signal/row-shape.js';
import { formatUuid } from './uuid-words.js';

/** Reads the values of a {@link ColumnsMessage}. */
export class ColumnsReader {
  readonly rows: number;
  readonly fixed: ArrayBuffer;
  readonly text: Buffer;
  readonly textBuffer: ArrayBuffer;
  readonly #columns: readonly Column[];
  readonly #places: readonly Place[];
  readonly #view: DataView;
  readonly #fixedBytes: Uint8Array;
  readonly #words: Uint32Array;

  constructor(columns: readonly Column[], message: ColumnsMessage) {
    this.rows = message.rows;
    this.fixed = message.fixed;
    this.text = Buffer.from(message.text);
    this.textBuffer = message.text;
    this.#columns = columns;
    this.#places = placesOf(columns, message.rows).places;
    this.#view = new DataView(message.fixed);
    this.#fixedBytes = new Uint8Array(message.fixed);
    this.#words = new Uint32Array(message.fixed);
  }

  /** The buffers for {@link releaseBuffers}, once nothing is read from here any more. */
  get buffers(): ArrayBuffer[] {
    return [this.fixed, this.textBuffer];
  }

  place(column: number): Place {
    return partAt(this.#places, column);
  }

  isNull(column: number, row: number): boolean {
    const { nulls } = partAt(this.#places, column);
    return nulls >= 0 && this.#fixedBytes[nulls + row] === 1;
  }

  /** The four 32-bit words of each UUID of a column, in the layout of `parseUuid`. */
  uuidWords(column: number): Uint32Array {
    return new Uint32Array(this.fixed, partAt(this.#places, column).data, this.rows * 4);
  }

  /** The values of a `uint32` column. */
  uint32s(column: number): Uint32Array {
    return new Uint32Array(this.fixed, partAt(this.#places, column).data, this.rows);
  }

  /** The values of a `uint8` column. */
  bytes(column: number): Uint8Array {
    return this.#fixedBytes.subarray(partAt(this.#places, column).data).subarray(0, this.rows);
  }

  /** One byte for each row, 1 for null; empty for a column that is never null. */
  nullFlags(column: number): Uint8Array {
    const { nulls } = partAt(this.#places, column);
    return nulls < 0 ? NO_BYTES : this.#fixedBytes.subarray(nulls, nulls + this.rows);
  }

  /** Changes a value of a nullable `int64` column. @param value a safe integer */
  setInt64(column: number, row: number, value: number | null): void {
    const { data, nulls } = partAt(this.#places, column);
    this.#fixedBytes[nulls + row] = value === null ? 1 : 0;
    this.#view.setBigInt64(data + row * WIDTHS.int64, BigInt(value ?? 0), true);
  }

  /** Start and end of each row's text in `text`. */
  textSpans(column: number): Uint32Array {
    return new Uint32Array(this.fixed, partAt(this.#places, column).data, this.rows * 2);
  }

  textStart(column: number, row: number): number {
    return this.#view.getUint32(partAt(this.#places, column).data + row * 8, true);
  }

  textEnd(column: number, row: number): number {
    return this.#view.getUint32(partAt(this.#places, column).data + row * 8 + 4, true);
  }

  textBytes(column: number, row: number): Buffer {
    return this.text.subarray(this.textStart(column, row), this.textEnd(column, row));
  }

  value(column: number, row: number): string | number | boolean | null {
    if (this.isNull(column, row)) return null;
    const kind = partAt(this.#columns, column).kind;
    const offset = partAt(this.#places, column).data + row * WIDTHS[kind];
    switch (kind) {
      case 'uuid':
        return formatUuid(this.#words, offset / 4);
      case 'int64':
        return this.#view.getInt32(offset + 4, true) * TWO_32 + this.#view.getUint32(offset, true);
      case 'int32':
        return this.#view.getInt32(offset, true);
      case 'uint32':
        return this.#view.getUint32(offset, true);
      case 'float64':
        return this.#view.getFloat64(offset, true);
      case 'uint8':
        return this.#view.getUint8(offset);
      case 'bool':
        return this.#view.getUint8(offset) === 1;
      case 'text':
        // Not with `textBytes`: creating a view takes as long as reading a short text.
        return this.text.toString('utf8', this.textStart(column, row), this.textEnd(column, row));
    }
  }

  /**
   * One row as an object.
   *
   * @param columns the first ones of the message
   */
  row<const Columns extends readonly Column[]>(columns: Columns, row: number): RowOf<Columns> {
    const object: Record<string, string | number | boolean | null> = { ...shapeOf(columns) };
    for (let i = 0; i < columns.length; i++) object[partAt(columns, i).name] = this.value(i, row);
    return object as RowOf<Columns>;
  }
}

const SHAPES = new WeakMap<readonly Column[], Readonly<Record<string, null>>>();

function shapeOf(columns: readonly Column[]): Readonly<Record<string, null>> {
  const known = SHAPES.get(columns);
  if (known !== undefined) return known;
  const shape = rowShape(columns.map(({ name }) => name));
  SHAPES.set(columns, shape);
  return shape;
}
