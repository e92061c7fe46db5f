import { useState } from 'react';
import parts from '../../parts/parts.module.css';
import { useMe } from '../../shell/Session.js';
import { Deliveries } from '../webhooks/Deliveries.js';
import { useEndpoints } from '../webhooks/load.js';
import styles from './run.module.css';

/** Webhook deliveries for a run in each organization of the user. */
export function RunDeliveries({ traceId }: { readonly traceId: string }) {
  const { memberships } = useMe();
  if (memberships.length === 0)
    return <p className={parts['faint']}>Webhooks belong to organizations; you are not a member of one.</p>;
  return (
    <div className={styles['stack']}>
      {memberships.map(({ slug, name }) => (
        <section key={slug} aria-label={`Deliveries of ${name}`}>
          {memberships.length > 1 && <h3>{name}</h3>}
          <OfOrganization org={slug} traceId={traceId} />
        </section>
      ))}
    </div>
  );
}

function OfOrganization({ org, traceId }: { readonly org: string; readonly traceId: string }) {
  const [open, setOpen] = useState('');
  const endpoints = useEndpoints(org);
  return (
    <Deliveries
      org={org}
      filter={{ trace_id: traceId }}
      endpoints={endpoints.data ?? []}
      open={open}
      onOpen={setOpen}
      nothing="No webhook deliveries"
    />
  );
}
