import { createRequire } from 'node:module';
import type * as api from '@duckdb/node-api';
import type { DuckDBDataChunk, DuckDBValue } from '@duckdb/node-api';
import duckdb from '@duckdb/node-bindings';
import { byteAt, itemAt, wordAt } from '../../../signal/checked.js';
import { rowShape } from '../../../signal/row-shape.js';
import { formatUuid } from '../../../worker/uuid-words.js';

const { DuckDBBlobValue } = createRequire(import.meta.url)('@duckdb/node-api') as typeof api;

/** A value of a result or a parameter. Queries cast values that JavaScript has no type for. */
export type Value = Parameter | Uint8Array;
export type Parameter = string | number | boolean | null;
export type Row = Record<string, Value>;

/** A result's columns: the same for all its chunks. */
export interface RowColumns {
  readonly names: readonly string[];
  /** Ids of their types, as the bindings have them. */
  readonly types: readonly number[];
}

/** A type with values of fixed width, stored next to each other. */
interface FixedType {
  /** Bytes of a value. */
  readonly width: number;
  /** @param bytes of a column @returns a function that returns the value of a row that is not null */
  readonly reader: (bytes: Uint8Array) => (row: number) => Value;
}

const { Type } = duckdb;
const FIXED: ReadonlyMap<number, FixedType> = new Map([
  [Type.BOOLEAN, { width: 1, reader: (bytes) => (row) => byteAt(bytes, row) !== 0 }],
  [Type.UTINYINT, { width: 1, reader: (bytes) => (row) => byteAt(bytes, row) }],
  [
    Type.INTEGER,
    {
      width: 4,
      reader: (bytes) => numbersOf(new Int32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)),
    },
  ],
  [Type.UINTEGER, { width: 4, reader: (bytes) => numbersOf(wordsOf(bytes)) }],
  [
    Type.DOUBLE,
    {
      width: 8,
      reader: (bytes) => numbersOf(new Float64Array(bytes.buffer, bytes.byteOffset, bytes.length >> 3)),
    },
  ],
  [
    Type.BIGINT,
    {
      width: 8,
      reader: (bytes) => {
        const words = wordsOf(bytes);
        return (row) => int64At(words, row);
      },
    },
  ],
  [
    Type.UUID,
    {
      width: 16,
      reader: (bytes) => {
        const words = wordsOf(bytes);
        return (row) => formatUuid(words, row * 4);
      },
    },
  ],
] satisfies [number, FixedType][]);

/** A 64-bit integer among the words of a column, as far as a number can hold it exactly. */
export function int64At(words: Uint32Array, row: number): number {
  return (wordAt(words, row * 2 + 1) | 0) * 4_294_967_296 + wordAt(words, row * 2);
}

/** The 32-bit words of memory that DuckDB gives. */
export function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2);
}

function numbersOf(numbers: ArrayLike<number>): (row: number) => number {
  return (row) => itemAt(numbers, row);
}

/**
 * The rows of a chunk as objects. What has a fixed width is read from the memory that DuckDB gives: its package makes a `bigint` of
 * each integer, id and validity first, which takes several times as long.
 *
 * @throws TypeError for a column of a type that JavaScript has none for
 */
export function plainRows({ names, types }: RowColumns, chunk: DuckDBDataChunk): Row[] {
  const shape = rowShape(names);
  const rows = Array.from({ length: chunk.rowCount }, (): Row => ({ ...shape }));
  for (const [column, name] of names.entries()) {
    const fixed = FIXED.get(itemAt(types, column));
    if (fixed === undefined) {
      const vector = chunk.getColumnVector(column);
      for (const [at, row] of rows.entries()) row[name] = toPlain(vector.getItem(at));
    } else {
      const vector = duckdb.data_chunk_get_vector(chunk.chunk, column);
      const valueAt = fixed.reader(duckdb.vector_get_data(vector, rows.length * fixed.width));
      const isValid = validityOf(vector, rows.length);
      for (const [at, row] of rows.entries()) if (isValid(at)) row[name] = valueAt(at);
    }
  }
  return rows;
}

/** Returns whether the value in a row is not null. DuckDB has a bit per value, in words of 64, or no mask if no value is null. */
function validityOf(vector: duckdb.Vector, rows: number): (row: number) => boolean {
  // The bindings do not say that it may be null.
  const bits = duckdb.vector_get_validity(vector, Math.ceil(rows / 64) * 8) as Uint8Array | null;
  if (bits === null) return () => true;
  return (row) => ((byteAt(bits, row >> 3) >> (row & 7)) & 1) === 1;
}

export function toPlain(value: DuckDBValue | undefined): Value {
  if (value === null || value === undefined) return null;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (value instanceof DuckDBBlobValue) return new Uint8Array(value.bytes);
  throw new TypeError(`a query gave a ${value.constructor.name}: cast it to a text or a number`);
}
