import type { Schemas } from '../../api/client.js';
import { Duration, Time } from '../../parts/figures.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import styles from './alerts.module.css';

type Notice = Schemas['AlertNotification'];

const NAMES = { email: 'E-mail', webhook: 'Webhook' } as const;
const REASONS: Readonly<Record<string, string>> = {
  smtp_not_configured: 'no mail server configured',
  too_many_emails: 'rate limit reached',
  too_many_notices: 'limit of 60 notifications per hour reached',
};

/** The notifications of a firing with each attempt. */
export function Notices({ notices }: { readonly notices: readonly Notice[] }) {
  if (notices.length === 0) return <Missing reason="No notification configured" />;
  return (
    <ul className={styles['notices']}>
      {notices.map((notice) => (
        <li key={notice.channel}>
          <NoticeLine notice={notice} />
        </li>
      ))}
    </ul>
  );
}

function NoticeLine({ notice: { channel, status, detail, attempts } }: { readonly notice: Notice }) {
  const words = (
    <>
      {NAMES[channel]} <span className={status === 'failed' ? parts['bad'] : undefined}>{status}</span>
    </>
  );
  const reason = detail === null ? undefined : (REASONS[detail] ?? detail);
  if (attempts.length === 0)
    return (
      <>
        {words}
        {reason !== undefined && <small className={parts['faint']}> {reason}</small>}
      </>
    );
  return (
    <details>
      <summary>
        {words}{' '}
        <small className={parts['faint']}>
          {attempts.length === 1 ? '1 attempt' : `${String(attempts.length)} attempts`}
        </small>
      </summary>
      <ol>
        {attempts.map(({ attempt_number, attempted_at, status_code, duration_ms, error_message }) => (
          <li key={attempt_number}>
            <Time at={attempted_at} /> · {status_code ?? 'no response'} ·{' '}
            <Duration value={duration_ms} missing="Still running, or interrupted when the daemon stopped" />
            {error_message !== null && <div className={parts['bad']}>{error_message}</div>}
          </li>
        ))}
      </ol>
    </details>
  );
}
