import { logOut } from '../../api/session.js';
import { zoneLabel } from '../../format/time.js';
import { Choice } from '../../parts/Choice.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { useMe } from '../../shell/Session.js';
import { useSettings, type Theme } from '../../state/settings.js';
import { Sessions } from './Sessions.js';
import styles from './Settings.module.css';

/** Account, preferences of this browser, and login. */
export function You() {
  const { user, key_id, scopes, memberships } = useMe();
  const { zone, theme, setZone, setTheme } = useSettings();
  const leave = async (): Promise<void> => {
    await logOut();
    location.reload();
  };
  return (
    <>
      <section className={styles['section']}>
        <h2>Account</h2>
        <dl className={styles['facts']}>
          <dt>Name</dt>
          <dd>{user.name}</dd>
          <dt>E-mail</dt>
          <dd>{user.email}</dd>
          <dt>Scopes of this session</dt>
          <dd>{scopes.join(', ')}</dd>
          <dt>Organizations</dt>
          <dd>
            {memberships.length === 0 ? (
              <Missing reason="No organizations" />
            ) : (
              memberships.map(({ name, role }) => `${name} (${role})`).join(', ')
            )}
          </dd>
        </dl>
      </section>
      <section className={styles['section']}>
        <h2>Preferences</h2>
        <p>Saved in this browser.</p>
        <div className={parts['filters']}>
          <Choice
            label="Time zone"
            value={zone}
            options={{ local: `Local (${zoneLabel(Date.now(), 'local')})`, utc: 'UTC' }}
            onChange={(value) => setZone(value === 'utc' ? 'utc' : 'local')}
          />
          <Choice
            label="Theme"
            value={theme}
            options={{ system: 'System', light: 'Light', dark: 'Dark' }}
            onChange={(value) => setTheme(value as Theme)}
          />
        </div>
      </section>
      <section className={styles['section']}>
        <h2>Sessions and links</h2>
        {key_id === null ? (
          <p>Authentication is off: everyone who can reach this daemon acts as this user.</p>
        ) : (
          <>
            <p>A session ends after 12 hours without use, after 7 days, or when its key is revoked.</p>
            {scopes.some((scope) => scope === 'read' || scope === 'admin') && <Sessions />}
            <p>
              To log in another browser, run <code>jackdaw login</code> on the machine of the daemon. It
              prints a link that works once, for 15 minutes.
            </p>
            <p>
              <button type="button" className={parts['button']} onClick={() => void leave()}>
                Log out
              </button>
            </p>
          </>
        )}
      </section>
    </>
  );
}
