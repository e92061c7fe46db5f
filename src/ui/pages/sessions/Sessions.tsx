import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { arranged } from '../../list/ColumnMenu.js';
import { FilterBar } from '../../list/FilterBar.js';
import { ListFrame, ListPages } from '../../list/ListFrame.js';
import { contextQuery, CONTEXT_FILTERS, CONTEXT_STATE } from '../../list/run-context.js';
import { PAGE_SIZE, usePages } from '../../list/use-pages.js';
import { useFresh } from '../../live/use-fresh.js';
import { useSteady } from '../../live/use-steady.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Count, Money, Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import { NewRows, newRows } from '../../parts/NewRows.js';
import parts from '../../parts/parts.module.css';
import { Empty } from '../../parts/states.js';
import { changeOf, initialOf, integer, text } from '../../state/codec.js';
import { sessionPath } from '../../state/path.js';
import { PAGE_RANGES, rangeField } from '../../state/range.js';
import { endsOf } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';

type Session = Schemas['Session'];

const NOUN = ['session', 'sessions'] as const;
const SHOWN_NAMES = 3;
const STATE = {
  user: text(),
  ...CONTEXT_STATE,
  range: rangeField(PAGE_RANGES['/sessions']),
  page: integer(1, 1),
  cols: text(),
};
const INITIAL = initialOf(STATE);
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
    name: 'tokens',
    header: 'Tokens',
    isNumber: true,
    isExtra: true,
    render: ({ total_tokens }) => <Count value={total_tokens} missing="No span reports tokens" />,
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
  const [state, change] = useUrlState(STATE);
  const { user, range, page, cols } = state;
  const filters = {
    kind: 'all' as const,
    ...(user === '' ? {} : { user_id: user }),
    ...contextQuery(state),
  };
  const answer = usePages('sessions', [filters, range], page, (pages, signal) =>
    bodyOf(
      api.GET('/api/v1/dashboard/sessions', {
        params: { query: { ...pages, ...filters, ...(range === 'all' ? {} : endsOf(range)) } },
        ...(signal && { signal }),
      }),
    ),
  );
  useFresh('sessions');
  const { data, isPlaceholderData, exported } = answer;
  const list = useSteady(JSON.stringify([filters, range, page]), data?.items, isPlaceholderData, idOf);
  const isFiltered = user !== '' || range !== 'all' || Object.keys(contextQuery(state)).length > 0;
  const { menu, table } = arranged(COLUMNS, cols, (value) => {
    change({ cols: value }, 'replace');
  });
  return (
    <ListFrame
      title="Sessions"
      noun={NOUN}
      count={data?.count}
      columns={menu}
      exported={exported}
      filters={
        <FilterBar
          fields={FILTERS}
          values={state}
          initial={INITIAL}
          range={range}
          onChange={(values) => {
            change({ ...changeOf(STATE, values), page: 1 });
          }}
        />
      }
    >
      <ListPages
        answer={answer}
        noun={NOUN}
        page={page}
        pageSize={PAGE_SIZE}
        onPage={(next) => {
          change({ page: next });
        }}
        empty={
          <Empty title={isFiltered ? 'No sessions match' : 'No sessions yet'}>
            <p>
              {isFiltered
                ? 'Remove a filter or widen the time range. The user id must match exactly.'
                : 'Add session_id to the metadata of runs, or session.id or gen_ai.conversation.id to the attributes of a span.'}
            </p>
          </Empty>
        }
      >
        {({ items }) => (
          <>
            <NewRows
              text={newRows(page === 1 ? list.newKeys.length : 0, 'session')}
              isMoved={list.isMoved}
              onShow={() => {
                list.renew(items);
              }}
            />
            <DataTable
              label="Sessions"
              items={list.items ?? []}
              {...table}
              keyOf={idOf}
              hrefOf={({ session_id }) => sessionPath(session_id)}
            />
          </>
        )}
      </ListPages>
    </ListFrame>
  );
}
