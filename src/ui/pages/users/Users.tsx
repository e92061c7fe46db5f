import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Money, Time } from '../../parts/figures.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { integer, text } from '../../state/codec.js';
import { rangeField } from '../../state/range.js';
import { endsOf } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';

type User = Schemas['EndUser'];

const PAGE_SIZE = 50;
const STATE = { agent: text(), range: rangeField('30d'), page: integer(1, 1) };

const idOf = ({ user_id: id }: User): string => id;
const runsOf = ({ user_id: id }: User): string => `/runs?kind=all&user=${encodeURIComponent(id)}`;

const COLUMNS: readonly Column<User>[] = [
  {
    name: 'user',
    header: 'User',
    isWide: true,
    render: (user) => <Link href={runsOf(user)}>{user.user_id}</Link>,
  },
  {
    name: 'cost',
    header: 'Cost',
    isNumber: true,
    render: ({ total_cost }) => <Money value={total_cost} missing="No run has a cost" />,
  },
  {
    name: 'tokens',
    header: 'Tokens',
    isNumber: true,
    render: ({ total_tokens }) => <Count value={total_tokens} missing="No run has tokens" />,
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
    name: 'sessions',
    header: 'Sessions',
    isNumber: true,
    render: ({ total_sessions }) => <Count value={total_sessions} missing="" />,
  },
  {
    name: 'last',
    header: 'Last run',
    isNumber: true,
    render: ({ last_at }) => <Time at={last_at} relative />,
  },
];

/** End users by cost, optionally of one agent. */
export default function Users() {
  const [{ agent, range, page }, change] = useUrlState(STATE);
  const { data, error, refetch } = useQuery({
    queryKey: ['end-users', agent, range, page],
    queryFn: ({ signal }) => {
      const query = {
        page,
        page_size: PAGE_SIZE,
        kind: 'all' as const,
        ...(agent === '' ? {} : { agent_id: agent }),
        ...(range === 'all' ? {} : endsOf(range)),
      };
      return bodyOf(api.GET('/api/v1/dashboard/users', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  const isFiltered = agent !== '' || range !== 'all';
  return (
    <div className={parts['page']}>
      <title>Users · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Users</h1>
        <ZoneNote />
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
        <Empty title={isFiltered ? 'No users match' : 'No users yet'}>
          <p>
            {isFiltered
              ? 'Remove a filter or widen the time range.'
              : 'Add user_id to the metadata of runs, or user.id to the attributes of a span.'}
          </p>
        </Empty>
      ) : (
        <>
          <DataTable label="Users" items={data.items} columns={COLUMNS} keyOf={idOf} hrefOf={runsOf} />
          <Pager
            page={page}
            pageSize={PAGE_SIZE}
            count={data.count}
            hasMore={data.has_more}
            noun={data.count === 1 ? 'user' : 'users'}
            onChange={(next) => {
              change({ page: next });
            }}
          />
        </>
      )}
    </div>
  );
}
