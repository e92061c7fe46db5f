import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { formatClock, formatTime } from '../../format/time.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { useSettings } from '../../state/settings.js';
import { useShortcuts } from '../../state/shortcuts.js';
import styles from './logs.module.css';
import type { LogRow } from './use-logs.js';

const ROW_PX = 26;
const OVERSCAN = 20;
/** Closer to the top than this counts as not reading. */
const AT_TOP = 8;
/** Longer lines do not fit on a screen. */
const MAX_SHOWN = 400;

/** Errors get the failure colour; debug records are dimmed. */
export function severityClass(severity: string): string | undefined {
  if (severity === 'error' || severity === 'fatal') return parts['bad'];
  return severity === 'warn' ? styles['warn'] : parts['faint'];
}

/** Records, one line each. Only visible lines are in the DOM. */
export function LogRows({
  rows,
  selected,
  onSelect,
  onReading,
  onEnd,
}: {
  readonly rows: readonly LogRow[];
  /** Record id. */
  readonly selected: string | undefined;
  readonly onSelect: (row: LogRow) => void;
  /** Whether the list is scrolled away from the newest. */
  readonly onReading: (isReading: boolean) => void;
  /** Called near the last rows. */
  readonly onEnd: () => void;
}) {
  const { zone } = useSettings();
  const grid = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => grid.current,
    estimateSize: () => ROW_PX,
    getItemKey: (at) => rows[at]?.id ?? at,
    overscan: OVERSCAN,
  });
  const at = rows.findIndex(({ id }) => id === selected);
  const step = (by: number) => (): void => {
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))];
    if (next) onSelect(next);
  };
  useShortcuts({ j: step(1), k: step(-1) });
  const scrollTo = useRef(virtual.scrollToIndex);
  useEffect(() => {
    scrollTo.current = virtual.scrollToIndex;
  });
  const known = useRef<string>(undefined);
  useEffect(() => {
    // Only after a new selection: arriving records must not scroll the list.
    if (at >= 0 && known.current !== selected) scrollTo.current(at, { align: 'auto' });
    known.current = selected;
  }, [at, selected]);
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length - OVERSCAN - 1) onEnd();
  }, [last, rows.length, onEnd]);
  const isThere = items.some(({ index }) => index === at);
  return (
    <div
      ref={grid}
      className={styles['rows']}
      role="grid"
      aria-label="Log records"
      aria-rowcount={rows.length}
      aria-colcount={4}
      aria-activedescendant={isThere && selected !== undefined ? `log-${selected}` : undefined}
      tabIndex={0}
      onScroll={(event) => {
        onReading(event.currentTarget.scrollTop > AT_TOP);
      }}
      onKeyDown={(event) => {
        if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return;
        event.preventDefault();
        step(event.key === 'ArrowDown' ? 1 : -1)();
      }}
    >
      <div role="rowgroup" className={styles['all']} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ key, index, start }) => {
          const row = rows[index];
          if (!row) return null;
          const ms = Date.parse(row.timestamp);
          return (
            <div
              key={key}
              id={`log-${row.id}`}
              role="row"
              aria-rowindex={index + 1}
              aria-selected={index === at}
              className={styles['row']}
              style={{ transform: `translateY(${String(start)}px)` }}
              onClick={() => {
                onSelect(row);
              }}
            >
              <span role="gridcell" className={styles['time']} title={row.timestamp}>
                <span className={styles['date']}>{formatTime(ms, zone).slice(5, 10)} </span>
                {formatClock(ms, zone)}
              </span>
              <span role="gridcell" className={cx(styles['severity'], severityClass(row.severity))}>
                {row.severity}
              </span>
              <span role="gridcell" className={styles['service']} title={row.service_name}>
                {row.service_name}
              </span>
              <span role="gridcell" className={styles['body']}>
                {row.body?.slice(0, MAX_SHOWN) ?? (
                  <i className={parts['faint']}>{row.event_name ?? 'no body'}</i>
                )}
              </span>
            </div>
          );
        })}
      </div>
    </div>
  );
}
