import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import charts from '../../charts/charts.module.css';
import { formatCounted } from '../../format/number.js';
import { contextQuery, DIMENSION_FILTERS, DIMENSION_STATE } from '../../list/filters.js';
import { LIST_STATE, PagedList } from '../../list/PagedList.js';
import { useFresh } from '../../live/use-fresh.js';
import type { Column } from '../../parts/DataTable.js';
import { Count, Duration, Money, Percentage, Time } from '../../parts/figures.js';
import parts from '../../parts/parts.module.css';
import { oneOf, text } from '../../state/codec.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';
import { useSeries } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';
import { FirstRun } from './FirstRun.js';
import { Compared, failureRate, successRate } from './GroupTable.js';
import { useAgentCount, useOpenFirstRun } from './use-first-runs.js';

type Agent = Schemas['AgentSummary'];

const [WIDTH, HEIGHT] = [96, 20];
const SORTABLE = ['name', 'total_runs', 'total_cost', 'avg_cost_per_run', 'last_run_at'] as const;
const SORTS = SORTABLE.flatMap((name) => [name, `-${name}`] as const);
const STATE = {
  ...LIST_STATE,
  q: text(),
  ...DIMENSION_STATE,
  range: rangeField(PAGE_RANGES['/agents']),
  sort: oneOf(SORTS, '-last_run_at'),
};

const idOf = ({ id }: Agent): string => id;

const COLUMNS: readonly Column<Agent>[] = [
  {
    name: 'name',
    header: 'Agent',
    isWide: true,
    render: ({ id, name }) => <Link href={`/agents/${id}`}>{name === '' ? '(no name)' : name}</Link>,
  },
  {
    name: 'total_runs',
    header: 'Runs',
    isNumber: true,
    render: ({ total_runs, periods }) => (
      <Compared now={total_runs} before={periods?.previous_total.runs ?? null}>
        <Count value={total_runs} missing="" />
      </Compared>
    ),
  },
  {
    name: 'success_percentage',
    header: 'Success',
    hint: 'Share of the runs that report success or failure',
    isNumber: true,
    render: ({ success_percentage, periods }) => (
      <Compared
        now={success_percentage}
        before={periods ? successRate(periods.previous_total) : null}
        isShare
      >
        <Percentage value={success_percentage} missing="No run reports success or failure" />
      </Compared>
    ),
  },
  {
    name: 'failure_percentage',
    header: 'Failed',
    hint: 'Failed or timed out, as a share of ended runs',
    isNumber: true,
    render: ({ failure_percentage, failed_runs, periods }) => (
      <Compared
        now={failure_percentage}
        before={periods ? failureRate(periods.previous_total) : null}
        isWorse={failed_runs > 0}
        isShare
      >
        <Percentage value={failure_percentage} missing="No run has ended yet" />
      </Compared>
    ),
  },
  ...(['p50', 'p95'] as const).map((name): Column<Agent> => ({
    name,
    header: name,
    hint: name === 'p50' ? 'Median run duration' : '95th percentile of run durations',
    isNumber: true,
    render: ({ periods }) => {
      const [now, before] = [periods?.total[`${name}_ms`], periods?.previous_total[`${name}_ms`]];
      return (
        <Compared now={now ?? null} before={before ?? null}>
          <Duration
            value={now ?? null}
            missing={periods ? 'No runs ended in this period' : 'Select a period shorter than all time'}
          />
        </Compared>
      );
    },
  })),
  {
    name: 'avg_cost_per_run',
    header: 'Cost per run',
    hint: 'Average over runs with a cost',
    isNumber: true,
    render: ({ avg_cost_per_run, periods }) => (
      <Compared now={avg_cost_per_run} before={periods?.previous_total.cost_per_run ?? null}>
        <Money value={avg_cost_per_run} missing="No run has a cost" />
      </Compared>
    ),
  },
  {
    name: 'total_cost',
    header: 'Cost',
    isNumber: true,
    render: ({ total_cost, periods }) => (
      <Compared now={total_cost} before={periods?.previous_total.cost ?? null}>
        <Money value={total_cost} missing="No run has a cost" />
      </Compared>
    ),
  },
  {
    name: 'last_run_at',
    header: 'Last run',
    isNumber: true,
    render: (agent) => <Time at={agent.last_run_at} relative missing="No runs in this period" />,
  },
];

