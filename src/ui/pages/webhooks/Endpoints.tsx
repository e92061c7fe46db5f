import { CircleCheck, CirclePause, TriangleAlert } from 'lucide-react';
import { Link } from 'wouter';
import { formatCount, formatCounted } from '../../format/number.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Time } from '../../parts/figures.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { ActionProblem } from '../../parts/FormField.js';
import { useActivate, type Endpoint } from './load.js';
import { ALL_EVENTS, endpointName } from './labels.js';
import styles from './webhooks.module.css';

/** All endpoints of an organization, with links to their deliveries. */
export function Endpoints({
  org,
  endpoints,
}: {
  readonly org: string;
  readonly endpoints: readonly Endpoint[];
}) {
  const pathOf = ({ id }: Endpoint): string => `/webhooks/${org}?endpoint=${id}`;
  const columns: readonly Column<Endpoint>[] = [
    {
      name: 'name',
      header: 'Endpoint',
      isWide: true,
      render: (endpoint) => (
        <>
          <Link href={pathOf(endpoint)}>{endpointName(endpoint)}</Link>{' '}
          {endpoint.name !== '' && <small className={parts['faint']}>{endpoint.url}</small>}
        </>
      ),
    },
    { name: 'state', header: 'State', render: (endpoint) => <EndpointState endpoint={endpoint} /> },
    {
      name: 'failures',
      header: 'Consecutive failures',
      hint: 'Failed attempts since the last success',
      isNumber: true,
      render: ({ consecutive_failures: failures }) => (
        <span className={failures > 0 ? parts['bad'] : undefined}>{formatCount(failures)}</span>
      ),
    },
    {
      name: 'events',
      header: 'Events',
      isCut: true,
      render: ({ event_types: types }) => (
        <span title={types.join(', ')}>{types.includes(ALL_EVENTS) ? 'all' : types.join(', ')}</span>
      ),
    },
    {
      name: 'made',
      header: 'Created',
      isNamed: true,
      render: ({ created_at }) => <Time at={created_at} relative />,
    },
  ];
  return (
    <DataTable label="Endpoints" items={endpoints} columns={columns} keyOf={({ id }) => id} hrefOf={pathOf} />
  );
}

/** Whether an endpoint is active. */
export function EndpointState({
  endpoint: { is_active: isActive, consecutive_failures: failures },
}: {
  readonly endpoint: Endpoint;
}) {
  const Icon = isActive ? CircleCheck : CirclePause;
  return (
    <span
      className={cx(
        parts['status'],
        isActive ? parts['completed'] : failures > 0 ? parts['failed'] : parts['faint'],
      )}
    >
      <Icon size={14} aria-hidden="true" /> {isActive ? 'Active' : 'Paused'}
    </span>
  );
}

/** Warns about endpoints paused after too many failures, not about those paused by hand. */
export function PausedBanner({
  org,
  endpoints,
  canActivate,
}: {
  readonly org: string;
  readonly endpoints: readonly Endpoint[];
  readonly canActivate: boolean;
}) {
  const broken = endpoints.filter((each) => !each.is_active && each.consecutive_failures > 0);
  return broken.map((endpoint) => (
    <Broken key={endpoint.id} org={org} endpoint={endpoint} canActivate={canActivate} />
  ));
}

function Broken({
  org,
  endpoint,
  canActivate,
}: {
  readonly org: string;
  readonly endpoint: Endpoint;
  readonly canActivate: boolean;
}) {
  const activate = useActivate(org, endpoint.id);
  return (
    <div role="alert" className={styles['banner']}>
      <TriangleAlert size={16} aria-hidden="true" />
      <span>
        <strong>{endpointName(endpoint)}</strong> was paused after{' '}
        {formatCounted(endpoint.consecutive_failures, 'consecutive failure')}. Waiting deliveries are sent
        within a minute after you activate it.
      </span>
      {canActivate && (
        <button
          type="button"
          className={parts['button']}
          disabled={activate.isPending}
          onClick={() => {
            activate.mutate(true);
          }}
        >
          Activate
        </button>
      )}
      <ActionProblem error={activate.error} />
    </div>
  );
}
