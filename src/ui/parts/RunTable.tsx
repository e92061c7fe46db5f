import { Fragment, type ComponentProps } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.js';
import { zoneLabel } from '../format/time.js';
import { useRunList } from '../state/run-list.js';
import { useSettings } from '../state/settings.js';
import { DataTable, type Column } from './DataTable.js';
import { Count, Duration, Elapsed, Money, Time } from './figures.js';
import { Missing } from './Missing.js';
import { Status } from './Status.js';
import styles from './parts.module.css';

/** A listed run, optionally with span previews. */
type Run = Schemas['Run'] &
  Pick<Partial<Schemas['ListedRun']>, 'models' | 'error_span_count' | 'input_preview' | 'match' | 'scores'>;

interface RunColumn extends Column<Run> {
  /** Needs span previews. */
  readonly isSpanned?: boolean;
}

const COLUMNS: readonly RunColumn[] = [
  {
    name: 'started_at',
    header: 'Started',
    render: ({ trace_id, started_at }) => (
      <Link href={`/traces/${trace_id}`}>
        <Time at={started_at} />
      </Link>
    ),
  },
  {
    name: 'agent',
    header: 'Agent',
    render: ({ agent_name }) => (
      <span className={styles['name']} title={agent_name}>
        {agent_name}
      </span>
    ),
  },
  { name: 'status', header: 'Status', render: ({ status }) => <Status status={status} /> },
  {
    name: 'outcome',
    header: 'Outcome',
    isCut: true,
    render: ({ outcome, error_message, tags }) => (
      <>
        {error_message !== null ? <span className={styles['bad']}>{error_message}</span> : outcome}
        {tags.map((tag) => (
          <span key={tag} className={styles['chip']}>
            {tag}
          </span>
        ))}
      </>
    ),
  },
  {
    name: 'input',
    header: 'Input',
    isWide: true,
    isSpanned: true,
    render: ({ trace_id, match, input_preview: input = null }) =>
      match ? (
        <Found traceId={trace_id} match={match} />
      ) : (
        (input ?? <Missing reason="No input in the first spans" />)
      ),
  },
  {
    name: 'models',
    header: 'Models',
    isCut: true,
    isSpanned: true,
    render: ({ models = null }) =>
      models === null ? (
        <Missing reason="Too many spans for the list" />
      ) : (
        <span title={models.join(', ')}>{models.join(', ')}</span>
      ),
  },
  {
    name: 'errors',
    header: 'Errors',
    hint: 'Spans that failed or timed out',
    isNumber: true,
    isSpanned: true,
    render: ({ error_span_count: errors = null }) => (
      <span className={errors !== null && errors > 0 ? styles['bad'] : undefined}>
        <Count value={errors} missing="Too many spans for the list" />
      </span>
    ),
  },
  {
    name: 'scores',
    header: 'Scores',
    hint: 'Means by name; with several scores, their number',
    isCut: true,
    isSpanned: true,
    render: ({ scores = [] }) =>
      scores.length === 0 ? (
        <Missing reason="No scores" />
      ) : (
        scores.map(({ name, mean, label, scores: count }) => (
          <span key={name} className={styles['chip']}>
            {[name, mean === null ? label : Number(mean.toPrecision(4)), count > 1 && `(${String(count)})`]
              .filter((part) => part !== null && part !== false)
              .join(' ')}
          </span>
        ))
      ),
  },
  {
    name: 'spans',
    header: 'Spans',
    isNumber: true,
    render: ({ span_count }) => <Count value={span_count} missing="" />,
  },
  {
    name: 'duration',
    header: 'Duration',
    isNumber: true,
    render: ({ status, started_at, duration_ms }) =>
      status === 'running' && duration_ms === null ? (
        <Elapsed since={started_at} />
      ) : (
        <Duration value={duration_ms} missing="Still running" />
      ),
  },
  {
    name: 'tokens',
    header: 'Tokens',
    isNumber: true,
    render: ({ total_tokens }) => <Count value={total_tokens} missing="No span reports tokens" />,
  },
  {
    name: 'cost',
    header: 'Cost',
    isNumber: true,
    render: ({ total_cost_usd }) => <Money value={total_cost_usd} missing="No span has a cost" />,
  },
];

/** Where a search found its words, linked to the span. */
function Found({
  traceId,
  match: { span_id, span_name, snippet, marks },
}: {
  readonly traceId: string;
  readonly match: NonNullable<Schemas['ListedRun']['match']>;
}) {
  const ends = [0, ...marks.map(([, end = 0]) => end)];
  return (
    <Link
      href={`/traces/${traceId}${span_id === null ? '' : `?span=${span_id}`}`}
      title={span_name ?? undefined}
    >
      {marks.map(([start = 0, end = 0], i) => (
        <Fragment key={start}>
          {snippet.slice(ends[i], start)}
          <mark>{snippet.slice(start, end)}</mark>
        </Fragment>
      ))}
      {snippet.slice(ends.at(-1))}
    </Link>
  );
}

/** Optional columns with their labels. */
export const RUN_COLUMNS: Readonly<Record<string, string>> = Object.fromEntries(
  COLUMNS.slice(1).map(({ name, header }) => [name, header]),
);

/** A list of runs, which become neighbours of a run that is opened from it. */
export function RunTable({
  runs,
  hide = [],
  withSpans = false,
  ...rest
}: {
  readonly runs: readonly Run[];
  /** Hidden columns. */
  readonly hide?: readonly string[];
  /** Whether span previews are shown. */
  readonly withSpans?: boolean;
} & Pick<ComponentProps<typeof DataTable<Run>>, 'selection' | 'onPreview' | 'sort'>) {
  const { zone } = useSettings();
  const zoned = (column: RunColumn): RunColumn =>
    column.name === 'started_at' ? { ...column, header: `Started, ${zoneLabel(Date.now(), zone)}` } : column;
  useRunList(runs.map(({ trace_id }) => trace_id));
  return (
    <DataTable
      label="Runs"
      items={runs}
      columns={COLUMNS.filter(
        ({ name, isSpanned = false }) => !hide.includes(name) && (withSpans || !isSpanned),
      ).map(zoned)}
      keyOf={({ trace_id }) => trace_id}
      hrefOf={({ trace_id }) => `/traces/${trace_id}`}
      {...rest}
    />
  );
}
