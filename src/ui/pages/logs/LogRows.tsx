import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { formatClock, formatTime } from '../../format/time.js';
import { cx } from '../../parts/cx.js';
import { Grip, type Column, type Dragged } from '../../parts/DataTable.js';
import parts from '../../parts/parts.module.css';
import { useSettings } from '../../state/settings.js';
import { useShortcuts } from '../../state/shortcuts.js';
import styles from './logs.module.css';
import { loggedScoreText } from './logged-score.js';
import type { LogRow } from './use-logs.js';

/** Of the header, too. */
const ROW_PX = 26;
const OVERSCAN = 20;
/** Closer to the top than this counts as not reading. */
const AT_TOP = 8;
/** Longer lines do not fit on a screen. */
const MAX_SHOWN = 400;

/** Errors get the failure colour and warnings their own; other severities are dimmed. */
export function severityClass(severity: string): string | undefined {
  if (severity === 'error' || severity === 'fatal') return parts['bad'];
  return severity === 'warn' ? styles['warn'] : parts['faint'];
}

function Clock({ at }: { readonly at: string }) {
  const { zone } = useSettings();
  const ms = Date.parse(at);
  return (
    <span title={at}>
      <span className={styles['date']}>{formatTime(ms, zone).slice(5, 10)} </span>
      {formatClock(ms, zone)}
    </span>
  );
}

/** Names are those of the stylesheet, too. */
export const LOG_COLUMNS: readonly Column<LogRow>[] = [
  { name: 'time', header: 'Time', render: ({ timestamp }) => <Clock at={timestamp} /> },
  {
    name: 'severity',
    header: 'Severity',
    render: ({ severity }) => <span className={severityClass(severity)}>{severity}</span>,
  },
  {
    name: 'service',
    header: 'Service',
    render: ({ service_name: name }) => <span title={name}>{name}</span>,
  },
  {
    name: 'event',
    header: 'Event',
    isExtra: true,
    render: ({ event_name: name }) => <span title={name ?? ''}>{name}</span>,
  },
  {
    name: 'body',
    header: 'Body',
    isWide: true,
    render: (row) =>
      (loggedScoreText(row) ?? row.body)?.slice(0, MAX_SHOWN) ?? (
        <i className={parts['faint']}>{row.event_name ?? 'no body'}</i>
      ),
  },
  {
    name: 'attributes',
    header: 'Attributes',
    isExtra: true,
    isWide: true,
    render: ({ attributes }) =>
      Object.entries(attributes)
        .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
        .join(' ')
        .slice(0, MAX_SHOWN),
  },
  { name: 'run', header: 'Run', isExtra: true, render: ({ trace_id }) => trace_id },
  { name: 'span', header: 'Span', isExtra: true, render: ({ span_id }) => span_id },
];

/** Records, one line each. Only visible lines are in the DOM. */
export function LogRows({
  rows,
  columns,
  onResize,
  selected,
  onSelect,
  onReading,
  onEnd,
}: {
  readonly rows: readonly LogRow[];
  readonly columns: readonly Column<LogRow>[];
  /** Called with the width of a column in pixels. */
  readonly onResize: (name: string, width: number) => void;
  /** Record id. */
  readonly selected: string | undefined;
  readonly onSelect: (row: LogRow) => void;
  /** Whether the list is scrolled away from the newest. */
  readonly onReading: (isReading: boolean) => void;
  /** Called near the last rows. */
  readonly onEnd: () => void;
}) {
  const [dragged, setDragged] = useState<Dragged>();
  const sizeOf = ({ name, width }: Column<LogRow>) => {
    const px = dragged?.name === name ? dragged.width : width;
    return px === undefined ? undefined : { flex: 'none', width: px };
  };
  const classOf = ({ name, isWide }: Column<LogRow>): string => cx(styles[name], isWide && styles['wide']);
  const grid = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => grid.current,
    estimateSize: () => ROW_PX,
    getItemKey: (at) => rows[at]?.id ?? at,
    overscan: OVERSCAN,
    paddingStart: ROW_PX,
    scrollPaddingStart: ROW_PX,
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
      aria-rowcount={rows.length + 1}
      aria-colcount={columns.length}
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
        <div role="row" aria-rowindex={1} className={cx(styles['row'], styles['header'])}>
          {columns.map((column) => (
            <span key={column.name} role="columnheader" className={classOf(column)} style={sizeOf(column)}>
              {column.header}
              <Grip name={column.name} onDrag={setDragged} onDrop={onResize} />
            </span>
          ))}
        </div>
        {items.map(({ key, index, start }) => {
          const row = rows[index];
          if (!row) return null;
          return (
            <div
              key={key}
              id={`log-${row.id}`}
              role="row"
              aria-rowindex={index + 2}
              aria-selected={index === at}
              className={styles['row']}
              style={{ transform: `translateY(${String(start)}px)` }}
              onClick={() => {
                onSelect(row);
              }}
            >
              {columns.map((column) => (
                <span key={column.name} role="gridcell" className={classOf(column)} style={sizeOf(column)}>
                  {column.render(row)}
                </span>
              ))}
            </div>
          );
        })}
      </div>
    </div>
  );
}
