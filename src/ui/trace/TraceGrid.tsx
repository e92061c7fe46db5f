import type { RefObject } from 'react';
import { cx } from '../parts/cx.js';
import { Dashes } from '../parts/Missing.js';
import { roomFor } from './room-for.js';
import { TimeAxis } from './TimeAxis.js';
import { TraceRow } from './TraceRow.js';
import { useSeenRows } from './use-seen-rows.js';
import type { TraceView } from './use-trace-view.js';
import styles from './trace.module.css';

interface Props {
  readonly view: TraceView;
  /** Position among the rows. */
  readonly chosen: number;
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly onChoose: (row: number) => void;
}

/** Id of the element of a row, which the grid names as the active one. */
function rowId(row: number): string {
  return `row-${String(row)}`;
}

/** The spans of a run as a tree, each with its bar on the time line. Only rows that are seen are in the page. */
export function TraceGrid({ view, chosen, grid, onChoose }: Props) {
  const { rows, hits } = view;
  const virtual = useSeenRows(rows.length, chosen, grid);
  const hitSet = new Set(hits);
  const items = virtual.getVirtualItems();
  const isThere = items.some(({ index }) => index === chosen);
  return (
    <Dashes value="touch">
      <div
        ref={grid}
        className={styles['grid']}
        role="treegrid"
        aria-label="Spans"
        aria-rowcount={rows.length + 1}
        aria-colcount={5}
        aria-activedescendant={isThere ? rowId(chosen) : undefined}
        tabIndex={0}
        style={roomFor(rows.length)}
      >
        <div role="rowgroup" className={styles['head']}>
          <div role="row" aria-rowindex={1} className={styles['row']}>
            <span role="columnheader" className={styles['name']}>
              Span
            </span>
            <span role="columnheader" className={styles['figure']}>
              Duration
            </span>
            <span
              role="columnheader"
              className={cx(styles['figure'], styles['tokens'])}
              title="With all spans below"
            >
              Tokens
            </span>
            <span
              role="columnheader"
              className={cx(styles['figure'], styles['cost'])}
              title="With all spans below"
            >
              Cost
            </span>
            <span role="columnheader" className={styles['bars']} aria-label="Time line">
              <TimeAxis view={view} />
            </span>
          </div>
        </div>
        <div role="rowgroup" className={styles['body']} style={{ height: virtual.getTotalSize() }}>
          {items.map(({ key, index, start }) => {
            const row = rows[index];
            if (!row) return null;
            return (
              <TraceRow
                key={key}
                id={rowId(index)}
                row={row}
                at={index}
                top={start}
                view={view}
                isChosen={index === chosen}
                isHit={hitSet.has(row.node.index)}
                onChoose={onChoose}
              />
            );
          })}
        </div>
      </div>
    </Dashes>
  );
}
