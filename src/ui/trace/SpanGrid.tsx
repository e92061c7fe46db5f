import type { AriaAttributes, ReactNode, RefObject } from 'react';
import { cx } from '../parts/cx.js';
import { roomFor } from './room-for.js';
import { useSeenRows } from './use-seen-rows.js';
import styles from './span-grid.module.css';

const INDENT_PX = 14;
/** Deeper levels are not moved further: the name would have no room. */
const MOST_INDENT = 16;

/** Where a row stands. */
export interface RowPlace {
  /** Position among the rows. */
  readonly at: number;
  /** In pixels. */
  readonly top: number;
  readonly isChosen: boolean;
  readonly onChoose: (row: number) => void;
}

/** A grid of spans, one row a span, below a head that stays. Only rows that are seen are in the page. */
export function SpanGrid({
  label,
  columns,
  className,
  count,
  chosen,
  grid,
  onChoose,
  head,
  headClass,
  rowOf,
}: {
  readonly label: string;
  readonly columns: number;
  /** Says how high it is, beside others. */
  readonly className: string | undefined;
  /** Of the rows. */
  readonly count: number;
  /** Position among the rows. */
  readonly chosen: number;
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly onChoose: (row: number) => void;
  /** The column headers. */
  readonly head: ReactNode;
  /** Says how wide the columns are, beside others. */
  readonly headClass: string;
  readonly rowOf: (key: string, place: RowPlace) => ReactNode;
}) {
  const virtual = useSeenRows(count, chosen, grid);
  const items = virtual.getVirtualItems();
  return (
    <div
      ref={grid}
      className={cx(styles['grid'], className)}
      role="treegrid"
      aria-label={label}
      aria-rowcount={count + 1}
      aria-colcount={columns}
      // Names the active row.
      aria-activedescendant={items.some(({ index }) => index === chosen) ? rowId(chosen) : undefined}
      tabIndex={0}
      style={roomFor(count)}
    >
      <div role="rowgroup" className={styles['head']}>
        <div role="row" aria-rowindex={1} className={cx(styles['columns'], headClass)}>
          {head}
        </div>
      </div>
      <div role="rowgroup" className={styles['body']} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ key, index, start }) =>
          rowOf(String(key), { at: index, top: start, isChosen: index === chosen, onChoose }),
        )}
      </div>
    </div>
  );
}

function rowId(row: number): string {
  return `span-row-${String(row)}`;
}

/** One row of it, with the name's cell first. */
export function SpanRow({
  place: { at, top, isChosen, onChoose },
  level,
  className,
  name,
  children,
  ...aria
}: AriaAttributes & {
  readonly place: RowPlace;
  /** From 1. */
  readonly level: number;
  /** Says how wide the columns are, beside others. */
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
      aria-selected={isChosen}
      className={cx(styles['columns'], styles['row'], className, isChosen && styles['chosen'])}
      style={{ transform: `translateY(${String(top)}px)` }}
      onClick={() => {
        onChoose(at);
      }}
    >
      <span
        role="gridcell"
        className={styles['name']}
        style={{ paddingLeft: Math.min(level - 1, MOST_INDENT) * INDENT_PX }}
      >
        {name}
      </span>
      {children}
    </div>
  );
}
