import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { BASE } from '../../api/base.js';
import { fetchAs, type Schemas } from '../../api/client.js';
import { arranged } from '../../list/ColumnMenu.js';
import { saveFile, type Exported } from '../../list/Export.js';
import { FILE_TYPES, writeFile } from '../../list/export-file.js';
import { FilterBar } from '../../list/FilterBar.js';
import { ListFrame, SelectionBar } from '../../list/ListFrame.js';
import { Choice } from '../../parts/Choice.js';
import { Time } from '../../parts/figures.js';
import { NewRows, newRows } from '../../parts/NewRows.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { RUN_COLUMNS, RunTable } from '../../parts/RunTable.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { changeOf, initialOf, parseState, printState } from '../../state/codec.js';
import { queries, ignoreEarlyFailure } from '../../state/queries.js';
import { useUrlState, type Step } from '../../state/use-url-state.js';
import { StartReview } from '../run/Review.js';
import { Histogram } from './Histogram.js';
import { RunPreview } from './RunPreview.js';
import {
  FILTERS,
  filterQuery,
  isAllListed,
  isFiltered,
  isSearch,
  isUncounted,
  SORTS,
  STATE,
  type RunsState,
} from './runs-state.js';
import { listQuery, MAX_NEW_RUNS, PAGE_SIZE, useFound, useRuns } from './use-runs.js';

type ListedRun = Schemas['ListedRun'];

const NOUN = ['run', 'runs'] as const;
const INITIAL = initialOf(STATE);

/** Starts the first requests. */
export function early(): void {
  const state = parseState(STATE, location.search);
  for (const previews of isSearch(state) ? [true] : [false, true])
    queries.query(listQuery(state, previews)).catch(ignoreEarlyFailure);
}

/** Runs of all agents with filters, the newest first. */
export default function Runs() {
  const [state, change] = useUrlState(STATE);
  const [selected, setSelected] = useState<ReadonlyMap<string, ListedRun>>(new Map());
  const [previewed, setPreviewed] = useState<string>();
  const { data: page, runs, error, refetch, isPlaceholderData, newCount, renew } = useRuns(state);
  const found = useFound(state, page !== undefined && !isPlaceholderData);
  // The list may run out of time although nothing is further back.
  const isWhole = page !== undefined && isAllListed(state, page.items.length, found);
  const data = isWhole ? { ...page, next_cursor: null } : page;
  const filter = (some: Partial<RunsState>): void => {
    change({ ...some, page: 1, after: '' });
  };
  const filterBy = (values: Readonly<Record<string, string>>): void => {
    filter(changeOf(STATE, values));
  };
  const { menu, table } = arranged(RUN_COLUMNS, state.cols, (value) => {
    change({ cols: value }, 'replace');
  });
  const select = (ids: readonly string[], isSelected: boolean): void => {
    const next = new Map(selected);
    for (const run of runs.filter(({ trace_id: id }) => ids.includes(id)))
      if (isSelected) next.set(run.trace_id, run);
      else next.delete(run.trace_id);
    setSelected(next);
  };
  const previewedRun = runs.find(({ trace_id: id }) => id === previewed);
  const isOpenEnded = found
    ? found.searched_back_to !== null
    : data !== undefined && data.count === null && (data.next_cursor !== null || state.after !== '');
  return (
    <ListFrame
      title="Runs"
      noun={NOUN}
      count={data && (data.count ?? Math.max(data.items.length, found?.runs ?? 0))}
      isAtLeast={isOpenEnded}
      search={{
        label: 'Search runs by names, errors, tags, inputs and outputs',
        placeholder: 'Words, "phrases", prefix*, -without',
        value: state.q,
        onChange: (q) => {
          change({ q, page: 1, after: '' }, 'replace');
        },
      }}
      columns={menu}
      tools={<StartReview list={printState(STATE, { ...state, page: 1, after: '', cols: '' })} />}
      exported={exportedRuns(state)}
      filters={
        <>
          <FilterBar
            fields={FILTERS}
            values={state}
            initial={INITIAL}
            range={state.range}
            onChange={filterBy}
          >
            <Choices state={state} onChange={filterBy} />
          </FilterBar>
          {(state.kind === 'agent' || isSearch(state)) && (
            <Histogram
              state={state}
              found={found}
              onBrush={(range) => {
                filter({ range });
              }}
            />
          )}
        </>
      }
    >
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton rows={12} />
      ) : runs.length === 0 ? (
        <None state={state} data={data} change={change} />
      ) : (
        <div
          className={parts['withPeek']}
          data-open={previewedRun !== undefined}
          aria-busy={isPlaceholderData}
        >
          <div>
            <NewRows
              text={newRows(newCount, 'run', MAX_NEW_RUNS)}
              onShow={() => {
                if (state.page > 1 || state.after !== '') change({ page: 1, after: '' });
                renew();
              }}
            />
            <RunTable
              runs={runs}
              {...table}
              sort={{
                by: state.sort,
                columns: Object.keys(SORTS),
                onChange: (by) => {
                  filter({ sort: STATE.sort.parse(by) ?? state.sort });
                },
              }}
              selection={{
                keys: new Set(selected.keys()),
                nameOf: ({ agent_name, trace_id }) => `${agent_name}, ${trace_id}`,
                onToggle: (id) => {
                  select([id], !selected.has(id));
                },
                onAll: select,
              }}
              onPreview={({ trace_id: id }) => {
                setPreviewed(id === previewed ? undefined : id);
              }}
            />
            <SelectionBar
              count={selected.size}
              onNone={() => {
                setSelected(new Map());
              }}
            >
              <RunActions runs={[...selected.values()]} />
            </SelectionBar>
            <Pages state={state} data={data} change={change} />
          </div>
          {previewedRun && (
            <RunPreview
              run={previewedRun}
              onClose={() => {
                setPreviewed(undefined);
              }}
            />
          )}
        </div>
      )}
    </ListFrame>
  );
}

