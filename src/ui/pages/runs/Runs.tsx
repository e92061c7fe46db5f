import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { X } from 'lucide-react';
import { api, bodyOf } from '../../api/client.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { RunTable } from '../../parts/RunTable.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { integer, oneOf, text } from '../../state/codec.js';
import { RANGES, rangeField, stretchOf } from '../../state/range.js';
import { useShortcuts } from '../../state/shortcuts.js';
import { useDebounced } from '../../state/use-debounced.js';
import { useUrlState } from '../../state/use-url-state.js';

const PAGE_SIZE = 50;
const REFRESH_MS = 10_000;
/** Ranges end at a whole minute, so that pages of one list are of one list. */
const MINUTE = 60_000;
const STATE = {
  q: text(),
  range: rangeField('all'),
  status: oneOf(['', 'completed', 'failed', 'timed_out', 'running'], ''),
  success: oneOf(['', 'true', 'false'], ''),
  kind: oneOf(['agent', 'other', 'all'], 'agent'),
  agent: text(),
  session: text(),
  user: text(),
  tag: text(),
  page: integer(1, 1),
};

/** Fields that a link brings and no control of their own sets: shown as chips that can be taken away. */
const CHIPS = { agent: 'Agent', session: 'Session', user: 'User', tag: 'Tag' } as const;

/** Runs of all agents, the newest first, by what they are and how they went. */
export default function Runs() {
  const [state, change] = useUrlState(STATE);
  const search = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useDebounced(state.q, (q) => {
    change({ q, page: 1 }, 'replace');
  });
  useShortcuts({ '/': () => search.current?.focus() });
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['runs', state],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/dashboard/traces', { params: { query: queryOf(state) }, signal })),
    placeholderData: keepPreviousData,
    // What is read must not move: only the first page goes on.
    refetchInterval: state.page === 1 ? REFRESH_MS : false,
  });
  const isFiltered = Object.entries(STATE).some(
    ([name, { initial }]) => state[name as keyof typeof STATE] !== initial,
  );
  const set = (name: keyof typeof STATE, value: string): void => {
    const parsed = STATE[name].parse(value);
    if (parsed !== undefined) change({ [name]: parsed, page: 1 });
  };
  return (
    <div className={parts['page']}>
      <title>Runs · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Runs</h1>
        <input
          ref={search}
          type="search"
          className={parts['field']}
          aria-label="Search runs by agent, outcome or error"
          placeholder="Agent, outcome, error…"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
          }}
        />
      </div>
      <div className={parts['filters']} role="group" aria-label="Filters">
        <Choice
          label="Started"
          value={state.range}
          options={rangesWith(state.range)}
          onChange={(value) => {
            set('range', value);
          }}
        />
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
          onChange={(value) => {
            set('status', value);
          }}
        />
        <Choice
          label="Success"
          value={state.success}
          options={{ '': 'Any', true: 'Yes', false: 'No' }}
          onChange={(value) => {
            set('success', value);
          }}
        />
        <Choice
          label="Runs"
          value={state.kind}
          options={{ agent: 'Of agents', other: 'Others', all: 'All' }}
          onChange={(value) => {
            set('kind', value);
          }}
        />
        {Object.entries(CHIPS).map(([name, label]) => {
          const key = name as keyof typeof CHIPS;
          if (state[key] === '') return null;
          return (
            <button
              key={name}
              type="button"
              className={parts['button']}
              onClick={() => {
                change({ [key]: '', page: 1 });
              }}
            >
              {label}: {state[key]} <X size={14} aria-hidden="true" />
              <span className={parts['unseen']}>take away</span>
            </button>
          );
        })}
      </div>
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton rows={12} />
      ) : data.items.length === 0 ? (
        <Empty title={isFiltered ? 'No run is like this' : 'No agent has run yet'}>
          <p>
            {isFiltered
              ? 'Take away a filter, or choose a longer time.'
              : 'Runs of other kinds, such as requests to a service, are under “Others”.'}
          </p>
        </Empty>
      ) : (
        <div aria-busy={isPlaceholderData}>
          <RunTable runs={data.items} />
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
        </div>
      )}
    </div>
  );
}

function rangesWith(range: string): Readonly<Record<string, string>> {
  return range in RANGES ? RANGES : { ...RANGES, [range]: range.replace('..', ' to ') };
}

function queryOf(state: { readonly [Name in keyof typeof STATE]: (typeof STATE)[Name]['initial'] }) {
  const now = Math.ceil(Date.now() / MINUTE) * MINUTE;
  const { start, end } = stretchOf(state.range, now) ?? { start: undefined, end: undefined };
  return {
    page: state.page,
    page_size: PAGE_SIZE,
    kind: state.kind,
    ...(state.q === '' ? {} : { query: state.q }),
    ...(state.status === '' ? {} : { status: state.status }),
    ...(state.success === '' ? {} : { success: state.success === 'true' }),
    ...(state.agent === '' ? {} : { agent_id: state.agent }),
    ...(state.session === '' ? {} : { session_id: state.session }),
    ...(state.user === '' ? {} : { user_id: state.user }),
    ...(state.tag === '' ? {} : { tag: state.tag }),
    ...(start === undefined ? {} : { start_time: new Date(start).toISOString() }),
    ...(end === undefined ? {} : { end_time: new Date(end).toISOString() }),
  };
}

function Choice({
  label,
  value,
  options,
  onChange,
}: {
  readonly label: string;
  readonly value: string;
  readonly options: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
}) {
  return (
    <label className={parts['label']}>
      {label}
      <select
        className={parts['field']}
        value={value}
        onChange={(event) => {
          onChange(event.target.value);
        }}
      >
        {Object.entries(options).map(([name, words]) => (
          <option key={name} value={name}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
