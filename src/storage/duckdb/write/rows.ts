import type { ColumnsReader } from '../../../worker/columns-reader.js';
import type { Table } from '../../schema/table.js';

/** Rows of a table and their source, ready for the appender. */
export interface Rows {
  readonly table: Table;
  readonly source: ColumnsReader;
  readonly from: number;
  readonly to: number;
  /** Sets the values of the table's own columns for a row of the source. */
  readonly own: (row: number, values: Float64Array) => void;
  /** How many of them replace older versions. */
  readonly replacing: number;
}