/** The common filters. */
function Choices({
  state,
  onChange,
}: {
  readonly state: RunsState;
  readonly onChange: (values: Readonly<Record<string, string>>) => void;
}) {
  return (
    <>
      <Choice
        label="Status"
        value={state.status}
        options={{
          '': 'Any',
          completed: 'Completed',
          failed: 'Failed',
          timed_out: 'Timed out',
          running: 'Running',
        }}
        onChange={(status) => {
          onChange({ status });
        }}
      />
      <Choice
        label="Success"
        value={state.success}
        options={{ '': 'Any', true: 'Yes', false: 'No' }}
        onChange={(success) => {
          onChange({ success });
        }}
      />
      <Choice
        label="Show"
        value={state.kind}
        options={{ agent: 'Agent runs', other: 'Other traces', all: 'All' }}
        onChange={(kind) => {
          onChange({ kind });
        }}
      />
    </>
  );
}

/** Why the list is empty. */
function None({
  state,
  data,
  change,
}: {
  readonly state: RunsState;
  readonly data: Schemas['ListedRunPage'];
  readonly change: (some: Partial<RunsState>, step?: Step) => void;
}) {
  if (hasMore(data)) return <SearchFurtherBack data={data} change={change} />;
  if (isFiltered(state))
    return (
      <Empty title="No runs match">
        <p>Remove a filter or widen the time range.</p>
      </Empty>
    );
  return (
    <Empty title="No agent runs yet">
      <p>
        The <Link href="/agents">agents page</Link> shows how to send one. Traces without an agent, such as
        service requests, are under “Other traces”.
      </p>
    </Empty>
  );
}

