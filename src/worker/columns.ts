/**
 * Rows as typed columns in two plain buffers, so that they are transferred between threads instead of cloned (cloning 1000
 * decoded spans costs five times a copy by hand). Fixed-width values have the layout of DuckDB's vectors, so
 * that the store thread copies whole runs.
 */

/** The memory layout of a column: `int64` holds exact JavaScript integers, `bool` one byte, `text` UTF-8 or bytes. */
export type ColumnKind = 'uuid' | 'int64' | 'int32' | 'uint32' | 'float64' | 'uint8' | 'bool' | 'text';

export interface Column {
  readonly name: string;
  readonly kind: ColumnKind;
  /** The column's type in the store. */
  readonly sql: string;
  readonly nullable?: true;
  /** The store's compression, to override the automatic choice. */
  readonly compression?: 'zstd' | 'uncompressed';
}

/** A row of these columns as an object. */
export type RowOf<Columns extends readonly Column[]> = {
  -readonly [C in Columns[number] as C['name']]:
    | (C['sql'] extends 'BLOB' ? Uint8Array : ValueOf<C['kind']>)
    | (C extends { nullable: true } ? null : never);
};

type ValueOf<Kind extends ColumnKind> = Kind extends 'uuid' | 'text'
  ? string
  : Kind extends 'bool'
    ? boolean
    : number;

/** The message between threads, to be posted with `transferables`. */
export interface ColumnsMessage {
  readonly rows: number;
  readonly fixed: ArrayBuffer;
  readonly text: ArrayBuffer;
}

/** Bytes of one value in the fixed part; for a text, its start and end in the text part. */
export const WIDTHS: Readonly<Record<ColumnKind, number>> = {
  uuid: 16,
  int64: 8,
  int32: 4,
  uint32: 4,
  float64: 8,
  uint8: 1,
  bool: 1,
  text: 8,
};

export interface Place {
  /** Byte offset of the values in the fixed part. */
  readonly data: number;
  /** Byte offset of one byte per row, 1 for null; -1 for a column that is never null. */
  readonly nulls: number;
}

/** The place of each column of a list with `rows` rows. */
export function placesOf(columns: readonly Column[], rows: number): { places: Place[]; bytes: number } {
  let bytes = 0;
  const places = columns.map((column) => {
    const data = bytes;
    bytes = align(bytes + WIDTHS[column.kind] * rows);
    if (!column.nullable) return { data, nulls: -1 };
    const nulls = bytes;
    bytes = align(bytes + rows);
    return { data, nulls };
  });
  return { places, bytes };
}

function align(bytes: number): number {
  return (bytes + 7) & ~7;
}

/**
 * Like `itemAt`, only for the lists of readers and writers, some twenty times for each span: V8 reads a list fast if the function
 * has seen only one kind of list.
 *
 * @throws RangeError
 */
export function partAt<T>(parts: readonly T[], index: number): T {
  const part = parts[index];
  if (part === undefined) throw new RangeError(`Column ${index} is out of range (${parts.length} columns).`);
  return part;
}

/** An `int64` is written and read as two halves. */
export const TWO_32 = 4_294_967_296;
export const NO_BYTES = new Uint8Array(0);

/** The buffers of a message, for the transfer list. */
export function transferables(message: ColumnsMessage): ArrayBuffer[] {
  return [message.fixed, message.text];
}
