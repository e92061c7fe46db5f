import { RotateCw } from 'lucide-react';
import { useMemo } from 'react';
import { formatBytes, formatCounted } from '../../format/number.js';
import { JsonView } from '../../json/JsonView.js';
import { tryParseJson } from '../../json/parse.js';
import { CopyButton } from '../../parts/CopyButton.js';
import { Duration, FullTime, Time } from '../../parts/figures.js';
import { ActionProblem } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { useMe } from '../../shell/Session.js';
import { DeliveryState } from './DeliveryState.js';
import { useDelivery, useRetry, type ListedDelivery } from './load.js';
import { Subject } from './Subject.js';
import styles from './webhooks.module.css';

/** A delivery: raw request body, event, attempts, and a button to resend it. */
export function Delivery({
  org,
  listed,
  endpoint,
}: {
  readonly org: string;
  readonly listed: Pick<ListedDelivery, 'id' | 'subject'>;
  /** Display name of the endpoint. */
  readonly endpoint: string;
}) {
  const { scopes } = useMe();
  const { retry, isWaiting } = useRetry(org, listed.id);
  const { data, error, refetch } = useDelivery(org, listed.id, isWaiting);
  const event = useMemo(() => (data ? tryParseJson(data.body) : undefined), [data]);
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={5} />;
  const { detail, body } = data;
  const bytes = new TextEncoder().encode(body).length;
  return (
    <div className={styles['delivery']}>
      <div className={styles['facts']}>
        <DeliveryState status={detail.status} />
        <strong>{detail.event_type}</strong>
        <Subject subject={listed.subject} />
        <span>to {endpoint}</span>
        <FullTime at={detail.created_at} />
        {scopes.includes('manage') && (
          <button
            type="button"
            className={parts['button']}
            disabled={retry.isPending || isWaiting}
            onClick={() => {
              retry.mutate();
            }}
          >
            <RotateCw size={14} aria-hidden="true" /> {isWaiting ? 'Resending…' : 'Resend'}
          </button>
        )}
      </div>
      <ActionProblem error={retry.error} />
      <div className={styles['beside']}>
        <section aria-label="Raw request body">
          <div className={styles['facts']}>
            <h3>Raw request body ({formatBytes(bytes)})</h3>
            <CopyButton label="Copy" text={() => body} />
          </div>
          <pre tabIndex={0} className={styles['body']}>
            {body}
          </pre>
        </section>
        <section aria-label="Event">
          <div className={styles['facts']}>
            <h3>Event</h3>
          </div>
          {event === undefined ? (
            <p className={parts['faint']}>The body is not JSON.</p>
          ) : (
            <JsonView value={event} label="event" />
          )}
        </section>
      </div>
      <Attempts attempts={detail.attempts} />
    </div>
  );
}

function Attempts({
  attempts,
}: {
  readonly attempts: NonNullable<ReturnType<typeof useDelivery>['data']>['detail']['attempts'];
}) {
  if (attempts.length === 0) return <p className={parts['faint']}>No attempts yet.</p>;
  return (
    <section aria-label="Attempts">
      <h3>{formatCounted(attempts.length, 'attempt')}</h3>
      <ol className={styles['attempts']}>
        {attempts.map((attempt) => {
          const { attempt_number, attempted_at, http_status_code: code, duration_ms } = attempt;
          const isGood = code !== null && code >= 200 && code < 300;
          return (
            <li key={attempt_number}>
              <div className={styles['facts']}>
                <span>{attempt_number}.</span>
                <Time at={attempted_at} />
                <span className={isGood ? undefined : parts['bad']}>{code ?? 'no response'}</span>
                <Duration
                  value={duration_ms}
                  missing="Still running, or interrupted when the daemon stopped"
                />
                {attempt.error_message !== null && (
                  <span className={parts['bad']}>{attempt.error_message}</span>
                )}
              </div>
              {attempt.response_body !== '' && (
                <details>
                  <summary>Response (first 16 KB)</summary>
                  <pre tabIndex={0} className={styles['body']}>
                    {attempt.response_body}
                  </pre>
                </details>
              )}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