/** Goes on with a search that found nothing before its time ran out, until the user stops it. */
function SearchFurtherBack({
  data: { next_cursor: next, searched_back_to: back },
  change,
}: {
  readonly data: UnfinishedSearch;
  readonly change: (some: Partial<RunsState>, step?: Step) => void;
}) {
  const [isStopped, setStopped] = useState(false);
  useEffect(() => {
    if (!isStopped) change({ after: next }, 'replace');
  }, [change, isStopped, next]);
  return (
    <Empty title={isStopped ? 'No runs found so far' : 'Searching…'}>
      <p>
        Searched back to <Time at={back} />.
      </p>
      <button
        type="button"
        className={parts['button']}
        onClick={() => {
          setStopped(!isStopped);
        }}
      >
        {isStopped ? 'Search further back' : 'Stop'}
      </button>
    </Empty>
  );
}

/** Actions for selected runs. */
function RunActions({ runs }: { readonly runs: readonly ListedRun[] }) {
  const [a, b] = runs;
  return (
    <>
      {a && b && runs.length === 2 && (
        <Link className={parts['button']} href={`/compare/runs?a=${a.trace_id}&b=${b.trace_id}`}>
          Compare
        </Link>
      )}
      {runs.length === 1 && <span className={parts['faint']}>Select two runs to compare</span>}
      <button
        type="button"
        className={parts['button']}
        onClick={() => void navigator.clipboard.writeText(runs.map(({ trace_id }) => trace_id).join('\n'))}
      >
        Copy ids
      </button>
      <button
        type="button"
        className={parts['button']}
        onClick={() => {
          void writeFile('ndjson', [runs]).then((file) => {
            saveFile('selected-runs.ndjson', file);
          });
        }}
      >
        Export selected
      </button>
    </>
  );
}

/** All runs that match the filters, in the order of the list, as the API exports them. */
function exportedRuns(state: RunsState): Exported {
  return {
    name: 'runs',
    about: 'All runs that match the filters, with times in UTC.',
    read: async (format, _onRows, signal) => {
      const url = new URL('api/v1/dashboard/traces', BASE);
      for (const [name, value] of Object.entries(filterQuery(state, Date.now())))
        for (const each of [value].flat()) url.searchParams.append(name, String(each));
      return await (await fetchAs(url, FILE_TYPES[format], signal)).blob();
    },
  };
}

type UnfinishedSearch = Schemas['ListedRunPage'] & {
  readonly next_cursor: string;
  readonly searched_back_to: string;
};

/** Whether a search ran out of time before the end of the list. */
function hasMore(page: Schemas['ListedRunPage']): page is UnfinishedSearch {
  return page.next_cursor !== null && typeof page.searched_back_to === 'string';
}

function Pages({
  state,
  data,
  change,
}: {
  readonly state: RunsState;
  readonly data: Schemas['ListedRunPage'];
  readonly change: (some: Partial<RunsState>) => void;
}) {
  if (!isUncounted(state) && state.after === '')
    return (
      <Pager
        page={state.page}
        pageSize={PAGE_SIZE}
        count={data.count}
        hasMore={data.has_more}
        noun={data.count === 1 ? 'run' : 'runs'}
        onChange={(page) => {
          change({ page });
        }}
      />
    );
  return (
    <div className={parts['pager']}>
      <span>
        {data.items.length} {data.items.length === 1 ? 'run' : 'runs'}
        {hasMore(data) ? (
          <>
            ; searched back to <Time at={data.searched_back_to} />
          </>
        ) : (
          !isSearch(state) && '; no total for filters on spans or prompts'
        )}
      </span>
      {state.after !== '' && (
        <button
          type="button"
          className={parts['button']}
          onClick={() => {
            change({ after: '' });
          }}
        >
          First page
        </button>
      )}
      <button
        type="button"
        className={parts['button']}
        disabled={data.next_cursor === null}
        onClick={() => {
          if (data.next_cursor !== null) change({ after: data.next_cursor });
        }}
      >
        {hasMore(data) ? 'Search further back' : 'Next'}
      </button>
    </div>
  );
}