/** Runs of the busiest agents over time; the API has no series for the others. */
function useSparkline(range: string, context: ReturnType<typeof contextQuery>): Column<Agent> {
  const { data } = useSeries(range, { group_by: 'agent', ...context });
  const drawn = useMemo(() => {
    if (!data) return undefined;
    const times = bucketTimes(data);
    return new Map(
      data.groups.map(({ key, buckets }) => [
        key,
        valuesAt(times, buckets, ({ runs }) => runs, 0).map((value) => value ?? 0),
      ]),
    );
  }, [data]);
  return {
    name: 'sparkline',
    header: 'Activity',
    hint: 'Runs over time of the busiest agents; each row has its own scale',
    isMinor: true,
    render: ({ id, name }) => <Sparkline label={`Runs of ${name} over time`} values={drawn?.get(id) ?? []} />,
  };
}

/** A line without axes, scaled to its highest value. Renders nothing without values. */
function Sparkline({ label, values }: { readonly label: string; readonly values: readonly number[] }) {
  const most = Math.max(...values, 0);
  if (most === 0) return null;
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map((value, at) => {
    const y = HEIGHT - 1 - (value / most) * (HEIGHT - 2);
    return `${(at * step).toFixed(1)},${y.toFixed(1)}`;
  });
  const sum = values.reduce((all, one) => all + one, 0);
  return (
    <svg
      className={charts['sparkline']}
      viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
      role="img"
      aria-label={`${label}: ${formatCounted(sum, 'run')}, peak ${String(most)}`}
    >
      <polyline points={points.join(' ')} />
    </svg>
  );
}

/** Agents of a period compared with the previous one, the last active first. Two can be selected for comparison. */
export default function Agents() {
  const [state] = useUrlState(STATE);
  useFresh('agents', 'series');
  const sparkline = useSparkline(state.range, contextQuery(state));
  const { data: known } = useAgentCount();
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [a, b] = selected;
  const isEmpty = known?.count === 0;
  useOpenFirstRun(isEmpty);
  if (isEmpty) return <FirstRun />;
  return (
    <PagedList
      name="agents"
      title="Agents"
      noun={['agent', 'agents']}
      fields={STATE}
      filters={DIMENSION_FILTERS}
      search={{ label: 'Search agents by name', placeholder: 'Name contains…' }}
      sortable={SORTABLE}
      selection={{
        keys: new Set(selected),
        nameOf: ({ name }) => name,
        onToggle: (id) => {
          // A third selection replaces the first.
          setSelected(
            selected.includes(id) ? selected.filter((each) => each !== id) : [...selected.slice(-1), id],
          );
        },
        onNone: () => {
          setSelected([]);
        },
        actions:
          a !== undefined && b !== undefined ? (
            <Link className={parts['button']} href={`/compare/agents?a=${a}&b=${b}`}>
              Compare
            </Link>
          ) : (
            <span className={parts['faint']}>Select two agents to compare</span>
          ),
      }}
      columns={[...COLUMNS.slice(0, 2), sparkline, ...COLUMNS.slice(2)]}
      keyOf={idOf}
      hrefOf={({ id }) => `/agents/${id}`}
      load={async ({ q, sort, ...context }, { start_time, end_time, ...pages }, signal) => {
        const query = {
          ...pages,
          sort,
          ...(q === '' ? {} : { query: q }),
          ...contextQuery(context),
          // For the API, an end alone selects the day before it.
          ...(start_time === undefined || end_time === undefined ? {} : { start_time, end_time }),
        };
        const body = await bodyOf(api.GET('/api/v1/agents', { params: { query }, signal }));
        return Array.isArray(body) ? { items: body, count: body.length, has_more: false } : body;
      }}
      none={{ title: 'No agents yet', text: 'Send a run to see its agent here.' }}
    />
  );
}
