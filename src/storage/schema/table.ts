import type { Column, ColumnKind, RowOf } from '../../worker/columns.js';

/** What a table is, and the SQL that follows from its columns. */

/** Filled in the commit, on every table: the number of the group commit and the small number of the tenant. */
export const COMMIT = [
  { name: 'seq', kind: 'int64', sql: 'BIGINT' },
  { name: 'tenant', kind: 'int32', sql: 'INTEGER' },
] as const satisfies readonly Column[];

export interface Table<
  Store extends readonly Column[] = readonly Column[],
  Wire extends readonly Column[] = readonly Column[],
> {
  readonly name: string;
  /** Assigned in the commit; they come first. */
  readonly store: Store;
  /** Taken from the encoded rows. */
  readonly wire: Wire;
  /** Of a table whose newer rows replace older ones: the columns that tell, with the tenant, whose versions they are. */
  readonly versionOf?: readonly string[];
  /**
   * In which order the compactor lays the rows of a segment, so that look-ups by the key, a whole number, read few row
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

/** Declares a table so that the compiler knows its columns by name. */
export function defineTable<const Store extends readonly Column[], const Wire extends readonly Column[]>(
  table: Table<Store, Wire>,
): Table<Store, Wire> {
  return table;
}

/** A row with a value for each column of a table. */
export type TableRow<T extends Table> = RowOf<T['store']> & RowOf<T['wire']>;

/** The value of an assigned column: one for all rows, or one by the position of the row in its source. */
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
