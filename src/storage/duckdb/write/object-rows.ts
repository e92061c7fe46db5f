import { itemAt } from '../../../signal/checked.js';
import { ColumnsReader } from '../../../worker/columns-reader.js';
import { encodeRows } from '../../../worker/columns-writer.js';
import type { Table } from '../../schema/table.js';
import type { Rows } from './rows.js';

/** A row as an object, with the values of the table's own columns. */
export interface OwnedRow<Row> {
  readonly row: Row;
  readonly own: readonly number[];
  readonly replaces: boolean;
}

/**
 * Makes rows for the appender from objects with a key for each of the table's wire columns; gives nothing for none.
 *
 * @throws RangeError for a key that is missing
 */
export function objectRows(table: Table, rows: readonly OwnedRow<object>[]): Rows[] {
  if (rows.length === 0) return [];
  const objects = rows.map(({ row }) => row as Record<string, string | number | boolean | Uint8Array | null>);
  const source = new ColumnsReader(table.wire, encodeRows(table.wire, objects));
  const own = (row: number, values: Float64Array): void => {
    for (const [i, value] of itemAt(rows, row).own.entries()) values[i] = value;
  };
  const replacing = rows.filter((row) => row.replaces).length;
  return [{ table, source, from: 0, to: rows.length, own, replacing }];
}
