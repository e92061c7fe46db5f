import { itemAt } from '../signal/checked.js';

/** A column: its heading and how it shows a row. */
export interface Column<Row> {
  readonly title: string;
  show(row: Row): string | number | null;
}

const GAP = '  ';

/** Formats rows in aligned columns with headings. Control characters are replaced. */
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

/** Formats a cell and replaces control characters, which a terminal would interpret. */
export function printable(value: string | number | null): string {
  return value === null ? '-' : String(value).replace(/\p{Cc}/gu, '\u{fffd}');
}
