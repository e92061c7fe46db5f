import { useRef, useState } from 'react';
import { Link } from 'wouter';
import type { Schemas } from '../../api/client.js';
import { Time } from '../../parts/figures.js';
import { NewRows, newRows } from '../../parts/NewRows.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { RunTable } from '../../parts/RunTable.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { parseState, printState } from '../../state/codec.js';
import { queries, ignoreEarlyFailure } from '../../state/queries.js';
import { useShortcuts } from '../../state/shortcuts.js';
import { useDebounced } from '../../state/use-debounced.js';
import { useUrlState } from '../../state/use-url-state.js';
import { StartReview } from '../run/Review.js';
import { Filters } from './Filters.js';
import { Histogram } from './Histogram.js';
import { ColumnMenu, Export } from './ListTools.js';
import { RunPreview } from './RunPreview.js';
import { Views } from './Views.js';
import { isFiltered, isUncounted, NO_DIMENSIONS, SORTS, STATE, type RunsState } from './runs-state.js';
import { listQuery, MAX_NEW_RUNS, PAGE_SIZE, useRuns } from './use-runs.js';

/** Starts the first requests. */
export function early(): void {
  const state = parseState(STATE, location.search);
  for (const previews of [false, true]) queries.query(listQuery(state, previews)).catch(ignoreEarlyFailure);
}

/** Runs of all agents with filters, the newest first. */
export default function Runs() {
  const [state, change] = useUrlState(STATE);
  const search = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useDebounced(state.q, (q) => {
    change({ q, page: 1, after: '' }, 'replace');
  });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [previewed, setPreviewed] = useState<string>();
  useShortcuts({ '/': () => search.current?.focus() });
  const { data, runs, error, refetch, isPlaceholderData, newCount, renew } = useRuns(state);
  const filter = (some: Partial<RunsState>): void => {
    change({ ...some, page: 1, after: '' });
  };
  const hidden = state.hide === '' ? [] : state.hide.split(',');
  const previewedRun = runs.find(({ trace_id: id }) => id === previewed);
  return (
    <div className={parts['page']}>
      <title>Runs · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Runs</h1>
        <ZoneNote />
        <input
          ref={search}
          type="search"
          className={parts['field']}
          aria-label="Search runs by names, errors, tags, inputs and outputs"
          placeholder='Words, "phrases", prefix*, -without'
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
          }}
        />
        <Views />
        <ColumnMenu
          hidden={hidden}
          onChange={(names) => {
            change({ hide: names.join(',') }, 'replace');
          }}
        />
        <Export state={state} />
        <StartReview list={printState(STATE, { ...state, page: 1, after: '', hide: STATE.hide.initial })} />
      </div>
      <Filters state={state} onChange={filter} />
      {state.kind === 'agent' && (
        <Histogram
          state={state}
          isFiltered={isFiltered({
            ...state,
            ...NO_DIMENSIONS,
            ...{ range: 'all', agent: '', prompt: '' },
          })}
          onBrush={(range) => {
            filter({ range });
          }}
        />
      )}
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton rows={12} />
      ) : runs.length === 0 ? (
        <Empty
          title={
            hasMore(data) ? 'No runs found so far' : isFiltered(state) ? 'No runs match' : 'No agent runs yet'
          }
        >
          {hasMore(data) ? (
            <>
              <p>
                Searched back to <Time at={data.searched_back_to} />.
              </p>
              <Pages state={state} data={data} change={change} />
            </>
          ) : isFiltered(state) ? (
            <p>Remove a filter or widen the time range.</p>
          ) : (
            <p>
              The <Link href="/agents">agents page</Link> shows how to send one. Traces without an agent, such
              as service requests, are under “Other traces”.
            </p>
          )}
        </Empty>
      ) : (
        <div
          className={parts['withPeek']}
          data-open={previewedRun !== undefined}
          aria-busy={isPlaceholderData}
        >
          <div>
            <SelectionBar
              ids={[...selected]}
              onNone={() => {
                setSelected(new Set());
              }}
            />
            <NewRows
              text={newRows(newCount, 'run', MAX_NEW_RUNS)}
              onShow={() => {
                if (state.page > 1 || state.after !== '') change({ page: 1, after: '' });
                renew();
              }}
            />
            <RunTable
              withSpans
              runs={runs}
              hide={hidden}
              sort={{
                by: state.sort,
                columns: Object.keys(SORTS),
                onChange: (by) => {
                  filter({ sort: STATE.sort.parse(by) ?? state.sort });
                },
              }}
              selection={{
                keys: selected,
                nameOf: ({ agent_name, trace_id }) => `${agent_name}, ${trace_id}`,
                onToggle: (id) => {
                  setSelected(toggled(selected, id));
                },
              }}
              onPreview={({ trace_id: id }) => {
                setPreviewed(id === previewed ? undefined : id);
              }}
            />
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
    </div>
  );
}

function toggled(ids: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const others = new Set(ids);
  if (!others.delete(id)) others.add(id);
  return others;
}

/** Actions for selected runs. */
function SelectionBar({ ids, onNone }: { readonly ids: readonly string[]; readonly onNone: () => void }) {
  const [a, b] = ids;
  if (a === undefined) return null;
  return (
    <p className={parts['filters']} role="status">
      {ids.length} selected
      {b !== undefined && ids.length === 2 ? (
        <Link className={parts['button']} href={`/compare/runs?a=${a}&b=${b}`}>
          Compare
        </Link>
      ) : (
        <span className={parts['faint']}>Select two runs to compare</span>
      )}
      <button type="button" className={parts['button']} onClick={onNone}>
        Clear
      </button>
    </p>
  );
}

/** Whether a search ran out of time before the end of the list. */
function hasMore(
  page: Schemas['ListedRunPage'],
): page is Schemas['ListedRunPage'] & { readonly searched_back_to: string } {
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
          state.q === '' && '; no total for filters on spans or prompts'
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
