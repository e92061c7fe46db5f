/** The tables of the main file: DDL that names the catalog. Each has a row, or a few. */

/** The control store whose numbers of tenants and prompts the rows of all files use, and the id of the store: one row, or none. */
const STORE_IDENTITY = table('store_identity', 'id UUID NOT NULL, control UUID NOT NULL');

/** The state of retention's clock: one row, or none. */
const CLOCK_NOTE = table(
  'clock_note',
  'trusted_at TIMESTAMP NOT NULL, ahead_since TIMESTAMP, ahead_at TIMESTAMP',
);

/** Rows that were quarantined when the file was opened, as DuckDB prints them. Only people read them. */
const UNUSABLE_ROWS = table('unusable_rows', 'table_name VARCHAR NOT NULL, content VARCHAR NOT NULL');

/** The cold file and the hot segments that belong to the store, by their names in its directory. */
export const STORE_FILES = table('store_files', 'name VARCHAR NOT NULL');

export const MAIN_TABLES = [STORE_IDENTITY, CLOCK_NOTE, UNUSABLE_ROWS, STORE_FILES] as const;

function table(name: string, columns: string): (catalog: string) => string {
  return (catalog) => `CREATE TABLE ${catalog}.main.${name} (${columns})`;
}
