/** A column of a list as the user arranged it. */
export interface PlacedColumn {
  readonly name: string;
  /** In pixels, if the user set it. */
  readonly width?: number;
}

interface Named {
  readonly name: string;
  /** Shown only on request. */
  readonly isExtra?: boolean;
}

export const MIN_WIDTH = 48;
export const MAX_WIDTH = 1200;

/**
 * The visible columns in order, from a URL value such as `started_at,agent:200,cost`.
 *
 * @param columns of which the first one is always visible and first
 * @param text empty for the default
 */
export function placedColumns<Column extends Named>(
  columns: readonly Column[],
  text: string,
): readonly (Column & { readonly width?: number })[] {
  const byName = new Map(columns.map((column) => [column.name, column]));
  const found = text.split(',').flatMap((each) => {
    const [name = '', width] = each.split(':');
    const column = byName.get(name);
    if (column === undefined || !byName.delete(name)) return [];
    const px = Math.round(Number(width));
    return [px >= MIN_WIDTH && px <= MAX_WIDTH ? { ...column, width: px } : column];
  });
  if (found.length === 0) return columns.filter(({ isExtra }) => isExtra !== true);
  const first = columns[0];
  return first === undefined || found[0]?.name === first.name
    ? found
    : [first, ...found.filter(({ name }) => name !== first.name)];
}

/** @returns the URL value of visible columns; empty if they are the default */
export function printColumns(columns: readonly Named[], placed: readonly PlacedColumn[]): string {
  const text = placed
    .map(({ name, width }) => (width === undefined ? name : `${name}:${String(width)}`))
    .join(',');
  const usual = columns.filter(({ isExtra }) => isExtra !== true).map(({ name }) => name);
  return text === usual.join(',') ? '' : text;
}

/** Moves a column; the first column keeps its place. @param by places to the right */
export function movedColumn<Column extends PlacedColumn>(
  placed: readonly Column[],
  name: string,
  by: number,
): readonly Column[] {
  const at = placed.findIndex((column) => column.name === name);
  const moved = placed[at];
  const to = at + by;
  if (moved === undefined || at === 0 || to < 1 || to >= placed.length) return placed;
  return placed.toSpliced(at, 1).toSpliced(to, 0, moved);
}

/** @returns the URL value after a column changed its width */
export function resizedColumns(columns: readonly Named[], text: string, name: string, width: number): string {
  const placed = placedColumns(columns, text);
  return printColumns(
    columns,
    placed.map((column) => (column.name === name ? { ...column, width } : column)),
  );
}
