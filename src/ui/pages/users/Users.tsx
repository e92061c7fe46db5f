import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { formatCount, formatCounted, formatPercentage } from '../../format/number.js';
import { contextQuery, CONTEXT_FILTERS, CONTEXT_STATE } from '../../list/filters.js';
import { LIST_STATE, PagedList } from '../../list/PagedList.js';
import type { Column } from '../../parts/DataTable.js';
import { Count, Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { RUN_SUMS } from '../../parts/RunTable.js';
import { Table } from '../../parts/Table.js';
import { text } from '../../state/codec.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';
import { endsOf } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';

type User = Schemas['EndUser'];
type Decisions = Schemas['ToolDecisions'];
type Decided = Pick<Decisions, 'accepted' | 'rejected' | 'automatic'>;

/** Repositories and tools below the list. */
const MAX_ROWS = 50;
const STATE = { ...LIST_STATE, q: text(), ...CONTEXT_STATE, range: rangeField(PAGE_RANGES['/users']) };

const idOf = ({ user_id: id }: User): string => id;
const runsOf = ({ user_id: id }: User): string => `/runs?kind=all&user=${encodeURIComponent(id)}`;

const USER: readonly Column<User>[] = [
  {
    name: 'user',
    header: 'User',
    isWide: true,
    render: (user) => (
      <Link href={runsOf(user)} title={user.user_id}>
        {user.user_id}
      </Link>
    ),
  },
];

const STATS: readonly Column<Omit<User, 'user_id' | 'total_sessions'>>[] = [
  RUN_SUMS.cost,
  RUN_SUMS.tokens,
  RUN_SUMS.runs,
  RUN_SUMS.failed,
  {
    name: 'last',
    header: 'Last run',
    isNumber: true,
    render: ({ last_at }) => <Time at={last_at} relative />,
  },
];

const SESSIONS: Column<{ readonly total_sessions: number }> = {
  name: 'sessions',
  header: 'Sessions',
  isNumber: true,
  render: ({ total_sessions }) => <Count value={total_sessions} missing="" />,
};

const USER_SESSIONS: Column<User> = {
  ...SESSIONS,
  render: ({ user_id: id, total_sessions: count }) =>
    count === 0 ? (
      <Count value={count} missing="" />
    ) : (
      <Link href={`/sessions?user=${encodeURIComponent(id)}`}>
        <Count value={count} missing="" />
      </Link>
    ),
};

/** Decisions by user. A user without any is missing. */
function decidedOf(decisions: Decisions | undefined): Column<User> {
  const byUser = new Map(decisions?.users.map((sums) => [sums.user_id, sums]));
  return {
    name: 'decisions',
    header: 'Tools accepted',
    hint: 'Uses of tools that coding agents were allowed to make, of all that they asked for or that settings decided',
    isNumber: true,
    render: ({ user_id: id }) => <Accepted sums={byUser.get(id)} />,
  };
}

function Accepted({ sums }: { readonly sums: Decided | undefined }) {
  const { accepted = 0, rejected = 0, automatic = 0 } = sums ?? {};
  const all = accepted + rejected;
  if (all === 0) return <Missing reason="No decisions on tools in the log events" />;
  return (
    <span title={`${formatCount(automatic)} decided without asking`}>
      {formatPercentage((100 * accepted) / all)} of {formatCount(all)}
    </span>
  );
}

/** The repositories by cost. Renders nothing without any. */
function Repositories({
  context,
  range,
}: {
  readonly context: ReturnType<typeof contextQuery>;
  readonly range: string;
}) {
  const { data } = useQuery({
    queryKey: ['repositories', context, range],
    queryFn: ({ signal }) => {
      const query = {
        page: 1,
        page_size: MAX_ROWS,
        ...context,
        ...(range === 'all' ? {} : endsOf(range)),
      };
      return bodyOf(api.GET('/api/v1/dashboard/repositories', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  if (data === undefined || data.items.length === 0) return null;
  return (
    <section>
      <div className={parts['head']}>
        <h2>Repositories</h2>
      </div>
      <Table
        label="Repositories"
        items={data.items}
        columns={REPOSITORY}
        keyOf={({ repository }) => repository}
      />
      {data.items.length < data.count && (
        <p className={parts['faint']}>
          Top {data.items.length} of {formatCounted(data.count, 'repository', 'repositories')} by cost.
        </p>
      )}
    </section>
  );
}

const REPOSITORY: readonly Column<Schemas['RepositoryStats']>[] = [
  {
    name: 'repository',
    header: 'Repository',
    isWide: true,
    render: ({ repository }) => (
      <Link href={`/runs?kind=all&repo=${encodeURIComponent(repository)}`}>{repository}</Link>
    ),
  },
  ...STATS,
  SESSIONS,
  {
    name: 'users',
    header: 'Users',
    isNumber: true,
    render: ({ total_users }) => <Count value={total_users} missing="" />,
  },
];

/** Decisions by tool. Renders nothing without any. */
function ToolDecisions({ decisions }: { readonly decisions: Decisions | undefined }) {
  if (decisions === undefined || decisions.tools.length === 0) return null;
  return (
    <section>
      <div className={parts['head']}>
        <h2>Tool decisions</h2>
      </div>
      <Table
        label="Tool decisions"
        items={decisions.tools.slice(0, MAX_ROWS)}
        columns={TOOL}
        keyOf={({ tool_name: name }) => JSON.stringify(name)}
      />
      {decisions.counted_after !== null && (
        <p className={parts['faint']}>
          Decisions before <Time at={decisions.counted_after} /> may be missing. Select a shorter period.
        </p>
      )}
    </section>
  );
}

const TOOL: readonly Column<Decisions['tools'][number]>[] = [
  {
    name: 'tool',
    header: 'Tool',
    isWide: true,
    render: ({ tool_name: name }) => name ?? <Missing reason="The events name no tool" />,
  },
  {
    name: 'accepted',
    header: 'Accepted',
    isNumber: true,
    render: ({ accepted }) => <Count value={accepted} missing="" />,
  },
  {
    name: 'rejected',
    header: 'Rejected',
    isNumber: true,
    render: ({ rejected }) => <Count value={rejected} missing="" />,
  },
  {
    name: 'automatic',
    header: 'Without asking',
    hint: 'Decided by settings, hooks or rules',
    isNumber: true,
    render: ({ automatic }) => <Count value={automatic} missing="" />,
  },
];

/** End users by cost, their repositories, and what they allowed coding agents to do. */
export default function Users() {
  const [state] = useUrlState(STATE);
  const { range } = state;
  const { data: decisions } = useQuery({
    queryKey: ['tool-decisions', range],
    queryFn: ({ signal }) => {
      const query = range === 'all' ? {} : endsOf(range);
      return bodyOf(api.GET('/api/v1/dashboard/users/tool-decisions', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  const hasDecisions = decisions !== undefined && decisions.users.length > 0;
  return (
    <PagedList
      name="end-users"
      title="Users"
      noun={['user', 'users']}
      fields={STATE}
      filters={CONTEXT_FILTERS}
      search={{ label: 'Search users by part of the id', placeholder: 'Id contains…' }}
      columns={[...USER, ...STATS, USER_SESSIONS, ...(hasDecisions ? [decidedOf(decisions)] : [])]}
      keyOf={idOf}
      hrefOf={runsOf}
      load={({ q, ...context }, pages, signal) => {
        const query = {
          ...pages,
          kind: 'all' as const,
          ...(q === '' ? {} : { query: q }),
          ...contextQuery(context),
        };
        return bodyOf(api.GET('/api/v1/dashboard/users', { params: { query }, signal }));
      }}
      none={{
        title: 'No users yet',
        text: 'Add user_id to the metadata of runs, or user.id to the attributes of a span.',
      }}
    >
      <Repositories context={contextQuery(state)} range={range} />
      <ToolDecisions decisions={decisions} />
    </PagedList>
  );
}
