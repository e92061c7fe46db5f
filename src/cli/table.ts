import { itemAt } from '../signal/checked.js';

/** A column: its heading and the text for a row. */
export interface Column<Row> {
  readonly title: string;
  show(row: Row): string | number | null;
}

const GAP = '  ';

/** Rows in aligned columns under headings. Control characters are made visible. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const lines = [
    columns.map(({ title }) => title.toUpperCase()),
    ...rows.map((row) => columns.map((column) => printable(column.show(row)))),
  ];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => itemAt(line, index).length)));
  return lines
    .map((line) =>
      line
        .map((cell, index) => cell.padEnd(itemAt(widths, index)))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
}

/** A cell, with what a terminal would obey made visible. */
export function printable(value: string | number | null): string {
  return value === null ? '-' : String(value).replace(/\p{Cc}/gu, '\u{fffd}');
}
