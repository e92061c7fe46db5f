import { itemAt } from '../../../signal/checked.js';
import { ColumnsReader } from '../../../worker/columns-reader.js';
import { encodeRows } from '../../../worker/columns-writer.js';
import type { AssignedColumns, Table, TableRow } from '../../schema/table.js';

/** Rows of a table and their source, ready for the appender. */
export interface Rows<T extends Table = Table> extends SourceRows<T> {
  readonly table: Table;
  /** Number of rows that replace older versions. */
  readonly replacing: number;
}

interface SourceRows<T extends Table> {
  readonly source: ColumnsReader;
  readonly from: number;
  readonly to: number;
  readonly assigned: AssignedColumns<T>;
}

/** New rows `from` to `to` (exclusive) of a source whose first columns are the table's wire columns. */
export function columnRows<T extends Table>(table: T, rows: SourceRows<T>): Rows<T> {
  return { table, ...rows, replacing: 0 };
}

/**
 * Rows from objects with a key for each column of the table; empty if there are no objects. Rows whose column `replaces` is true
 * replace older versions.
 *
 * @throws RangeError if a key is missing
 */
export function objectRows<T extends Table>(table: T, rows: readonly TableRow<T>[]): Rows[] {
  if (rows.length === 0) return [];
  const objects = rows as readonly Readonly<Record<string, string | number | boolean | Uint8Array | null>>[];
  const source = new ColumnsReader(table.wire, encodeRows(table.wire, objects));
  const assigned = Object.fromEntries(
    table.store.map(({ name }) => [name, (row: number) => itemAt(objects, row)[name] as number | boolean]),
  );
  const replacing = objects.filter((row) => row['replaces'] === true).length;
  return [{ table, source, from: 0, to: rows.length, assigned, replacing }];
}
