import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../../api/client.js';
import { Time } from '../../parts/figures.js';
import { ConfirmedChange } from '../../parts/Form.js';
import parts from '../../parts/parts.module.css';
import { ShownOnce } from '../../parts/ShownOnce.js';
import { Failure } from '../../parts/states.js';
import styles from './alerts.module.css';

const KEY = 'alert-secret';

/** The signing secret of the user's alert webhooks: when it was created, and rotation. */
export function AlertSecret({ canManage }: { readonly canManage: boolean }) {
  const [secret, setSecret] = useState<string>();
  const { data, error, refetch } = useQuery({
    queryKey: [KEY],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/me/alert-secret', { signal })),
  });
  return (
    <section className={styles['section']} aria-label="Webhook secret">
      <div className={parts['head']}>
        <h2>Webhook secret</h2>
      </div>
      <p className={parts['faint']}>Signs your alert webhooks so that receivers can verify them.</p>
      {error && !data ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        data && (
          <div className={styles['actions']}>
            {data.created_at === null ? (
              <span>No secret yet.</span>
            ) : (
              <span>
                Created <Time at={data.created_at} relative />.
              </span>
            )}
            {canManage && (
              <ConfirmedChange
                action={data.exists ? 'Rotate secret' : 'Create secret'}
                name="for alert webhooks"
                question={
                  data.exists
                    ? 'The old secret becomes invalid immediately; webhooks in flight fail verification.'
                    : 'The secret is shown once.'
                }
                act={async () => {
                  setSecret((await bodyOf(api.POST('/api/v1/me/alert-secret'))).secret);
                }}
                stale={[KEY]}
              />
            )}
          </div>
        )
      )}
      {secret !== undefined && (
        <ShownOnce
          label="New webhook secret"
          title="Signing secret for alert webhooks"
          text={secret}
          onDone={() => {
            setSecret(undefined);
          }}
        />
      )}
    </section>
  );
}
