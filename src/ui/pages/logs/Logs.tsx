import { Radio } from 'lucide-react';
import { useCallback, useEffect, useRef, useState, useMemo, type ComponentProps } from 'react';
import { OTLP_ENDPOINT } from '../../api/base.js';
import { formatCount, formatCounted } from '../../format/number.js';
import { arranged } from '../../list/ColumnMenu.js';
import { exportedPages } from '../../list/Export.js';
import { FilterBar } from '../../list/FilterBar.js';
import { ListFrame } from '../../list/ListFrame.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { changeOf, initialOf } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { LogFacets } from './LogFacets.js';
import { LogRecord } from './LogRecord.js';
import { LOG_COLUMNS, LogRows } from './LogRows.js';
import {
  goesOn,
  isFiltered,
  LOGS_STATE,
  parsePlace,
  printPlace,
  SEVERITIES,
  type LogsState,
} from './logs-state.js';
import styles from './logs.module.css';
import { allLogs, useFacets, useLogs } from './use-logs.js';
import type { Schemas } from '../../api/client.js';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { TimeChart } from '../../charts/TimeChart.js';
import { onDrawn, rangeBetween } from '../../state/range.js';

/** Shorter drags select nothing. */
const MIN_MS = 100;
const HEIGHT = 112;

/** Records and errors over time; dragging selects a period. */
function LogHistogram({
  facets,
  onBrush,
}: {
  readonly facets: Schemas['LogFacets'];
  readonly onBrush: (range: string) => void;
}) {
  const drawn = useMemo(() => {
    const times = bucketTimes(facets);
    return {
      times,
      lines: [
        {
          name: 'records',
          values: valuesAt(times, facets.buckets, ({ count }) => count, 0),
          tone: 'quiet' as const,
        },
        {
          name: 'errors',
          values: valuesAt(times, facets.buckets, ({ errors }) => errors, 0),
          tone: 'fail' as const,
        },
      ],
    };
  }, [facets]);
  return (
    <div className={charts['charts']}>
      <TimeChart
        title="Records"
        note={formatCounted(facets.count, 'record')}
        {...drawn}
        kind="bars"
        height={HEIGHT}
        range={[Date.parse(facets.start_time), Date.parse(facets.end_time)]}
        format={formatCount}
        missing="No records in this interval"
        onBrush={onDrawn(MIN_MS, onBrush)}
        onPick={(start, end) => {
          onBrush(rangeBetween(start, end - 1));
        }}
      />
    </div>
  );
}

/** Filters of records; the facets next to the list set severity and service, too. */
const FILTERS = {
  severity: { label: 'Severity', kind: 'choice', choices: SEVERITIES },
  service: { label: 'Service', kind: 'text' },
  trace: { label: 'Run', kind: 'text' },
  span: { label: 'Span', kind: 'text' },
  event: { label: 'Event', kind: 'text' },
  attribute: { label: 'Attribute', kind: 'text', hint: 'KEY=VALUE' },
} as const;
const INITIAL = initialOf(LOGS_STATE);

/** Log records of all services: search, filters and live tail. */
export default function Logs() {
  const [state, change] = useUrlState(LOGS_STATE);
  const [isReading, setReading] = useState(false);
  const facets = useFacets(state);
  const logs = useLogs(state, isReading);
  const canFollow = goesOn(state.range);
  const { menu, table } = arranged(LOG_COLUMNS, state.cols, (cols) => {
    change({ cols }, 'replace');
  });
  return (
    <ListFrame
      title="Logs"
      noun={['record', 'records']}
      count={facets.data?.count}
      search={{
        label: 'Search bodies, event names and attributes: whole words, or a phrase in quotes',
        placeholder: 'Whole words, "a phrase"…',
        value: state.q,
        onChange: (q) => {
          change({ q }, 'replace');
        },
      }}
      columns={menu}
      exported={exportedPages('logs', (signal) => allLogs(state, signal))}
      filters={
        <>
          <FilterBar
            isBounded
            fields={FILTERS}
            values={state}
            initial={INITIAL}
            range={state.range}
            onChange={(values) => {
              // A span is within its run.
              change(changeOf(LOGS_STATE, values['trace'] === '' ? { ...values, span: '' } : values));
            }}
          >
            <button
              type="button"
              className={parts['button']}
              aria-pressed={state.live && canFollow}
              disabled={!canFollow}
              title={
                canFollow ? 'Show new records automatically' : 'This period is over; it gets no new records'
              }
              onClick={() => {
                change({ live: !state.live });
              }}
            >
              <Radio size={14} aria-hidden="true" /> Follow
            </button>
          </FilterBar>
          {facets.data && (
            <LogHistogram
              facets={facets.data}
              onBrush={(range) => {
                change({ range, live: false });
              }}
            />
          )}
        </>
      }
    >
      <Found
        state={state}
        change={change}
        facets={facets}
        logs={logs}
        isReading={isReading}
        setReading={setReading}
        table={table}
      />
    </ListFrame>
  );
}

