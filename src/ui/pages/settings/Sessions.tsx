import { useQuery } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { Time } from '../../parts/figures.js';
import type { Column } from '../../parts/DataTable.js';
import { ConfirmedChange } from '../../parts/Form.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { Table } from '../../parts/Table.js';

type BrowserSession = Schemas['OwnBrowserSession'];

const STALE = ['own-sessions', 'me'];

const COLUMNS: readonly Column<BrowserSession>[] = [
  {
    name: 'browser',
    header: 'Browser',
    isWide: true,
    render: ({ user_agent, is_current }) => (
      <>
        {user_agent === null ? <Missing reason="Unknown browser" /> : browserName(user_agent)}{' '}
        {is_current && <span className={parts['chip']}>this session</span>}
      </>
    ),
  },
  {
    name: 'address',
    header: 'Address',
    hint: 'Address of the client that logged in',
    render: ({ address }) => address ?? <Missing reason="Not recorded" />,
  },
  {
    name: 'created',
    header: 'Logged in',
    isNumber: true,
    render: ({ created_at }) => <Time at={created_at} relative />,
  },
  {
    name: 'seen',
    header: 'Last seen',
    hint: 'Updated at most once a minute',
    isNumber: true,
    render: ({ last_seen_at }) => <Time at={last_seen_at} relative />,
  },
  {
    name: 'expires',
    header: 'Expires',
    hint: 'Unless used before',
    isNumber: true,
    render: ({ expires_at }) => <Time at={expires_at} relative />,
  },
  {
    name: 'revoke',
    header: 'State',
    render: ({ id, is_current, user_agent }) => (
      <ConfirmedChange
        action="Log out"
        name={user_agent === null ? 'this browser' : browserName(user_agent)}
        question={is_current ? 'This ends your current session.' : 'That browser must log in again.'}
        act={async () => {
          const path = { session_id: id };
          await bodyOf(api.DELETE('/api/v1/me/sessions/{session_id}', { params: { path } }));
        }}
        stale={STALE}
      />
    ),
  },
];

/** Browser sessions of the user. */
export function Sessions() {
  const { data, error, refetch } = useQuery({
    queryKey: ['own-sessions'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/me/sessions', { signal })),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={2} />;
  return (
    <>
      <Table label="Browser sessions" items={data} columns={COLUMNS} keyOf={({ id }) => id} />
      <p className={parts['filters']}>
        <ConfirmedChange
          action="Log out everywhere"
          name="all browsers"
          question="All browsers must log in again, including this one."
          act={async () => {
            await bodyOf(api.DELETE('/api/v1/me/sessions'));
          }}
          stale={STALE}
        />
      </p>
    </>
  );
}

/** `Firefox on Linux` if the user agent is known, otherwise its start. */
function browserName(userAgent: string): string {
  // Edge and Opera also name Chrome, which names Safari.
  const browser = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'].find((word) =>
    userAgent.includes(`${word}/`),
  );
  const system = /\b(Android|iPhone|iPad|Windows|Mac OS X|Linux)\b/.exec(userAgent)?.[1];
  if (browser === undefined) return userAgent.slice(0, 40);
  const name = browser.replace('Edg', 'Edge').replace('OPR', 'Opera');
  return system === undefined ? name : `${name} on ${system}`;
}
