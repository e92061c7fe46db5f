import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import type { operations } from '../../api/generated/schema.js';
import { Choice } from '../../parts/Choice.js';
import type { Column } from '../../parts/DataTable.js';
import { Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import { Pager } from '../../parts/Pager.js';
import parts from '../../parts/parts.module.css';
import { RangeChoice } from '../../parts/RangeChoice.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { Table } from '../../parts/Table.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { integer, oneOf, text } from '../../state/codec.js';
import { rangeField } from '../../state/range.js';
import { endsOf } from '../../state/use-series.js';
import { useUrlState } from '../../state/use-url-state.js';
import styles from './Settings.module.css';

type Entry = Schemas['AuditEntry'];
type Query = NonNullable<operations['listAudit']['parameters']['query']>;
type Action = NonNullable<Query['action']>;

/** Labels of audit actions. */
const ACTION_LABELS = {
  'alert.changed': 'Alert changed',
  'alert.tested': 'Alert test sent',
  'alert.created': 'Alert created',
  'alert.deleted': 'Alert deleted',
  'alert_secret.rotated': 'Alert secret rotated',
  'config.reloaded': 'Configuration reloaded',
  'config.read': 'Configuration read',
  'deliveries.retried': 'Deliveries resent',
  'delivery.retried': 'Delivery resent',
  'endpoint.changed': 'Endpoint changed',
  'endpoint.created': 'Endpoint created',
  'endpoint.deleted': 'Endpoint deleted',
  'key.created': 'Key created',
  'key.revoked': 'Key revoked',
  'member.put': 'Member added or changed',
  'member.removed': 'Member removed',
  'organization.created': 'Organization created',
  'prompt.created': 'Prompt version created',
  'prompt.deleted': 'Prompt or version deleted',
  'prompt_label.moved': 'Prompt label moved',
  'prompt_label.removed': 'Prompt label removed',
  'service_map.rebuilt': 'Service map rebuilt',
  'session.closed': 'Logged out',
  'session.opened': 'Logged in',
  'session.revoked': 'Browser session ended',
  'session_link.created': 'Login link created',
  'session_link.refused': 'Login link refused',
  'stores.exported': 'Data exported',
  'stores.backed_up': 'Data backed up',
  'user.changed': 'User changed',
  'user.created': 'User created',
  'user.disabled': 'User disabled',
  'user.enabled': 'User enabled',
  'view.removed': 'View deleted',
  'view.saved': 'View saved',
  'webhook_secret.rotated': 'Webhook secret rotated',
} as const satisfies Readonly<Record<Action, string>>;

const ACTIONS = Object.keys(ACTION_LABELS) as readonly Action[];

const PAGE_SIZE = 50;
const STATE = {
  action: oneOf(['', ...ACTIONS], ''),
  user: text(),
  range: rangeField('all'),
  page: integer(1, 1),
};

/** The audit log, the newest entries first. */
export function Audit() {
  const [{ action, user, range, page }, change] = useUrlState(STATE);
  const users = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/admin/users', { signal })),
  });
  const { data, error, refetch } = useQuery({
    queryKey: ['audit', action, user, range, page],
    queryFn: ({ signal }) => {
      const { start_time: since, end_time: until } = endsOf(range);
      const query = {
        page,
        page_size: PAGE_SIZE,
        ...(action === '' ? {} : { action }),
        ...(user === '' ? {} : { user_id: user }),
        ...(range === 'all' ? {} : { since, until }),
      };
      return bodyOf(api.GET('/api/v1/admin/audit', { params: { query }, signal }));
    },
    placeholderData: keepPreviousData,
  });
  const names = new Map(users.data?.map(({ id, name }) => [id, name]));
  const isFiltered = action !== '' || user !== '' || range !== 'all';
  return (
    <>
      <div className={parts['filters']} role="group" aria-label="Filters">
        <Choice
          label="Action"
          value={action}
          options={{ '': 'All actions', ...ACTION_LABELS }}
          onChange={(value) => {
            change({ action: STATE.action.parse(value) ?? '', page: 1 });
          }}
        />
        <Choice
          label="User"
          value={user}
          options={{
            '': 'All users',
            ...(user === '' ? {} : { [user]: user }),
            ...Object.fromEntries(users.data?.map(({ id, name, email }) => [id, `${name} · ${email}`]) ?? []),
          }}
          onChange={(value) => {
            change({ user: value, page: 1 });
          }}
        />
        <RangeChoice
          label="Period"
          value={range}
          onChange={(value) => {
            change({ range: value, page: 1 });
          }}
        />
        <ZoneNote />
      </div>
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <TableSkeleton rows={5} />
      ) : data.items.length === 0 ? (
        <Empty title={isFiltered ? 'No actions match' : 'No actions yet'}>
          <p>The last 10,000 actions are kept; the daemon log has all of them.</p>
        </Empty>
      ) : (
        <>
          <Table
            label="Audit"
            items={data.items.map((entry, index) => ({ ...entry, index }))}
            columns={columnsOf(names)}
            keyOf={({ index }) => String(index)}
          />
          <Pager
            page={page}
            pageSize={PAGE_SIZE}
            count={data.count}
            hasMore={data.has_more}
            noun={data.count === 1 ? 'action' : 'actions'}
            onChange={(next) => {
              change({ page: next });
            }}
          />
        </>
      )}
    </>
  );
}

/** @param names user names by id */
function columnsOf(names: ReadonlyMap<string, string>): readonly Column<Entry>[] {
  return [
    { name: 'at', header: 'When', render: ({ at }) => <Time at={at} /> },
    {
      name: 'action',
      header: 'Action',
      render: ({ action }) => <span title={action}>{wordOf(action)}</span>,
    },
    {
      name: 'user',
      header: 'User',
      render: ({ user_id: id }) =>
        id === null ? (
          <Missing reason="Not logged in" />
        ) : (
          <Link href={`/settings/users?user=${id}`}>{names.get(id) ?? id}</Link>
        ),
    },
    {
      name: 'details',
      header: 'Details',
      isWide: true,
      render: ({ fields }) => {
        const details = detailsOf(fields);
        return details === '' ? (
          <Missing reason="No details" />
        ) : (
          <span className={styles['details']}>{details}</span>
        );
      },
    },
    {
      name: 'address',
      header: 'Address',
      hint: 'Network address of the client',
      render: ({ address }) => (address === '' ? <Missing reason="Several clients" /> : address),
    },
    {
      name: 'key',
      header: 'Key',
      hint: 'Id of the API key or browser session',
      isCut: true,
      isMinor: true,
      render: ({ key_id: id }) => (id === null ? <Missing reason="No key" /> : <code title={id}>{id}</code>),
    },
  ];
}

/** `slug: acme, is_active: false` */
function detailsOf(fields: Entry['fields']): string {
  return Object.entries(fields)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ');
}

/** @param action may be unknown to this version */
function wordOf(action: string): string {
  const words: Readonly<Record<string, string>> = ACTION_LABELS;
  return Object.hasOwn(words, action) ? (words[action] ?? action) : action;
}
