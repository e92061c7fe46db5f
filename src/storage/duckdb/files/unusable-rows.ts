import type { Logger } from '../../../component/telemetry.js';
import type { Connection } from './connection.js';
import type { HealthIssues } from './health-issues.js';

/** The largest number that JavaScript holds exactly, whether it counts microseconds or anything else. */
const MOST = Number.MAX_SAFE_INTEGER;

/** A column, with a condition for usable values in addition to its type. */
interface CheckedColumn {
  readonly name: string;
  readonly sql: string;
  /** For doubles; absent where any value is usable. */
  readonly bounds?: readonly [least: number, most: number];
  /** Whether it holds JSON. */
  readonly isJson?: boolean;
}

interface CheckedTable {
  readonly name: string;
  readonly columns: readonly CheckedColumn[];
}

/** A file whose tables are checked, and the work that goes with it. */
export interface CheckedFile {
  /** Its name in SQL. */
  readonly catalog: string;
  readonly path: string;
  readonly tables: readonly CheckedTable[];
  /** The columns of its table `unusable_rows`, and how a row `r` of a table fills them. */
  readonly kept: (table: CheckedTable) => Readonly<Record<string, string>>;
  /** Called in the same transaction after rows were quarantined. */
  readonly settle?: () => Promise<void>;
  /** A further sentence for the log. */
  readonly hint?: (rows: ReadonlyMap<string, number>) => string;
}

/** The table of quarantined rows in each file. */
const UNUSABLE = 'unusable_rows';

/**
 * Moves rows with unusable values into the file's table `unusable_rows`: a time of `infinity` or a number beyond 2^53 would make
 * every list fail that contains it. Such values are never accepted; they come from damage, or from manual changes of the file.
 * Each condition searches one column for values beyond a bound, so DuckDB answers it from the minimum and maximum of each row
 * group, without reading rows. Reports the rows in the log and in `/readyz`.
 */
export async function quarantineUnusable(
  connection: Connection,
  file: CheckedFile,
  { logger, healthIssues }: { readonly logger: Logger; readonly healthIssues: HealthIssues },
): Promise<void> {
  const { catalog, path, tables } = file;
  const looks = tables.flatMap((table) =>
    conditionsOf(table).map(
      (condition) =>
        `(SELECT '${table.name}' AS name FROM ${catalog}.main.${table.name} WHERE ${condition} LIMIT 1)`,
    ),
  );
  const found = new Set((await connection.rows(looks.join(' UNION ALL '))).map(({ name }) => name));
  if (found.size === 0) return;
  const counts = new Map<string, number>();
  await connection.run('BEGIN');
  try {
    for (const table of tables)
      if (found.has(table.name)) counts.set(table.name, await keepAndDelete(connection, file, table));
    await file.settle?.();
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
  const listed = [...counts].map(([name, count]) => `${count} of ${name}`).join(', ');
  const message = `Moved rows with invalid values to the table ${UNUSABLE} of ${path}: ${listed}.${file.hint?.(counts) ?? ''}`;
  logger.error({ rows: Object.fromEntries(counts), file: path }, message);
  healthIssues.set(`unusable rows of ${path}`, message);
}

/** @returns how many rows */
async function keepAndDelete(
  connection: Connection,
  { catalog, kept }: CheckedFile,
  table: CheckedTable,
): Promise<number> {
  const condition = conditionsOf(table).join(' OR ');
  const from = `${catalog}.main.${table.name}`;
  const columns = Object.entries(kept(table));
  await connection.run(
    `INSERT INTO ${catalog}.main.${UNUSABLE} (${columns.map(([name]) => name).join(', ')})
      SELECT ${columns.map(([, value]) => value).join(', ')} FROM ${from} r WHERE ${condition}`,
  );
  const [deleted] = await connection.rows(`DELETE FROM ${from} WHERE ${condition}`);
  return Number(deleted?.Count);
}

/** Conditions that only unusable rows meet. */
function conditionsOf(table: CheckedTable): string[] {
  return table.columns.flatMap(({ name, sql, bounds, isJson }) => {
    switch (sql) {
      case 'BIGINT':
        return [`${name} < -${MOST}`, `${name} > ${MOST}`];
      case 'TIMESTAMP':
        return [`${name} < make_timestamp(-${MOST})`, `${name} > make_timestamp(${MOST})`];
      // In DuckDB NaN is greater than everything.
      case 'DOUBLE':
        return bounds === undefined
          ? []
          : [`${name} < '${bounds[0]}'::DOUBLE`, `${name} > '${bounds[1]}'::DOUBLE`];
      default:
        return isJson === true ? [`NOT json_valid(${name})`] : [];
    }
  });
}
