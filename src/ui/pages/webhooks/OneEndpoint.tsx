import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { api, bodyOf } from '../../api/client.js';
import { ConfirmedChange, Form, useChange } from '../../parts/Form.js';
import { ActionProblem } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { EditEndpoint } from './EditEndpoint.js';
import { EndpointState } from './Endpoints.js';
import { useActivate, type Endpoint, type MadeSecret } from './load.js';
import { endpointName, OUTAGES, outageStart } from './labels.js';
import styles from './webhooks.module.css';
import { formatCounted } from '../../format/number.js';
import { Choice } from '../../parts/Choice.js';

const STATUSES = { failed: 'Failed permanently', pending: 'Waiting for a retry' };

/** Resends deliveries that an endpoint missed. */
function RetryMany({
  org,
  endpoint,
  onDone,
}: {
  readonly org: string;
  readonly endpoint: Endpoint;
  readonly onDone: () => void;
}) {
  const [status, setStatus] = useState<keyof typeof STATUSES>('failed');
  const [hours, setHours] = useState<string>('24');
  const [message, setMessage] = useState('');
  const change = useChange(async () => {
    setMessage('');
    const body = { endpoint_id: endpoint.id, status, since: outageStart(hours, Date.now()) };
    const params = { path: { org_slug: org } };
    const { queued, has_more } = await bodyOf(
      api.POST('/api/v1/org/{org_slug}/webhooks/deliveries/retry', { params, body }),
    );
    const rest = has_more ? ' More remain: resend again for the rest.' : '';
    setMessage(
      queued === 0
        ? 'Nothing to resend.'
        : `${formatCounted(queued, 'delivery', 'deliveries')} will be resent.${rest}`,
    );
  }, ['deliveries', 'delivery']);
  return (
    <Form
      label={`Resend to ${endpointName(endpoint)}`}
      action="Resend"
      change={change}
      isReady={endpoint.is_active}
      onCancel={onDone}
    >
      <Choice
        label="Deliveries"
        value={status}
        options={STATUSES}
        onChange={(value) => {
          setStatus(value as keyof typeof STATUSES);
        }}
      />
      <Choice label="Queued since" value={hours} options={OUTAGES} onChange={setHours} />
      <p role="status">{endpoint.is_active ? message : 'This endpoint is paused; activate it first.'}</p>
    </Form>
  );
}

interface Props {
  readonly org: string;
  readonly endpoint: Endpoint;
  /** Whether the key has the manage scope. */
  readonly canManage: boolean;
  /** Whether the user is an admin of the organization. */
  readonly isAdmin: boolean;
  readonly onSecret: (made: MadeSecret) => void;
  /** @param delivery id of the test delivery */
  readonly onTested: (delivery: string) => void;
}

/** Actions for the selected endpoint. */
export function OneEndpoint({ org, endpoint, canManage, isAdmin, onSecret, onTested }: Props) {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [shown, setShown] = useState<'nothing' | 'edit' | 'retry'>('nothing');
  const path = { org_slug: org, endpoint_id: endpoint.id };
  const name = endpointName(endpoint);
  const activate = useActivate(org, endpoint.id);
  const test = useMutation({
    mutationFn: () =>
      bodyOf(api.POST('/api/v1/org/{org_slug}/webhooks/endpoints/{endpoint_id}/test', { params: { path } })),
    onSuccess: ({ delivery_id }) => {
      void client.invalidateQueries({ queryKey: ['deliveries', org] });
      onTested(delivery_id);
    },
  });
  const close = (): void => {
    setShown('nothing');
  };
  const toggle = (what: 'edit' | 'retry') => (): void => {
    setShown(shown === what ? 'nothing' : what);
  };
  return (
    <section aria-label={`Endpoint ${name}`} className={styles['endpoint']}>
      <div className={styles['facts']}>
        <h2>{name}</h2>
        <EndpointState endpoint={endpoint} />
        {endpoint.name !== '' && <code>{endpoint.url}</code>}
      </div>
      <div className={styles['facts']}>
        {canManage && (
          <button
            type="button"
            className={parts['button']}
            aria-expanded={shown === 'retry'}
            onClick={toggle('retry')}
          >
            Resend failed deliveries
          </button>
        )}
        {canManage && isAdmin && (
          <>
            <button
              type="button"
              className={parts['button']}
              disabled={test.isPending || !endpoint.is_active}
              title={endpoint.is_active ? undefined : 'Paused: nothing is sent'}
              onClick={() => {
                test.mutate();
              }}
            >
              Send test event
            </button>
            <button
              type="button"
              className={parts['button']}
              disabled={activate.isPending}
              onClick={() => {
                activate.mutate(!endpoint.is_active);
              }}
            >
              {endpoint.is_active ? 'Pause' : 'Activate'}
            </button>
            <button
              type="button"
              className={parts['button']}
              aria-expanded={shown === 'edit'}
              onClick={toggle('edit')}
            >
              Edit
            </button>
            <ConfirmedChange
              action="Rotate secret"
              name={`for ${name}`}
              question="The old secret becomes invalid immediately; webhooks in flight fail verification."
              act={async () => {
                const made = await bodyOf(
                  api.POST('/api/v1/org/{org_slug}/webhooks/endpoints/{endpoint_id}/rotate-secret', {
                    params: { path },
                  }),
                );
                onSecret({ name, secret: made.secret });
              }}
              stale={[]}
            />
            <ConfirmedChange
              action="Delete"
              name={name}
              question="Delete this endpoint and its deliveries?"
              act={async () => {
                await bodyOf(
                  api.DELETE('/api/v1/org/{org_slug}/webhooks/endpoints/{endpoint_id}', { params: { path } }),
                );
                navigate(`/webhooks/${org}`, { replace: true });
              }}
              stale={['endpoints', 'deliveries']}
            />
          </>
        )}
      </div>
      <ActionProblem error={activate.error ?? test.error} />
      {shown === 'edit' && <EditEndpoint org={org} endpoint={endpoint} onDone={close} />}
      {shown === 'retry' && <RetryMany org={org} endpoint={endpoint} onDone={close} />}
    </section>
  );
}
