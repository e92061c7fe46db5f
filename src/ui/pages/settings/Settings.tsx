import type { ComponentType } from 'react';
import { Link } from 'wouter';
import parts from '../../parts/parts.module.css';
import { Empty } from '../../parts/states.js';
import { useMe } from '../../shell/Session.js';
import { Audit } from './Audit.js';
import { Organizations } from './Organizations.js';
import { OwnKeys } from './OwnKeys.js';
import styles from './Settings.module.css';
import { Users } from './Users.js';
import { You } from './You.js';

interface SettingsPlace {
  readonly name: string;
  readonly content: ComponentType;
  readonly isForAdmins?: true;
}

const PLACES: Readonly<Record<string, SettingsPlace>> = {
  '': { name: 'You', content: You },
  keys: { name: 'API keys', content: OwnKeys },
  users: { name: 'Users', content: Users, isForAdmins: true },
  organizations: { name: 'Organizations', content: Organizations, isForAdmins: true },
  audit: { name: 'Audit', content: Audit, isForAdmins: true },
};

/**
 * Account, keys, and for administrators users, organizations and the audit log.
 *
 * @param place last part of the path
 */
export default function Settings({ place = '' }: { readonly place: string | undefined }) {
  const isAdmin = useMe().scopes.includes('admin');
  const found = Object.hasOwn(PLACES, place) ? PLACES[place] : undefined;
  const Content = found?.content;
  return (
    <div className={parts['page']}>
      <title>{`${found?.name ?? 'Settings'} · Jackdaw`}</title>
      <div className={parts['head']}>
        <h1>Settings</h1>
      </div>
      <nav aria-label="Settings" className={styles['tabs']}>
        {Object.entries(PLACES)
          .filter(([, { isForAdmins }]) => isAdmin || !isForAdmins)
          .map(([path, { name }]) => (
            <Link
              key={path}
              href={path === '' ? '/settings' : `/settings/${path}`}
              aria-current={path === place ? 'page' : undefined}
            >
              {name}
            </Link>
          ))}
      </nav>
      {!found || !Content ? (
        <Empty title="Settings not found">
          <p>The link may be mistyped, or from another version. Choose one of the pages above.</p>
        </Empty>
      ) : found.isForAdmins && !isAdmin ? (
        <Empty title="Only administrators can see this">
          <p>This page requires the admin scope. Log in with such a key, or ask an administrator.</p>
        </Empty>
      ) : (
        <Content />
      )}
    </div>
  );
}
