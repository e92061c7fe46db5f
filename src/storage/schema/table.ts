import type { Column } from '../../worker/columns.js';

/** What a table is, and the SQL that follows from its columns. */

/** Filled in the commit, on every table: the number of the group commit and the small number of the tenant. */
export const COMMIT: readonly Column[] = [
  { name: 'seq', kind: 'int64', sql: 'BIGINT' },
  { name: 'tenant', kind: 'int32', sql: 'INTEGER' },
];

export interface Table {
  readonly name: string;
  /** Filled in the commit; they come first. */
  readonly store: readonly Column[];
  /** Taken from the encoded rows. */
  readonly wire: readonly Column[];
  /** Of a table whose newer rows replace older ones: the columns that tell, with the tenant, whose versions they are. */
  readonly versionOf?: readonly string[];
  /**
   * In which order the mover lays the rows of a segment, so that look-ups by the key, a whole number, read few row
   * groups. Without it they stay in the order of `seq`.
   */
  readonly sortedBy?: { readonly key: string; readonly then: string };
  /**
   * Of a table of sums: rows with equal keys are parts of one sum, and may be put together. All other columns of the rows
   * are parts, with a sign.
   */
  readonly sumsOf?: readonly string[];
  /** Of a table of sums: the columns that are not added up. */
  readonly combinedBy?: Readonly<Record<string, 'min' | 'max'>>;
  /** Likewise: the number of what was added up. Where that is 0, nothing is left of the sum. */
  readonly countedBy?: string;
}

export function columnsOf(table: Table): readonly Column[] {
  return [...table.store, ...table.wire];
}

/** The statement that makes a table in a database (`catalog`). */
export function createTable(catalog: string, table: Table): string {
  const columns = columnsOf(table).map(
    ({ name, sql, nullable, compression }) =>
      `${name} ${sql}${nullable ? '' : ' NOT NULL'}${compression === undefined ? '' : ` USING COMPRESSION ${compression}`}`,
  );
  return `CREATE TABLE ${catalog}.main.${table.name} (${columns.join(', ')})`;
}

/** The select list of columns: times in microseconds, and all others as they are. */
export function selectList(columns: readonly Column[]): string {
  return columns
    .map(({ name, sql }) => (sql === 'TIMESTAMP' ? `epoch_us(${name}) AS ${name}` : name))
    .join(', ');
}

/** A column's position in a list, found once when a module is loaded. */
export function indexOf(columns: readonly Column[], name: string): number {
  const index = columns.findIndex((column) => column.name === name);
  if (index < 0) throw new RangeError(`no column ${name}`);
  return index;
}