function Found({
  state,
  change,
  facets,
  logs,
  isReading,
  setReading,
  table,
}: {
  readonly state: LogsState;
  readonly change: (some: Partial<LogsState>, step?: 'push' | 'replace') => void;
  readonly facets: ReturnType<typeof useFacets>;
  readonly logs: ReturnType<typeof useLogs>;
  readonly isReading: boolean;
  readonly setReading: (isReading: boolean) => void;
  readonly table: Pick<ComponentProps<typeof LogRows>, 'columns' | 'onResize'>;
}) {
  const place = parsePlace(state.record);
  const { more, letIn, tail } = logs;
  const latest = useRef({ more, letIn });
  useEffect(() => {
    latest.current = { more, letIn };
  });
  const onEnd = useCallback(() => {
    latest.current.more();
  }, []);
  const onReading = useCallback(
    (reading: boolean) => {
      setReading(reading);
      if (!reading) latest.current.letIn();
    },
    [setReading],
  );
  const list = useRef<HTMLDivElement>(null);
  if (logs.error && !logs.rows) return <Failure error={logs.error} retry={logs.retry} />;
  if (!logs.rows) return <TableSkeleton rows={12} />;
  return (
    <div className={styles['found']} data-open={place !== undefined} aria-busy={logs.isPlaceholder}>
      {facets.data ? (
        <LogFacets facets={facets.data} state={state} onChange={change} />
      ) : facets.error ? (
        <p className={parts['faint']} role="alert">
          Could not count the records.{' '}
          <button type="button" className={parts['button']} onClick={() => void facets.refetch()}>
            Try again
          </button>
        </p>
      ) : (
        <TableSkeleton rows={4} />
      )}
      <div ref={list}>
        <p className={styles['status']} role="status">
          {state.live && goesOn(state.range)
            ? logs.isLive
              ? isReading
                ? `Paused while you read; ${formatCounted(tail.waiting.length, 'new record')}`
                : `Following; ${formatCounted(tail.shown.length, 'record')} received`
              : 'Connecting…'
            : logs.rows.length > 0 &&
              `${formatCount(logs.rows.length)} of ${formatCounted(logs.count ?? 0, 'record')} loaded, newest first`}
          {tail.waiting.length > 0 && (
            <button
              type="button"
              className={parts['button']}
              onClick={() => {
                list.current?.querySelector('[role="grid"]')?.scrollTo({ top: 0 });
              }}
            >
              Show
            </button>
          )}
          <Lost tail={tail} onSearch={logs.reload} />
        </p>
        {logs.rows.length === 0 ? (
          <Nothing state={state} />
        ) : (
          <LogRows
            {...table}
            rows={logs.rows}
            selected={place?.id}
            onSelect={(row) => {
              change({ record: printPlace(row) }, place === undefined ? 'push' : 'replace');
            }}
            onReading={onReading}
            onEnd={onEnd}
          />
        )}
      </div>
      {place && (
        <LogRecord
          key={place.id}
          place={place}
          onChange={change}
          onClose={() => {
            change({ record: '' });
          }}
        />
      )}
    </div>
  );
}

function Lost({
  tail: { lost, hasUnknownLoss },
  onSearch,
}: {
  readonly tail: { readonly lost: number; readonly hasUnknownLoss: boolean };
  readonly onSearch: () => void;
}) {
  if (lost === 0 && !hasUnknownLoss) return null;
  const words =
    lost === 0
      ? 'Connection interrupted: some records may be missing'
      : `${formatCounted(lost, 'record')}${hasUnknownLoss ? ' or more' : ''} skipped: too many at a time`;
  return (
    <span className={styles['lost']}>
      {words}{' '}
      <button type="button" className={parts['button']} onClick={onSearch}>
        Reload
      </button>
    </span>
  );
}

function Nothing({ state }: { readonly state: LogsState }) {
  if (isFiltered(state))
    return (
      <Empty title="No records match">
        <p>
          Remove a filter or widen the time range. Search matches whole words: “pay” does not match “payment”,
          and wildcards are not supported.
        </p>
      </Empty>
    );
  return (
    <Empty title="No records in this period">
      <p>
        Widen the time range, or send logs by OTLP: set OTEL_EXPORTER_OTLP_ENDPOINT to{' '}
        <code>{OTLP_ENDPOINT}</code>.
      </p>
    </Empty>
  );
}
