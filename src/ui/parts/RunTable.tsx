import { Fragment, type ComponentProps } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../api/client.js';
import { zoneLabel } from '../format/time.js';
import { useRunList } from '../state/run-list.js';
import { useSettings } from '../state/settings.js';
import { cx } from './cx.js';
import { DataTable, type Column } from './DataTable.js';
import { Count, Duration, Elapsed, Money, Time } from './figures.js';
import { Missing } from './Missing.js';
import { Status } from './Status.js';
import styles from './parts.module.css';

/** A listed run, optionally with span previews. */
type Run = Schemas['Run'] &
  Pick<Partial<Schemas['ListedRun']>, 'models' | 'error_span_count' | 'input_preview' | 'match' | 'scores'>;

/** Characters shown before the first match of a search. */
const MAX_LEAD = 16;

/** All columns of runs. */
export const RUN_COLUMNS: readonly Column<Run>[] = [
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
    header: 'Result',
    hint: 'The error, or the outcome',
    isWide: true,
    render: ({ outcome, error_message: error }) =>
      (error ?? outcome) === null ? (
        <Missing reason="Outcome not set" />
      ) : (
        <span
          className={cx(styles['lines'], error !== null && styles['bad'])}
          title={error ?? outcome ?? undefined}
        >
          {error ?? outcome}
        </span>
      ),
  },
  {
    name: 'input',
    header: 'Input',
    isWide: true,
    render: ({ trace_id, match, input_preview: input = null }) =>
      match ? (
        <Found traceId={trace_id} match={match} />
      ) : input === null ? (
        <Missing reason="No input in the first spans, or one above 256 KiB" />
      ) : (
        <span className={styles['lines']} title={input}>
          {input}
        </span>
      ),
  },
  {
    name: 'models',
    header: 'Models',
    isCut: true,
    isExtra: true,
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
    isExtra: true,
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
    isExtra: true,
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
    isMinor: true,
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
    isExtra: true,
    render: ({ total_tokens }) => <Count value={total_tokens} missing="No span reports tokens" />,
  },
  {
    name: 'cost',
    header: 'Cost',
    isNumber: true,
    render: ({ total_cost_usd }) => <Money value={total_cost_usd} missing="No span has a cost" />,
  },
  named('user', 'User', ({ user_id }) => user_id),
  named('session', 'Session', ({ session_id }) => session_id),
  {
    name: 'tags',
    header: 'Tags',
    isCut: true,
    isExtra: true,
    render: ({ tags }) => (
      <span title={tags.join(', ')}>
        {tags.map((tag) => (
          <span key={tag} className={styles['chip']}>
            {tag}
          </span>
        ))}
      </span>
    ),
  },
  named('env', 'Environment', ({ environment }) => environment),
  named('release', 'Release', ({ release }) => release),
  named('version', 'Agent version', ({ agent_version }) => agent_version),
];

/** Columns of what a list sums up over runs. */
export const RUN_SUMS = {
  runs: {
    name: 'runs',
    header: 'Runs',
    isNumber: true,
    render: ({ total_runs }) => <Count value={total_runs} missing="" />,
  },
  failed: {
    name: 'failed',
    header: 'Failed',
    isNumber: true,
    render: ({ failed_runs }) => (
      <span className={failed_runs > 0 ? styles['bad'] : undefined}>
        <Count value={failed_runs} missing="" />
      </span>
    ),
  },
  tokens: {
    name: 'tokens',
    header: 'Tokens',
    isNumber: true,
    render: ({ total_tokens }) => <Count value={total_tokens} missing="No span reports tokens" />,
  },
  cost: {
    name: 'cost',
    header: 'Cost',
    isNumber: true,
    render: ({ total_cost }) => <Money value={total_cost} missing="No run has a cost" />,
  },
} as const satisfies Readonly<
  Record<
    string,
    Column<Pick<Schemas['Session'], 'total_runs' | 'failed_runs' | 'total_tokens' | 'total_cost'>>
  >
>;

/** A column of a field that some runs have. */
function named(name: string, header: string, read: (run: Run) => string | null): Column<Run> {
  return {
    name,
    header,
    isCut: true,
    isExtra: true,
    render: (run) => {
      const value = read(run);
      return value === null ? <Missing reason="Not set" /> : <span title={value}>{value}</span>;
    },
  };
}

/** Where a search found its words, linked to the span. */
function Found({
  traceId,
  match: { span_id, span_name, snippet, marks },
}: {
  readonly traceId: string;
  readonly match: NonNullable<Schemas['ListedRun']['match']>;
}) {
  return (
    <Link
      href={`/traces/${traceId}${span_id === null ? '' : `?span=${span_id}`}`}
      className={styles['lines']}
      title={span_name ?? undefined}
    >
      <Marked {...withoutLead(snippet, marks)} />
    </Link>
  );
}

/** Starts a snippet shortly before its first mark, which a narrow column would not show otherwise. */
function withoutLead(text: string, marks: readonly (readonly number[])[]): ComponentProps<typeof Marked> {
  const first = marks[0]?.[0] ?? 0;
  if (first <= MAX_LEAD) return { text, marks };
  const blank = text.indexOf(' ', first - MAX_LEAD);
  const from = blank < 0 || blank >= first ? first : blank + 1;
  // The ellipsis takes one place.
  return { text: `…${text.slice(from)}`, marks: marks.map((ends) => ends.map((end) => end - from + 1)) };
}

/** A text with highlighted parts. @param marks start and end of each, ascending */
export function Marked({
  text,
  marks,
}: {
  readonly text: string;
  readonly marks: readonly (readonly number[])[];
}) {
  const ends = [0, ...marks.map(([, end = 0]) => end)];
  return (
    <>
      {marks.map(([start = 0, end = 0], i) => (
        <Fragment key={start}>
          {text.slice(ends[i], start)}
          <mark>{text.slice(start, end)}</mark>
        </Fragment>
      ))}
      {text.slice(ends.at(-1))}
    </>
  );
}

/** Columns of lists without previews of spans, whose columns are fixed. */
const FIXED: readonly Column<Run>[] = RUN_COLUMNS.filter(
  ({ name, isExtra }) => name !== 'input' && (isExtra !== true || name === 'tokens'),
);

/** A list of runs, which become neighbours of a run that is opened from it. */
export function RunTable({
  runs,
  hide = [],
  columns = FIXED,
  ...rest
}: {
  readonly runs: readonly Run[];
  /** Names of hidden columns. */
  readonly hide?: readonly string[];
  /** Columns in order. */
  readonly columns?: readonly Column<Run>[];
} & Pick<ComponentProps<typeof DataTable<Run>>, 'selection' | 'onPreview' | 'onResize' | 'sort'>) {
  const { zone } = useSettings();
  const zoned = (column: Column<Run>): Column<Run> =>
    column.name === 'started_at' ? { ...column, header: `Started, ${zoneLabel(Date.now(), zone)}` } : column;
  useRunList(runs.map(({ trace_id }) => trace_id));
  return (
    <DataTable
      label="Runs"
      items={runs}
      columns={columns.filter(({ name }) => !hide.includes(name)).map(zoned)}
      keyOf={({ trace_id }) => trace_id}
      hrefOf={({ trace_id }) => `/traces/${trace_id}`}
      {...rest}
    />
  );
}
