import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { contextQuery, CONTEXT_FILTERS, CONTEXT_STATE } from '../../list/filters.js';
import { LIST_STATE, PagedList } from '../../list/PagedList.js';
import { useFresh } from '../../live/use-fresh.js';
import type { Column } from '../../parts/DataTable.js';
import { Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import { RUN_SUMS } from '../../parts/RunTable.js';
import { text } from '../../state/codec.js';
import { sessionPath } from '../../state/path.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';

type Session = Schemas['Session'];

const SHOWN_NAMES = 3;
const STATE = { ...LIST_STATE, user: text(), ...CONTEXT_STATE, range: rangeField(PAGE_RANGES['/sessions']) };
const FILTERS = {
  user: { label: 'User', kind: 'text', suggest: 'user_id' },
  ...CONTEXT_FILTERS,
} as const;

const idOf = ({ session_id: id }: Session): string => id;

const COLUMNS: readonly Column<Session>[] = [
  {
    name: 'session',
    header: 'Session',
    isWide: true,
    render: ({ session_id }) => (
      <Link href={sessionPath(session_id)} title={session_id}>
        {session_id}
      </Link>
    ),
  },
  { name: 'users', header: 'Users', isCut: true, render: ({ user_ids }) => <Few names={user_ids} /> },
  {
    name: 'agents',
    header: 'Agents',
    isCut: true,
    render: ({ agents }) => <Few names={agents.map(({ name }) => name || '(no name)')} />,
  },
  RUN_SUMS.runs,
  RUN_SUMS.failed,
  { ...RUN_SUMS.tokens, isExtra: true },
  RUN_SUMS.cost,
  {
    name: 'last',
    header: 'Last active',
    isNumber: true,
    render: ({ last_at }) => <Time at={last_at} relative />,
  },
  {
    name: 'first',
    header: 'First run',
    isNumber: true,
    isExtra: true,
    render: ({ first_at }) => <Time at={first_at} relative />,
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

/** Sessions, the last active first. */
export default function Sessions() {
  useFresh('sessions');
  return (
    <PagedList
      name="sessions"
      title="Sessions"
      noun={['session', 'sessions']}
      fields={STATE}
      filters={FILTERS}
      columns={COLUMNS}
      keyOf={idOf}
      hrefOf={({ session_id }) => sessionPath(session_id)}
      load={({ user, ...context }, pages, signal) => {
        const query = {
          ...pages,
          kind: 'all' as const,
          ...(user === '' ? {} : { user_id: user }),
          ...contextQuery(context),
        };
        return bodyOf(api.GET('/api/v1/dashboard/sessions', { params: { query }, signal }));
      }}
      none={{
        title: 'No sessions yet',
        text: 'Add session_id to the metadata of runs, or session.id or gen_ai.conversation.id to the attributes of a span.',
      }}
    />
  );
}
