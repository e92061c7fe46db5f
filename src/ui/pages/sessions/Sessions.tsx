import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useRef } from 'react';
import { X } from 'lucide-react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { useFresh } from '../../live/use-fresh.js';
import { useSteady } from '../../live/use-steady.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Money, Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import { NewRows, newRows } from '../../parts/NewRows.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { integer, text } from '../../state/codec.js';
import { sessionPath } from '../../state/path.js';
import { rangeField } from '../../state/range.js';
import { useShortcuts } from '../../state/shortcuts.js';
import { useDebounced } from '../../state/use-debounced.js';
import { endsOf } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';

type Session = Schemas['Session'];

const PAGE_SIZE = 50;
const SHOWN_NAMES = 3;
const STATE = { user: text(), agent: text(), range: rangeField('all'), page: integer(1, 1) };

const idOf = ({ session_id: id }: Session): string => id;

const COLUMNS: readonly Column<Session>[] = [
  {
    name: 'session',
    header: 'Session',
    isWide: true,
    render: ({ session_id }) => <Link href={sessionPath(session_id)}>{session_id}</Link>,
  },
  { name: 'users', header: 'Users', isCut: true, render: ({ user_ids }) => <Few names={user_ids} /> },
  {
    name: 'agents',
    header: 'Agents',
    isCut: true,
    render: ({ agents }) => <Few names={agents.map(({ name }) => name || '(no name)')} />,
  },
  {
    name: 'runs',
    header: 'Runs',
    isNumber: true,
    render: ({ total_runs }) => <Count value={total_runs} missing="" />,
  },
  {
    name: 'failed',
    header: 'Failed',
    isNumber: true,
    render: ({ failed_runs }) => (
      <span className={failed_runs > 0 ? parts['bad'] : undefined}>
        <Count value={failed_runs} missing="" />
      </span>
    ),
  },
  {
    name: 'cost',
    header: 'Cost',
    isNumber: true,
    render: ({ total_cost }) => <Money value={total_cost} missing="No run has a cost" />,
  },
  {
    name: 'last',
    header: 'Last active',
    isNumber: true,
    render: ({ last_at }) => <Time at={last_at} relative />,
  },
];

/** The first names, and the number of others. */
function Few({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return <Missing reason="Not set" />;
  const rest = names.length - SHOWN_NAMES;
  return (
    <span title={names.join(', ')}>
      {names.slice(0, SHOWN_NAMES).join(', ')}
      {rest > 0 && ` +${String(rest)}`}
    </span>
  );
}

/** Sessions, the last active first, optionally of one user. */
export default function Sessions() {
  const [{ user, agent, range, page }, change] = useUrlState(STATE);
  const search = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useDebounced(user, (value) => {
    change({ user: value, page: 1 }, 'replace');
  });
  useShortcuts({ '/': () => search.current?.focus() });
  const { data, error, refetch, isPlaceholderData } = useQuery({
    queryKey: ['sessions', user, agent, range, page],
    queryFn: ({ signal }) => {
      const query = {
        page,
        page_size: PAGE_SIZE,
        kind: 'all' as const,
        ...(user === '' ? {} : { user_id: user }),
        ...(agent === '' ? {} : { agent_id: agent }),
        ...(range === 'all' ? {} : endsOf(range)),
      };
      return bodyOf(api.GET('/api/v1/dashboard/sessions', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  useFresh('sessions');
  const list = useSteady(JSON.stringify([user, agent, range, page]), data?.items, isPlaceholderData, idOf);
  const isFiltered = user !== '' || agent !== '' || range !== 'all';
  return (
    <div className={parts['page']}>
      <title>Sessions · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Sessions</h1>
        <ZoneNote />
        <input
          ref={search}
          type="search"
          className={parts['field']}
          aria-label="Filter by exact user id"
          placeholder="User id"
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
          }}
        />
      </div>
      <div className={parts['filters']} role="group" aria-label="Filters">
        <RangeChoice
          label="Period"
          value={range}
          onChange={(value) => {
            change({ range: value, page: 1 });
          }}
        />
        {agent !== '' && (
          <button
            type="button"
            className={parts['button']}
            onClick={() => {
              change({ agent: '', page: 1 });
            }}
          >
            Agent: {agent} <X size={14} aria-hidden="true" />
            <span className={parts['unseen']}>remove</span>
          </button>
        )}
      </div>
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton />
      ) : data.items.length === 0 ? (
        <Empty title={isFiltered ? 'No sessions match' : 'No sessions yet'}>
          <p>
            {isFiltered
              ? 'Remove a filter or widen the time range. The user id must match exactly.'
              : 'Add session_id to the metadata of runs, or session.id or gen_ai.conversation.id to the attributes of a span.'}
          </p>
        </Empty>
      ) : (
        <>
          <NewRows
            text={newRows(page === 1 ? list.newKeys.length : 0, 'session')}
            isMoved={list.isMoved}
            onShow={() => {
              list.renew(data.items);
            }}
          />
          <DataTable
            label="Sessions"
            items={list.items ?? []}
            columns={COLUMNS}
            keyOf={idOf}
            hrefOf={({ session_id }) => sessionPath(session_id)}
          />
          <Pager
            page={page}
            pageSize={PAGE_SIZE}
            count={data.count}
            hasMore={data.has_more}
            noun={data.count === 1 ? 'session' : 'sessions'}
            onChange={(next) => {
              change({ page: next });
            }}
          />
        </>
      )}
    </div>
  );
}
