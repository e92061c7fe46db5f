import { useMemo, type RefObject } from 'react';
import { cx } from '../parts/cx.js';
import { SpanGrid } from './SpanGrid.js';
import { TimeAxis } from './TimeAxis.js';
import { TraceRow } from './TraceRow.js';
import type { TraceView } from './use-trace-view.js';
import styles from './trace.module.css';

interface Props {
  readonly view: TraceView;
  /** Row index. */
  readonly selected: number;
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly onSelect: (row: number) => void;
}

/** The spans of a run as a tree with bars on the timeline. */
export function TraceGrid({ view, selected, grid, onSelect }: Props) {
  const { rows, hits } = view;
  const hitSet = new Set(hits);
  const most = useMemo(() => rows.reduce((levels, { level }) => Math.max(levels, level), 0), [rows]);
  return (
    <SpanGrid
      label="Spans"
      columns={5}
      className={styles['grid']}
      count={rows.length}
      selected={selected}
      grid={grid}
      onSelect={onSelect}
      levels={{ most, of: (row) => rows[row]?.level ?? 1 }}
      headClass={cx(styles['row'], styles['head'])}
      head={
        <>
          <span role="columnheader">Span</span>
          <span role="none" className={styles['rest']}>
            <span role="columnheader" className={styles['figure']}>
              Duration
            </span>
            <span
              role="columnheader"
              className={cx(styles['figure'], styles['tokens'])}
              title="Including children"
            >
              Tokens
            </span>
            <span
              role="columnheader"
              className={cx(styles['figure'], styles['cost'])}
              title="Including children"
            >
              Cost
            </span>
            <span role="columnheader" className={styles['bars']} aria-label="Timeline">
              <TimeAxis view={view} />
            </span>
          </span>
        </>
      }
      rowOf={(key, { at, ...place }) => {
        const row = rows[at];
        return (
          row && (
            <TraceRow key={key} {...place} at={at} row={row} view={view} isHit={hitSet.has(row.node.index)} />
          )
        );
      }}
    />
  );
}
