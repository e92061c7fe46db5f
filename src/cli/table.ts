import { itemAt } from '../signal/checked.js';
import type { CliIo } from './io.js';

/** A column: its heading and how it shows a row. */
export interface Column<Row> {
  readonly title: string;
  /** In a narrow terminal, cells are cut to this many characters or more; absent: never. */
  readonly least?: number;
  /**
   * In a terminal that is still too narrow, columns are left out; those with the lowest numbers are kept if they fit. Absent: never left
   * out. Such a column is also left out of a terminal if it is empty.
   */
  readonly leaveOut?: number;
  show(row: Row): string | number | null;
}

const GAP = '  ';

/** Formats rows in aligned columns with headings. Control characters are replaced. */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  return fitTable(columns, rows, Infinity).text;
}

/** Like {@link formatTable}, for lines of limited width. @returns the table, and the titles of columns left out */
export function fitTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  width: number,
): { readonly text: string; readonly leftOut: readonly string[] } {
  const lines = [
    columns.map(({ title }) => title.toUpperCase()),
    ...rows.map((row) => columns.map((column) => printable(column.show(row)))),
  ];
  const whole = columns.map((_, index) => Math.max(...lines.map((line) => itemAt(line, index).length)));
  const least = columns.map((column, index) => Math.min(itemAt(whole, index), column.least ?? Infinity));
  const rank = (index: number) => itemAt(columns, index).leaveOut ?? 0;
  const filled = columns.flatMap((column, index) =>
    width === Infinity || rank(index) === 0 || rows.some((row) => column.show(row) !== null) ? [index] : [],
  );
  let shown = filled;
  const spare = () =>
    shown.reduce((rest, index) => rest - itemAt(least, index) - GAP.length, width + GAP.length);
  while (spare() < 0) {
    const last = Math.max(...shown.map(rank));
    if (last === 0) break;
    shown = shown.filter((index) => rank(index) !== last);
  }
  // The last column that was left out may have been a wide one.
  for (const index of filled.toSorted((a, b) => rank(a) - rank(b)))
    if (!shown.includes(index) && itemAt(least, index) + GAP.length <= spare())
      shown = filled.filter((one) => one === index || shown.includes(one));
  let rest = Math.max(0, spare());
  const widths = shown.map((index) => {
    const more = Math.min(rest, itemAt(whole, index) - itemAt(least, index));
    rest -= more;
    return itemAt(least, index) + more;
  });
  const text = lines
    .map((line) =>
      shown
        .map((index, place) => cut(itemAt(line, index), itemAt(widths, place)))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
  const leftOut = filled
    .filter((index) => !shown.includes(index))
    .map((index) => itemAt(columns, index).title);
  return { text, leftOut };
}

function cut(cell: string, width: number): string {
  return cell.length > width ? `${cell.slice(0, width - 1)}…` : cell.padEnd(width);
}

/** Formats a cell and replaces control characters, which a terminal would interpret. */
export function printable(value: string | number | null): string {
  return value === null ? '-' : String(value).replace(/\p{Cc}/gu, '\u{fffd}');
}

/**
 * Prints a list as JSON or as a table.
 *
 * @param none the sentence for an empty list
 */
export function showList<Row>(
  io: CliIo,
  rows: readonly Row[],
  options: { readonly json?: boolean; readonly columns: readonly Column<Row>[]; readonly none: string },
): void {
  if (options.json === true) showJson(io, rows);
  else if (rows.length === 0) io.err(options.none);
  else io.out(formatTable(options.columns, rows));
}

export function showJson(io: CliIo, value: unknown): void {
  io.out(JSON.stringify(value, null, 2));
}
