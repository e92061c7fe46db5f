import { useQuery } from '@tanstack/react-query';
import { OTLP_ENDPOINT } from '../../api/base.js';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { unitName } from '../../format/number.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { Link } from 'wouter';
import { useUrlState } from '../../state/use-url-state.js';
import styles from './metrics.module.css';
import { METRICS_STATE } from './metrics-state.js';
import { OneMetric } from './OneMetric.js';

const REFRESH_MS = 30_000;

type Metric = Schemas['Metric'];

function pathOf(name: string): string {
  return `/explore/metrics?m=${encodeURIComponent(name)}`;
}

const COLUMNS: readonly Column<Metric>[] = [
  {
    name: 'name',
    header: 'Metric',
    isWide: true,
    render: ({ name, description }) => (
      <Link href={pathOf(name)} title={description}>
        {name}
      </Link>
    ),
  },
  { name: 'type', header: 'Kind', render: ({ type }) => type.replace('_', ' ') },
  {
    name: 'unit',
    header: 'Unit',
    render: ({ unit }) =>
      unit === '' ? <Missing reason="No unit" /> : <span title={unit}>{unitName(unit) || 'none'}</span>,
  },
  {
    name: 'points',
    header: 'Points',
    isNumber: true,
    render: ({ data_point_count }) => <Count value={data_point_count} missing="" />,
  },
  {
    name: 'last',
    header: 'Last seen',
    isNumber: true,
    render: ({ last_seen_at }) => <Time at={last_seen_at} relative />,
  },
];

/** Metrics of all services: the list, or one metric over time. */
export default function Metrics() {
  const [state, change] = useUrlState(METRICS_STATE);
  const { data, error, refetch } = useQuery({
    queryKey: ['metrics'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/dashboard/metrics/', { signal })),
    refetchInterval: REFRESH_MS,
  });
  if (state.m !== '' && data) {
    const metric = data.find(({ name }) => name === state.m);
    if (metric) return <OneMetric key={metric.name} metric={metric} state={state} change={change} />;
  }
  const words = state.q.toLowerCase();
  const shown = data?.filter(({ name, description }) =>
    `${name} ${description}`.toLowerCase().includes(words),
  );
  return (
    <div className={parts['page']}>
      <title>Metrics · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Metrics</h1>
        <input
          type="search"
          className={parts['field']}
          aria-label="Search metrics by name or description"
          placeholder="Name, description…"
          value={state.q}
          onChange={(event) => {
            change({ q: event.target.value }, 'replace');
          }}
        />
      </div>
      {state.m !== '' && data && (
        <p role="status" className={styles['about']}>
          Metric {state.m} not found: it was never sent, or its points were deleted.
        </p>
      )}
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : shown === undefined ? (
        <TableSkeleton rows={10} />
      ) : shown.length === 0 ? (
        <Empty title={data?.length === 0 ? 'No metrics yet' : 'No metrics match'}>
          <p>
            {data?.length === 0 ? (
              <>
                Send metrics by OTLP: set OTEL_EXPORTER_OTLP_ENDPOINT to <code>{OTLP_ENDPOINT}</code>.
              </>
            ) : (
              'Search by part of a name or description.'
            )}
          </p>
        </Empty>
      ) : (
        <DataTable
          label="Metrics"
          items={shown}
          columns={COLUMNS}
          keyOf={({ name }) => name}
          hrefOf={({ name }) => pathOf(name)}
        />
      )}
    </div>
  );
}
