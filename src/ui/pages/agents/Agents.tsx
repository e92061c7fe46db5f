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
import { useSeries } from '../../state/use-series.js';
import { FirstRun } from './FirstRun.js';
import { useOpenFirstRun } from './use-first-runs.js';

type Agent = Schemas['AgentSummary'];

const SORTABLE = ['name', 'total_runs', 'total_cost', 'avg_cost_per_run', 'last_run_at'] as const;
const SORTS = SORTABLE.flatMap((name) => [name, `-${name}`] as const);
const PAGE_SIZE = 50;
/** Agents that the series distinguishes. */
const MAX_AGENTS = 20;
const STATE = { q: text(), sort: oneOf(SORTS, '-last_run_at'), page: integer(1, 1) };

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
    render: (agent) => <Count value={agent.total_runs} missing="" />,
  },
  {
    name: 'success_percentage',
    header: 'Success',
    hint: 'Share of the runs that report success or failure',
    isNumber: true,
    render: (agent) => (
      <Percentage value={agent.success_percentage} missing="No run reports success or failure" />
    ),
  },
  {
    name: 'failure_percentage',
    header: 'Failed',
    hint: 'Failed or timed out, as a share of ended runs',
    isNumber: true,
    render: (agent) => (
      <span className={agent.failed_runs > 0 ? parts['bad'] : undefined}>
        <Percentage value={agent.failure_percentage} missing="No run has ended yet" />
      </span>
    ),
  },
  {
    name: 'avg_cost_per_run',
    header: 'Cost per run',
    hint: 'Average over runs with a cost',
    isNumber: true,
    render: (agent) => <Money value={agent.avg_cost_per_run} missing="No run has a cost" />,
  },
  {
    name: 'total_cost',
    header: 'Cost',
    isNumber: true,
    render: (agent) => <Money value={agent.total_cost} missing="No run has a cost" />,
  },
  {
    name: 'last_run_at',
    header: 'Last run',
    isNumber: true,
    render: (agent) => <Time at={agent.last_run_at} relative missing="No runs yet" />,
  },
];

/** Hourly runs and p95 duration of the busiest agents; the API has no series for the others. */
function useSevenDays(): readonly [sparkline: Column<Agent>, p95: Column<Agent>] {
  const { data } = useSeries('7d', { group_by: 'agent', interval: '1h' });
  const drawn = useMemo(() => {
    if (!data) return undefined;
    const times = bucketTimes(data);
    return new Map(
      data.groups.map(({ key, total, buckets }) => [
        key,
        {
          runs: valuesAt(times, buckets, ({ runs }) => runs, 0).map((value) => value ?? 0),
          p95: total?.p95_ms ?? null,
        },
      ]),
    );
  }, [data]);
  return [
    {
      name: 'sparkline',
      header: 'Last 7 days',
      hint: 'Runs per hour of the busiest agents; each row has its own scale',
      render: ({ id, name }) => (
        <Sparkline label={`Runs of ${name} in 7 days`} values={drawn?.get(id)?.runs ?? []} />
      ),
    },
    {
      name: 'p95',
      header: 'p95',
      hint: '95th percentile of run durations in the last 7 days, for the busiest agents',
      isNumber: true,
      render: ({ id }) =>
        drawn && (
          <Duration
            value={drawn.get(id)?.p95 ?? null}
            missing={
              drawn.size > MAX_AGENTS && !drawn.has(id)
                ? `Only for the ${String(MAX_AGENTS)} busiest agents of the last 7 days`
                : 'No runs ended in the last 7 days'
            }
          />
        ),
    },
  ];
}

/** All agents with their totals, the last active first. Two can be selected for comparison. */
export default function Agents() {
  const [{ q, sort, page }, change] = useUrlState(STATE);
  const search = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useDebounced(q, (value) => {
    change({ q: value, page: 1 }, 'replace');
  });
  useShortcuts({ '/': () => search.current?.focus() });
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['agents', q, sort, page],
    queryFn: async ({ signal }) => {
      const query = { sort, page, page_size: PAGE_SIZE, ...(q === '' ? {} : { query: q }) };
      const body = await bodyOf(api.GET('/api/v1/agents', { params: { query }, signal }));
      return Array.isArray(body) ? { items: body, count: body.length, has_more: false } : body;
    },
    placeholderData: keepPreviousData,
    refetchInterval: (query) => (query.state.data?.count === 0 ? 2000 : 30_000),
  });
  useFresh('agents', 'series');
  const list = useSteady([q, sort, page].join(' '), data?.items, isPlaceholderData, idOf);
  const [sparkline, p95] = useSevenDays();
  const columns = [...COLUMNS.slice(0, 2), sparkline, ...COLUMNS.slice(2, 4), p95, ...COLUMNS.slice(4)];
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [a, b] = selected;
  const isEmpty = data?.count === 0 && q === '';
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
          <p>Search ignores case.</p>
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
