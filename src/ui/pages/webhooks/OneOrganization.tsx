import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { ApiError } from '../../api/client.js';
import { Choice } from '../../parts/Choice.js';
import { cx } from '../../parts/cx.js';
import parts from '../../parts/parts.module.css';
import { ShownOnce } from '../../parts/ShownOnce.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { ZoneNote } from '../../parts/ZoneNote.js';
import { useMe } from '../../shell/Session.js';
import { oneOf, text } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { Deliveries } from './Deliveries.js';
import { EditEndpoint } from './EditEndpoint.js';
import { Endpoints, PausedBanner } from './Endpoints.js';
import { useEndpoints, type Endpoint, type MadeSecret } from './load.js';
import { OneEndpoint } from './OneEndpoint.js';
import { endpointName, EVENT_TYPES } from './labels.js';
import styles from './webhooks.module.css';

const SENT_TYPES = ['all', ...EVENT_TYPES, 'webhook.test'] as const;
const STATE = {
  endpoint: text(),
  status: oneOf(['all', 'failed', 'pending', 'success'], 'all'),
  type: oneOf(SENT_TYPES, 'all'),
  open: text(),
};
const STATUSES = { all: 'All', failed: 'Failed', pending: 'Pending', success: 'Delivered' };
const TYPES = Object.fromEntries(SENT_TYPES.map((type) => [type, type === 'all' ? 'All' : type]));

/** The webhook endpoints and deliveries of an organization. @param org its slug */
export default function OneOrganization({ org }: { readonly org: string }) {
  const { memberships } = useMe();
  const endpoints = useEndpoints(org);
  const name = memberships.find(({ slug }) => slug === org)?.name ?? org;
  if (endpoints.error instanceof ApiError && [404, 422].includes(endpoints.error.status))
    return (
      <Empty title="Organization not found" isPage>
        <title>No such organization · Jackdaw</title>
        <p>
          No organization has this name, or you are not a member of it.{' '}
          <Link href="/webhooks">Your organizations</Link>
        </p>
      </Empty>
    );
  if (endpoints.error && !endpoints.data)
    return <Failure isPage error={endpoints.error} retry={() => void endpoints.refetch()} />;
  return (
    <div className={parts['page']}>
      <title>{`Webhooks · ${name} · Jackdaw`}</title>
      {endpoints.data ? <Loaded org={org} name={name} endpoints={endpoints.data} /> : <TableSkeleton />}
    </div>
  );
}

function Loaded({
  org,
  name,
  endpoints,
}: {
  readonly org: string;
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
}) {
  const { memberships, scopes } = useMe();
  const [state, change] = useUrlState(STATE);
  const [isNew, setNew] = useState(false);
  const [made, setMade] = useState<MadeSecret>();
  const selected = endpoints.find(({ id }) => id === state.endpoint);
  const isAdmin = memberships.some(({ slug, role }) => slug === org && role === 'admin');
  const canManage = scopes.includes('manage');
  return (
    <>
      <div className={parts['head']}>
        <h1>Webhooks · {name}</h1>
        <ZoneNote />
        {memberships.length > 1 && <Link href="/webhooks">Other organizations</Link>}
        {isAdmin && canManage && !isNew && (
          <button
            type="button"
            className={cx(parts['button'], parts['primary'])}
            onClick={() => {
              setNew(true);
            }}
          >
            <Plus size={14} aria-hidden="true" /> New endpoint
          </button>
        )}
      </div>
      {!(isAdmin && canManage) && (
        <p className={cx(parts['faint'], styles['note'])}>
          Read-only{canManage && ', except for resending deliveries'}: changing endpoints and seeing full URLs
          requires an admin of the organization and the manage scope.
        </p>
      )}
      {made && (
        <ShownOnce
          label={`Secret for ${made.name}`}
          title={`Signing secret for ${made.name}`}
          text={made.secret}
          onDone={() => {
            setMade(undefined);
          }}
        />
      )}
      {isNew && (
        <EditEndpoint
          org={org}
          onMade={setMade}
          onDone={() => {
            setNew(false);
          }}
        />
      )}
      <PausedBanner org={org} endpoints={endpoints} canActivate={isAdmin && canManage} />
      {endpoints.length === 0 ? (
        <Empty title="No endpoints yet">
          <p>An endpoint receives a signed request when, for example, a run fails or an alert fires.</p>
        </Empty>
      ) : (
        <Endpoints org={org} endpoints={endpoints} />
      )}
      {selected && (
        <OneEndpoint
          key={selected.id}
          org={org}
          endpoint={selected}
          canManage={canManage}
          isAdmin={isAdmin}
          onSecret={setMade}
          onTested={(open) => {
            change({ open, status: 'all', type: 'all' });
          }}
        />
      )}
      <section className={styles['section']}>
        <div className={parts['head']}>
          <h2 className={styles['spread']}>
            {selected ? `Deliveries to ${endpointName(selected)}` : 'Deliveries'}
          </h2>
          <Choice
            label="Endpoint"
            value={selected?.id ?? ''}
            options={{
              '': 'All',
              ...Object.fromEntries(endpoints.map((each) => [each.id, endpointName(each)])),
            }}
            onChange={(endpoint) => {
              change({ endpoint, open: '' });
            }}
          />
          <Choice
            label="State"
            value={state.status}
            options={STATUSES}
            onChange={(status) => {
              change({ status: status as keyof typeof STATUSES, open: '' });
            }}
          />
          <Choice
            label="Event"
            value={state.type}
            options={TYPES}
            onChange={(type) => {
              change({ type: type as typeof state.type, open: '' });
            }}
          />
        </div>
        <Deliveries
          org={org}
          filter={{
            ...(state.status !== 'all' && { status: state.status }),
            ...(state.type !== 'all' && { event_type: state.type }),
            ...(selected && { endpoint_id: selected.id }),
          }}
          endpoints={endpoints}
          open={state.open}
          onOpen={(open) => {
            change({ open }, 'replace');
          }}
          nothing={
            state.status === 'all' && state.type === 'all' ? 'No deliveries yet' : 'No deliveries match'
          }
        />
      </section>
    </>
  );
}
