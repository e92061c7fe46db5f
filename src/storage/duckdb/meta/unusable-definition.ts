import { MetaTable, USERS } from './tables.js';

/** Rows that were set aside when the file was opened, as DuckDB prints them. Nothing reads their contents but people. */
export const UNUSABLE_META = new MetaTable('unusable_rows', [
  { name: 'table_name', kind: 'text', rule: 'NOT NULL' },
  /** That of the row, in a table whose rows have numbers; where it was that which cannot be used, one that is not less. */
  { name: 'number', kind: 'integer' },
  { name: 'content', kind: 'any_text', rule: 'NOT NULL' },
]);

/** The column of a table that numbers its rows, so that others can name them; undefined where none does. */
export function numberColumn(table: MetaTable): string | undefined {
  if (table === USERS) return 'tenant';
  return table.columns.some(({ name }) => name === 'number') ? 'number' : undefined;
}

/** The greatest number that rows of a table have, or had before they were set aside, in SQL; 0 where none has one. */
export function lastNumber(table: MetaTable): string {
  return `greatest((SELECT coalesce(max(${String(numberColumn(table))}), 0) FROM ${table.name}), (SELECT coalesce(max(number), 0) FROM ${UNUSABLE_META.name} WHERE table_name = '${table.name}'))`;
}
