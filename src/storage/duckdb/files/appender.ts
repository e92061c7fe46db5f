import duckdb from '@duckdb/node-bindings';
import { byteAt, itemAt, invariant } from '../../../signal/checked.js';
import type { ColumnsReader } from '../../../worker/columns-reader.js';
import { WIDTHS, type Column } from '../../../worker/columns.js';
import { columnsOf, type Assigned, type AssignedColumns, type Table } from '../../schema/table.js';
import type { Connection } from './connection.js';

/** Rows of a DuckDB vector. */
const CAPACITY = 2048;
const VALIDITY_BYTES = CAPACITY / 8;

/**
 * Appends encoded rows to one table inside the connection's transaction, a stretch of neighbouring rows at a time: fixed-width
 * columns are copied as blocks of memory, texts are assigned one by one. The calls are synchronous and block the thread for about
 * 1.5 microseconds a row; the rows are in the transaction after `close`.
 */
export class TableAppender {
  readonly #table: Table;
  readonly #columns: readonly Column[];
  readonly #types: readonly duckdb.LogicalType[];
  readonly #appender: duckdb.Appender;
  /** Values of the assigned columns for the chunk that is being filled. */
  readonly #assigned: readonly AssignedColumn[];
  readonly #validity: readonly (Uint8Array | null)[];
  #chunk: duckdb.DataChunk | null = null;
  #vectors: duckdb.Vector[] = [];
  #rows = 0;

  constructor(connection: Connection, catalog: string, table: Table) {
    this.#table = table;
    this.#columns = columnsOf(table);
    this.#types = this.#columns.map(logicalType);
    this.#assigned = table.store.map((column) => new AssignedColumn(table, column));
    this.#validity = this.#columns.map((column) => (column.nullable ? new Uint8Array(VALIDITY_BYTES) : null));
    this.#appender = duckdb.appender_create_ext(connection.raw, catalog, 'main', table.name);
  }

