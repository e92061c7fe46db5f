import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import {
  useEffect,
  useRef,
  type AriaAttributes,
  type ReactNode,
  type RefObject,
  type CSSProperties,
} from 'react';
import { cx } from '../parts/cx.js';
import styles from './span-grid.module.css';

/** Row height of a span grid. */
const ROW_PX = 28;

const INDENT_PX = 14;
/** Deeper levels are not indented further, to leave room for the name, unless the grid scrolls sideways. */
const MAX_INDENT = 16;
/** Room for a name at the deepest level; deep trees scroll sideways anyway and get more. */
const NAME_PX = 110;
const DEEP_NAME_PX = 190;
const DEEP = 10;
const OVERSCAN = 12;

/** Position of a row. */
export interface RowPlace {
  /** Row index. */
  readonly at: number;
  /** In pixels. */
  readonly top: number;
  readonly isSelected: boolean;
  readonly onSelect: (row: number) => void;
}

/** A grid with one row per span and a sticky header. Only visible rows are in the DOM. */
export function SpanGrid({
  label,
  columns,
  className,
  count,
  selected,
  grid,
  onSelect,
  head,
  headClass,
  rowOf,
  levels,
}: {
  readonly label: string;
  readonly columns: number;
  /** Sets the height, among other things. */
  readonly className: string | undefined;
  /** Number of rows. */
  readonly count: number;
  /** Row index. */
  readonly selected: number;
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly onSelect: (row: number) => void;
  /** The column headers. */
  readonly head: ReactNode;
  /** Sets the column widths, among other things. */
  readonly headClass: string;
  readonly rowOf: (key: string, place: RowPlace) => ReactNode;
  /** Levels of all rows and of the selected one; the grid then scrolls sideways to deep rows. */
  readonly levels?: { readonly most: number; readonly selected: number };
}) {
  const virtual = useSeenRows(count, selected, grid);
  useSeenLevel(levels?.selected, selected, grid);
  const items = virtual.getVirtualItems();
  return (
    <div
      ref={grid}
      className={cx(styles['grid'], className)}
      role="treegrid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={columns}
      // The active row.
      aria-activedescendant={items.some(({ index }) => index === selected) ? rowId(selected) : undefined}
      tabIndex={0}
      style={roomFor(count, levels?.most)}
    >
      <div role="rowgroup" className={styles['head']}>
        <div role="row" aria-rowindex={1} className={cx(styles['columns'], headClass)}>
          {head}
        </div>
      </div>
      <div role="rowgroup" className={styles['body']} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ key, index, start }) =>
          rowOf(String(key), { at: index, top: start, isSelected: index === selected, onSelect }),
        )}
      </div>
    </div>
  );
}

/**
 * Virtualizes a span grid: only rows near the viewport are in the DOM. The selected row is scrolled into
 * view.
 *
 * @param selected row index; negative for none
 */
function useSeenRows(
  count: number,
  selected: number,
  grid: RefObject<HTMLDivElement | null>,
): Virtualizer<HTMLDivElement, Element> {
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => grid.current,
    estimateSize: () => ROW_PX,
    overscan: OVERSCAN,
    // The header covers the first rows.
    scrollPaddingStart: 2 * ROW_PX,
    scrollPaddingEnd: ROW_PX,
  });
  const scrollTo = useRef(virtual.scrollToIndex);
  useEffect(() => {
    scrollTo.current = virtual.scrollToIndex;
  });
  useEffect(() => {
    if (selected >= 0) scrollTo.current(selected, { align: 'auto' });
  }, [selected]);
  return virtual;
}

/** Scrolls sideways until the name of the selected row is visible. */
function useSeenLevel(
  level: number | undefined,
  selected: number,
  grid: RefObject<HTMLDivElement | null>,
): void {
  useEffect(() => {
    const box = grid.current;
    if (level === undefined || !box) return;
    const from = (level - 1) * INDENT_PX;
    const isSeen = from >= box.scrollLeft && from + NAME_PX <= box.scrollLeft + box.clientWidth / 2;
    if (!isSeen) box.scrollLeft = Math.max(0, from - 2 * INDENT_PX);
  }, [level, selected, grid]);
}

function rowId(row: number): string {
  return `span-row-${String(row)}`;
}

/** A row of the grid; the name cell comes first. */
export function SpanRow({
  place: { at, top, isSelected, onSelect },
  level,
  className,
  name,
  children,
  ...aria
}: AriaAttributes & {
  readonly place: RowPlace;
  /** From 1. */
  readonly level: number;
  /** Sets the column widths, among other things. */
  readonly className: string;
  readonly name: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div
      {...aria}
      id={rowId(at)}
      role="row"
      aria-rowindex={at + 2}
      aria-level={level}
      aria-selected={isSelected}
      className={cx(styles['columns'], styles['row'], className, isSelected && styles['selected'])}
      style={{ transform: `translateY(${String(top)}px)` }}
      onClick={() => {
        onSelect(at);
      }}
    >
      <span
        role="gridcell"
        className={styles['name']}
        style={{ paddingLeft: `calc(min(${String(level - 1)}, var(--levels)) * ${String(INDENT_PX)}px)` }}
      >
        {name}
      </span>
      {children}
    </div>
  );
}

/** Passes maximum height, indentation and width of names to the stylesheet. @param rows below the header */
function roomFor(rows: number, levels: number | undefined): CSSProperties {
  const needed = {
    '--needed': `${String((rows + 1) * ROW_PX + 2)}px`,
    '--levels': levels ?? MAX_INDENT,
    '--names': `${String((levels ?? 0) * INDENT_PX + ((levels ?? 0) > DEEP ? DEEP_NAME_PX : NAME_PX))}px`,
  };
  return needed as CSSProperties;
}
