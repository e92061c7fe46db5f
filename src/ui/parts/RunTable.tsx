import { Link } from 'wouter';
import type { Schemas } from '../api/client.js';
import { useRunList } from '../state/run-list.js';
import { DataTable, type Column } from './DataTable.js';
import { Count, Duration, Money, Time } from './figures.js';
import { Status } from './Status.js';
import styles from './parts.module.css';

type Run = Schemas['Run'];

const COLUMNS: readonly Column<Run>[] = [
  {
    name: 'started_at',
    header: 'Started',
    render: ({ trace_id, started_at }) => (
      <Link href={`/traces/${trace_id}`}>
        <Time at={started_at} />
      </Link>
    ),
  },
  { name: 'agent', header: 'Agent', render: ({ agent_name }) => agent_name },
  { name: 'status', header: 'Status', render: ({ status }) => <Status status={status} /> },
  {
    name: 'outcome',
    header: 'Outcome',
    isWide: true,
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
    name: 'spans',
    header: 'Spans',
    isNumber: true,
    render: ({ span_count }) => <Count value={span_count} missing="" />,
  },
  {
    name: 'duration',
    header: 'Duration',
    isNumber: true,
    render: ({ duration_ms }) => <Duration value={duration_ms} missing="It has not ended" />,
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
    render: ({ total_cost_usd }) => (
      <Money value={total_cost_usd} missing="No span has a cost: its models have no price" />
    ),
  },
];

/** A list of runs; a run that is opened from it has the others as its neighbours. */
export function RunTable({
  runs,
  hide = [],
}: {
  readonly runs: readonly Run[];
  /** Columns that say the same in each row. */
  readonly hide?: readonly string[];
}) {
  useRunList(runs.map(({ trace_id }) => trace_id));
  return (
    <DataTable
      label="Runs"
      items={runs}
      columns={COLUMNS.filter(({ name }) => !hide.includes(name))}
      keyOf={({ trace_id }) => trace_id}
      hrefOf={({ trace_id }) => `/traces/${trace_id}`}
    />
  );
}