  /**
   * Appends rows `from` to `to` (exclusive) of a source whose first columns are the table's wire columns.
   *
   * @throws RangeError for a column without a value
   */
  append(source: ColumnsReader, from: number, to: number, assigned: AssignedColumns): void {
    let next = from;
    while (next < to) {
      const count = Math.min(to - next, CAPACITY - this.#rows);
      const vectors = this.#open();
      for (const column of this.#assigned) column.fill(this.#rows, count, assigned, next);
      this.#table.wire.forEach((column, c) => {
        const position = this.#assigned.length + c;
        const vector = itemAt(vectors, position);
        if (column.nullable) this.#markNulls(source, c, position, next, count);
        if (column.kind === 'text') this.#copyTexts(source, c, vector, next, count);
        else {
          const width = WIDTHS[column.kind];
          const start = source.place(c).data + next * width;
          duckdb.copy_data_to_vector(vector, this.#rows * width, source.fixed, start, count * width);
        }
      });
      this.#rows += count;
      next += count;
      if (this.#rows === CAPACITY) this.#flush();
    }
  }

  /**
   * Drops all unflushed rows. Otherwise DuckDB would flush them when the object is garbage-collected, into any transaction the
   * connection has by then.
   */
  abandon(): void {
    this.#chunk = null;
    this.#rows = 0;
    duckdb.appender_clear(this.#appender);
  }

  /** Hands everything over to the transaction. @throws Error of DuckDB, which spoils the whole transaction */
  close(): void {
    this.#flush();
    duckdb.appender_close_sync(this.#appender);
  }

  #open(): duckdb.Vector[] {
    if (this.#chunk === null) {
      const chunk = duckdb.create_data_chunk(this.#types);
      this.#chunk = chunk;
      this.#vectors = this.#types.map((_, i) => duckdb.data_chunk_get_vector(chunk, i));
      for (const bits of this.#validity) bits?.fill(0xff);
    }
    return this.#vectors;
  }

  #markNulls(source: ColumnsReader, wireColumn: number, position: number, from: number, count: number): void {
    const bits = invariant(this.#validity[position], 'place for the nulls of a column');
    const nulls = source.nullFlags(wireColumn);
    for (let i = 0; i < count; i++) {
      if (nulls[from + i] === 1) {
        const row = this.#rows + i;
        bits[row >> 3] = byteAt(bits, row >> 3) & ~(1 << (row & 7));
      }
    }
  }

  #copyTexts(
    source: ColumnsReader,
    wireColumn: number,
    vector: duckdb.Vector,
    from: number,
    count: number,
  ): void {
    const nulls = source.nullFlags(wireColumn);
    const spans = source.textSpans(wireColumn);
    for (let i = 0; i < count; i++) {
      const row = from + i;
      if (nulls[row] === 1) continue;
      const bytes = source.text.subarray(spans[row * 2], spans[row * 2 + 1]);
      duckdb.vector_assign_string_element_len(vector, this.#rows + i, bytes);
    }
  }

  #flush(): void {
    const chunk = this.#chunk;
    if (chunk === null) return;
    this.#assigned.forEach((column, i) => {
      column.copyTo(itemAt(this.#vectors, i), this.#rows);
    });
    this.#validity.forEach((bits, i) => {
      if (bits === null) return;
      const vector = itemAt(this.#vectors, i);
      duckdb.vector_ensure_validity_writable(vector);
      duckdb.copy_data_to_vector_validity(vector, 0, bits.buffer as ArrayBuffer, 0, VALIDITY_BYTES);
    });
    duckdb.data_chunk_set_size(chunk, this.#rows);
    duckdb.append_data_chunk(this.#appender, chunk);
    // Frees its texts now; the bindings would do so when the chunk is garbage collected.
    duckdb.data_chunk_reset(chunk);
    this.#chunk = null;
    this.#rows = 0;
  }
}

/** Values of an assigned column, kept until their chunk is full. */
class AssignedColumn {
  readonly #name: string;
  /** For errors. */
  readonly #table: string;
  readonly #width: number;
  readonly #data: ArrayBuffer;
  readonly #words: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(table: Table, { name, kind }: Column) {
    this.#name = name;
    this.#table = table.name;
    this.#width = WIDTHS[kind];
    this.#data = new ArrayBuffer(this.#width * CAPACITY);
    this.#bytes = new Uint8Array(this.#data);
    this.#words = new Int32Array(this.#data, 0, this.#data.byteLength >> 2);
  }

  /**
   * Sets the values of `count` rows from `row` on.
   *
   * @param from the position of the first one in its source
   * @throws RangeError for a missing value
   */
  fill(row: number, count: number, assigned: AssignedColumns, from: number): void {
    const value: Assigned | undefined = assigned[this.#name];
    if (typeof value === 'function')
      for (let i = 0; i < count; i++) this.#set(row + i, Number(value(from + i)));
    else for (let i = 0; i < count; i++) this.#set(row + i, Number(value));
  }

  #set(row: number, value: number): void {
    if (Number.isNaN(value)) throw new RangeError(`The column ${this.#table}.${this.#name} was not written.`);
    if (this.#width === 8) {
      const high = Math.floor(value / 4_294_967_296);
      this.#words[row * 2] = value - high * 4_294_967_296;
      this.#words[row * 2 + 1] = high;
    } else if (this.#width === 1) this.#bytes[row] = value;
    else this.#words[row] = value;
  }

  copyTo(vector: duckdb.Vector, rows: number): void {
    duckdb.copy_data_to_vector(vector, 0, this.#data, 0, rows * this.#width);
  }
}

const TYPES: Readonly<Record<string, duckdb.Type>> = {
  UUID: duckdb.Type.UUID,
  BIGINT: duckdb.Type.BIGINT,
  INTEGER: duckdb.Type.INTEGER,
  UINTEGER: duckdb.Type.UINTEGER,
  UTINYINT: duckdb.Type.UTINYINT,
  BOOLEAN: duckdb.Type.BOOLEAN,
  DOUBLE: duckdb.Type.DOUBLE,
  TIMESTAMP: duckdb.Type.TIMESTAMP,
  VARCHAR: duckdb.Type.VARCHAR,
  BLOB: duckdb.Type.BLOB,
};

function logicalType(column: Column): duckdb.LogicalType {
  const type = TYPES[column.sql];
  if (type === undefined) throw new RangeError(`column ${column.name} has an unknown type ${column.sql}`);
  return duckdb.create_logical_type(type);
}
