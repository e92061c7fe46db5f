import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import {
  useCallback,
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
/** Of trees with more than `MANY_LEVELS`, so that the rows of a screen can be read together. */
const DEEP_INDENT_PX = 7;
const MANY_LEVELS = 24;
/** Deeper levels are not indented further, to leave room for the name, unless the grid scrolls sideways. */
const MAX_INDENT = 16;
/** Space for a name at the deepest level; deep trees scroll sideways anyway and get more. */
const NAME_PX = 110;
const DEEP_NAME_PX = 190;
/** Of a row and its figures. */
const PADDING_PX = 24;
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

interface Levels {
  readonly most: number;
  /** The level of a row. */
  readonly of: (row: number) => number;
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
  /** The grid then scrolls sideways to deep rows. */
  readonly levels?: Levels;
}) {
  const virtual = useSeenRows(count, selected, grid);
  const items = virtual.getVirtualItems();
  useSeenLevels(levels, selected, virtual.range, grid);
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

/**
 * Scrolls sideways until the name of the selected row can be read, and in deep trees those of all visible rows:
 * the deepest ones if they do not fit.
 */
function useSeenLevels(
  levels: Levels | undefined,
  selected: number,
  visible: { readonly startIndex: number; readonly endIndex: number } | null,
  grid: RefObject<HTMLDivElement | null>,
): void {
  const latest = useRef(levels);
  useEffect(() => {
    latest.current = levels;
  });
  const see = useCallback(
    (first: number, last: number): void => {
      const [box, known] = [grid.current, latest.current];
      if (!box || !known) return;
      const indent = indentOf(known.most);
      const starts = Array.from({ length: last - first + 1 }, (_, at) => (known.of(first + at) - 1) * indent);
      const [from, to] = [Math.min(...starts), Math.max(...starts)];
      const figures = box.querySelector('[role="columnheader"]')?.nextElementSibling?.clientWidth ?? 0;
      const room = Math.max(0, box.clientWidth - figures - DEEP_NAME_PX - PADDING_PX);
      if (from >= box.scrollLeft && to <= box.scrollLeft + room) return;
      box.scrollLeft = Math.max(0, from - 2 * indent, to - room);
    },
    [grid],
  );
  const isDeep = levels !== undefined && levels.most > DEEP;
  const { startIndex: first = 0, endIndex: last = 0 } = visible ?? {};
  useEffect(() => {
    if (isDeep) see(first, last);
  }, [see, isDeep, first, last]);
  useEffect(() => {
    if (selected >= 0) see(selected, selected);
  }, [see, selected]);
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
        style={{ paddingLeft: `calc(min(${String(level - 1)}, var(--levels)) * var(--indent))` }}
      >
        {name}
      </span>
      {children}
    </div>
  );
}

function indentOf(levels: number): number {
  return levels > MANY_LEVELS ? DEEP_INDENT_PX : INDENT_PX;
}

/** Passes maximum height, indentation and width of names to the stylesheet. @param rows below the header */
function roomFor(rows: number, levels = 0): CSSProperties {
  const indent = indentOf(levels);
  const needed = {
    '--needed': `${String((rows + 1) * ROW_PX + 2)}px`,
    '--levels': levels === 0 ? MAX_INDENT : levels,
    '--indent': `${String(indent)}px`,
    '--names': `${String(levels * indent + (levels > DEEP ? DEEP_NAME_PX : NAME_PX))}px`,
  };
  return needed as CSSProperties;
}
