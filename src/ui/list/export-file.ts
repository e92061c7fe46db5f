/** The formats of exported lists, by file extension. */
export const FILE_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
export type FileFormat = keyof typeof FILE_TYPES;

/** Rows that a browser writes into one file at most. */
export const MAX_ROWS = 1_000_000;

/** A spreadsheet would read these as formulas. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/**
 * Rows as a file: NDJSON with one object per line, or CSV with the fields of the first page as columns.
 *
 * @param onRows called with the number of rows written so far
 */
export async function writeFile(
  format: FileFormat,
  pages: AsyncIterable<readonly object[]> | Iterable<readonly object[]>,
  onRows: (count: number) => void = () => undefined,
): Promise<Blob> {
  const parts: Blob[] = [];
  let names: readonly string[] | undefined;
  let count = 0;
  for await (const page of pages) {
    const rows = page.slice(0, MAX_ROWS - count);
    const isFirst = names === undefined;
    const columns = (names ??= [...new Set(rows.flatMap((row) => Object.keys(row)))]);
    const head = isFirst && format === 'csv' ? line(columns) : '';
    const lines = rows.map((row) =>
      format === 'csv'
        ? line(columns.map((name) => cell((row as Readonly<Record<string, unknown>>)[name])))
        : `${JSON.stringify(row)}\n`,
    );
    // The browser may keep a Blob on disk.
    parts.push(new Blob([head + lines.join('')]));
    count += rows.length;
    onRows(count);
    if (count === MAX_ROWS) break;
  }
  return new Blob(parts, { type: FILE_TYPES[format] });
}

function line(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
