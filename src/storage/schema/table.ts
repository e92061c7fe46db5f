import type { Column, ColumnKind, RowOf } from '../../worker/columns.js';

/** Table definitions, and the SQL derived from their columns. */

/** Assigned in the commit, in every table: the number of the group commit and the internal number of the tenant. */
export const COMMIT = [
  { name: 'seq', kind: 'int64', sql: 'BIGINT' },
  { name: 'tenant', kind: 'int32', sql: 'INTEGER' },
] as const satisfies readonly Column[];

export interface Table<
  Store extends readonly Column[] = readonly Column[],
  Wire extends readonly Column[] = readonly Column[],
> {
  readonly name: string;
  /** Assigned in the commit; placed first. */
  readonly store: Store;
  /** Taken from the encoded rows. */
  readonly wire: Wire;
  /** For a table whose newer rows replace older ones: the columns that identify the versioned row, together with the tenant. */
  readonly versionOf?: readonly string[];
  /**
   * The sort order that the compactor uses in a segment, so that look-ups by the key, an integer, read few row groups. Absent: rows stay
   * in the order of `seq`.
   */
  readonly sortedBy?: { readonly key: string; readonly then: string };
  /** For a table of sums: rows with equal keys are parts of one sum, and may be merged. All other columns are signed parts. */
  readonly sumsOf?: readonly string[];
  /** For a table of sums: the columns that are not added. */
  readonly combinedBy?: Readonly<Record<string, 'min' | 'max'>>;
  /** For a table of sums: the column with the number of items. If it is 0, the sum is empty. */
  readonly countedBy?: string;
}

/** Declares a table with column names that are known to the compiler. */
export function defineTable<const Store extends readonly Column[], const Wire extends readonly Column[]>(
  table: Table<Store, Wire>,
): Table<Store, Wire> {
  return table;
}

/** A row with a value for each column of a table. */
export type TableRow<T extends Table> = RowOf<T['store']> & RowOf<T['wire']>;

/** The value of an assigned column: one for all rows, or a function of the row's position in its source. */
export type Assigned<Value = number | boolean> = Value | ((row: number) => Value);

type AssignedValue<Kind extends ColumnKind> = Kind extends 'bool' ? boolean : number;

/** Values of a table's assigned columns. */
export type AssignedColumns<T extends Table = Table> = {
  readonly [Name in T['store'][number]['name']]: Assigned<
    AssignedValue<Extract<T['store'][number], { readonly name: Name }>['kind']>
  >;
};

export function columnsOf(table: Table): readonly Column[] {
  return [...table.store, ...table.wire];
}

/** The CREATE TABLE statement for a database (`catalog`). */
export function createTable(catalog: string, table: Table): string {
  const columns = columnsOf(table).map(
    ({ name, sql, nullable, compression }) =>
      `${name} ${sql}${nullable ? '' : ' NOT NULL'}${compression === undefined ? '' : ` USING COMPRESSION ${compression}`}`,
  );
  return `CREATE TABLE ${catalog}.main.${table.name} (${columns.join(', ')})`;
}

/** The select list of columns: times in microseconds, all others unchanged. */
export function selectList(columns: readonly Column[]): string {
  return columns
    .map(({ name, sql }) => (sql === 'TIMESTAMP' ? `epoch_us(${name}) AS ${name}` : name))
    .join(', ');
}

/** The position of a column in a list; call once at module load. */
export function indexOf(columns: readonly Column[], name: string): number {
  const index = columns.findIndex((column) => column.name === name);
  if (index < 0) throw new RangeError(`no column ${name}`);
  return index;
}
