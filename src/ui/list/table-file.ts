/** The formats of exported lists, by file extension. */
export const FILE_TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
export type FileFormat = keyof typeof FILE_TYPES;

/** A spreadsheet would read these as formulas. */
const FORMULA = /^[=+\-@\t\r]/;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** Rows as a file: NDJSON with one object per line, or CSV with the fields of all rows as columns. */
export function tableFile(format: FileFormat, rows: readonly object[]): string {
  if (format === 'ndjson') return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const lines = rows.map((row) => names.map((name) => cell((row as Record<string, unknown>)[name])));
  return [names.map(quoted), ...lines].map((line) => `${line.join(',')}\r\n`).join('');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return quoted(FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text);
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
