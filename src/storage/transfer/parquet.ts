/** A Parquet file as a source of a SELECT of DuckDB. */
export function parquet(path: string): string {
  return `read_parquet('${path.replaceAll("'", "''")}')`;
}
