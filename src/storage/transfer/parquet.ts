import type { Column } from '../../worker/columns.js';

/** A Parquet file as a source of a SELECT of DuckDB. */
export function parquet(path: string): string {
  return `read_parquet('${path.replaceAll("'", "''")}')`;
}

/** The rows of a file of an export. Nullable columns that it lacks, because an earlier version wrote it, are null. */
export function exportedRows(path: string, columns: readonly Column[]): string {
  const nulls = columns.flatMap(({ name, sql, nullable }) => (nullable ? `NULL::${sql} AS ${name}` : []));
  return `(SELECT * FROM ${parquet(path)} UNION ALL BY NAME SELECT ${nulls.join(', ')} WHERE FALSE)`;
}
