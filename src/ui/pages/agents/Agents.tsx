import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { useFresh } from '../../live/use-fresh.js';
import { useSteady } from '../../live/use-steady.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Duration, Money, Percentage, Time } from '../../parts/figures.js';
import { NewRows, newRows } from '../../parts/NewRows.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { integer, oneOf, text } from '../../state/codec.js';
import { useShortcuts } from '../../state/shortcuts.js';
import { useDebounced } from '../../state/use-debounced.js';
import { useUrlState } from '../../state/use-url-state.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { bucketTimes, valuesAt } from '../../charts/buckets.js';
import { Sparkline } from '../../charts/Sparkline.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';
import { endsOf, useSeries } from '../../state/use-series.js';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { FirstRun } from './FirstRun.js';
import { Compared, failureRate, successRate } from './GroupTable.js';
import { useAgentCount, useOpenFirstRun } from './use-first-runs.js';

type Agent = Schemas['AgentSummary'];

const SORTABLE = ['name', 'total_runs', 'total_cost', 'avg_cost_per_run', 'last_run_at'] as const;
const SORTS = SORTABLE.flatMap((name) => [name, `-${name}`] as const);
const PAGE_SIZE = 50;
const STATE = {
  q: text(),
  range: rangeField(PAGE_RANGES['/agents']),
  sort: oneOf(SORTS, '-last_run_at'),
  page: integer(1, 1),
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
function useSparkline(range: string): Column<Agent> {
  const { data } = useSeries(range, { group_by: 'agent' });
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
    render: ({ id, name }) => <Sparkline label={`Runs of ${name} over time`} values={drawn?.get(id) ?? []} />,
  };
}

/** Agents of a period compared with the previous one, the last active first. Two can be selected for comparison. */
export default function Agents() {
  const [{ q, range, sort, page }, change] = useUrlState(STATE);
  const search = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useDebounced(q, (value) => {
    change({ q: value, page: 1 }, 'replace');
  });
  useShortcuts({ '/': () => search.current?.focus() });
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['agents', range, q, sort, page],
    queryFn: async ({ signal }) => {
      const query = {
        ...(range === 'all' ? {} : endsOf(range)),
        sort,
        page,
        page_size: PAGE_SIZE,
        ...(q === '' ? {} : { query: q }),
      };
      const body = await bodyOf(api.GET('/api/v1/agents', { params: { query }, signal }));
      return Array.isArray(body) ? { items: body, count: body.length, has_more: false } : body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (query.state.data?.count === 0 ? 2000 : 30_000),
  });
  useFresh('agents', 'series');
  const list = useSteady([range, q, sort, page].join(' '), data?.items, isPlaceholderData, idOf);
  const sparkline = useSparkline(range);
  const columns = [...COLUMNS.slice(0, 2), sparkline, ...COLUMNS.slice(2)];
  const { data: known } = useAgentCount();
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [a, b] = selected;
  const isEmpty = known?.count === 0;
  useOpenFirstRun(isEmpty);
  if (isEmpty) return <FirstRun />;
  return (
    <div className={parts['page']}>
      <title>Agents · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Agents</h1>
        {a !== undefined && (
          <span role="status" className={parts['label']}>
            {b === undefined ? (
              'Select another agent to compare'
            ) : (
              <Link className={parts['button']} href={`/compare/agents?a=${a}&b=${b}`}>
                Compare
              </Link>
            )}
          </span>
        )}
        <ZoneNote />
        <RangeChoice
          label="Period"
          value={range}
          onChange={(value) => {
            change({ range: value, page: 1 });
          }}
        />
        <input
          ref={search}
          type="search"
          className={parts['field']}
          aria-label="Search agents by name"
          placeholder="Name contains…"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
          }}
        />
      </div>
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton />
      ) : data.items.length === 0 ? (
        <Empty title="No agents match">
          <p>Widen the time range or change the search.</p>
        </Empty>
      ) : (
        <>
          <NewRows
            text={newRows(page === 1 ? list.newKeys.length : 0, 'agent')}
            isMoved={list.isMoved}
            onShow={() => {
              list.renew(data.items);
            }}
          />
          <DataTable
            label="Agents"
            items={list.items ?? []}
            columns={columns}
            selection={{
              keys: new Set(selected),
              nameOf: ({ name }) => name,
              onToggle: (id) => {
                // A third selection replaces the first.
                setSelected(
                  selected.includes(id)
                    ? selected.filter((each) => each !== id)
                    : [...selected.slice(-1), id],
                );
              },
            }}
            keyOf={idOf}
            hrefOf={({ id }) => `/agents/${id}`}
            sort={{
              by: sort,
              columns: SORTABLE,
              onChange: (by) => {
                change({ sort: SORTS.find((each) => each === by) ?? sort, page: 1 });
              },
            }}
          />
          <Pager
            page={page}
            pageSize={PAGE_SIZE}
            count={data.count}
            hasMore={data.has_more}
            noun={data.count === 1 ? 'agent' : 'agents'}
            onChange={(next) => {
              change({ page: next });
            }}
          />
        </>
      )}
    </div>
  );
}
