import type { CliIo } from './io.js';
import { formatTable, type Column } from './table.js';

/**
 * Prints a list as JSON or as a table.
 *
 * @param none the sentence for an empty list
 */
export function showList<Row>(
  io: CliIo,
  rows: readonly Row[],
  options: { readonly json?: boolean; readonly columns: readonly Column<Row>[]; readonly none: string },
): void {
  if (options.json === true) showJson(io, rows);
  else if (rows.length === 0) io.err(options.none);
  else io.out(formatTable(options.columns, rows));
}

export function showJson(io: CliIo, value: unknown): void {
  io.out(JSON.stringify(value, null, 2));
}
