import { useQuery } from '@tanstack/react-query';
import type { ComponentType } from 'react';
import { Link } from 'wouter';
import { api, bodyOf } from '../../api/client.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { useMe } from '../../shell/Session.js';
import { Audit } from './Audit.js';
import { KeyTable } from './KeyTable.js';
import { NewKey } from './NewKey.js';
import { Organizations } from './Organizations.js';
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

/** The caller's keys, usable and former. */
function OwnKeys() {
  const { scopes } = useMe();
  const { data, error, refetch } = useQuery({
    queryKey: ['own-keys'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/me/keys', { signal })),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={4} />;
  const canManage = scopes.includes('manage') || scopes.includes('admin');
  return (
    <>
      {canManage ? (
        <NewKey
          create={async (body) => (await bodyOf(api.POST('/api/v1/me/keys', { body }))).key}
          stale="own-keys"
        />
      ) : (
        <p className={parts['filters']}>
          Read-only session: creating and revoking keys requires the manage scope.
        </p>
      )}
      {data.length === 0 ? (
        <Empty title="You have no keys yet" />
      ) : (
        <KeyTable
          keys={data}
          revoke={async (key_id, with_children) => {
            await bodyOf(
              api.DELETE('/api/v1/me/keys/{key_id}', {
                params: { path: { key_id }, query: { with_children } },
              }),
            );
          }}
          stale="own-keys"
        />
      )}
    </>
  );
}
