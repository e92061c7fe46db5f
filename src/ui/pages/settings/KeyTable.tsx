import { useState } from 'react';
import { Time } from '../../parts/figures.js';
import { Check, ConfirmedChange } from '../../parts/Form.js';
import type { Column } from '../../parts/DataTable.js';
import { Missing } from '../../parts/Missing.js';
import parts from '../../parts/parts.module.css';
import { Table } from '../../parts/Table.js';
import { useMe } from '../../shell/Session.js';
import { useNow } from '../../state/clock.js';
import { activeDescendants, keyState, usableFirst, withinScopes, type Key } from './keys.js';
import styles from './Settings.module.css';

/** API keys of a user. @param revoke throws what the API refuses */
export function KeyTable({
  keys,
  revoke,
  stale,
}: {
  readonly keys: readonly Key[];
  readonly revoke: (id: string, withChildren: boolean) => Promise<void>;
  readonly stale: string;
}) {
  const now = useNow();
  const { key_id, scopes } = useMe();
  const mine = withinScopes(scopes);
  const canRevoke = (key: Key): boolean =>
    keyState(key, now) === 'active' &&
    (scopes.includes('manage') || scopes.includes('admin')) &&
    key.scopes.every((scope) => mine.includes(scope));
  const columns: readonly Column<Key>[] = [
    {
      name: 'name',
      header: 'Name',
      isWide: true,
      render: (key) => (
        <>
          {key.name} {key.id === key_id && <span className={parts['chip']}>this session</span>}
        </>
      ),
    },
    { name: 'prefix', header: 'Key prefix', render: ({ prefix }) => <code>{prefix}…</code> },
    {
      name: 'scopes',
      header: 'Scopes',
      render: (key) => <span className={styles['scopes']}>{key.scopes.join(', ')}</span>,
    },
    {
      name: 'parent',
      header: 'Created by',
      isNamed: true,
      isMinor: true,
      hint: 'The key that created this one, directly or through a browser session',
      render: ({ parent_id }) =>
        parent_id === null ? (
          <Missing reason="Unknown, or created offline" />
        ) : (
          (keys.find(({ id }) => id === parent_id)?.name ?? <Missing reason="A key not listed here" />)
        ),
    },
    {
      name: 'created',
      header: 'Created',
      isNumber: true,
      render: ({ created_at }) => <Time at={created_at} relative />,
    },
    {
      name: 'used',
      header: 'Last used',
      hint: 'Updated at most once a minute',
      isNumber: true,
      render: ({ last_used_at }) => <Time at={last_used_at} relative missing="Never used" />,
    },
    {
      name: 'expires',
      header: 'Expires',
      isNumber: true,
      render: ({ expires_at }) => <Time at={expires_at} relative missing="Never expires" />,
    },
    {
      name: 'state',
      header: 'State',
      render: (key) =>
        canRevoke(key) ? (
          <RevokeKey
            name={key.name}
            question={key.id === key_id ? 'This ends your current session.' : 'Revoke permanently?'}
            childCount={activeDescendants(key, keys, now)}
            revoke={(withChildren) => revoke(key.id, withChildren)}
            stale={stale}
          />
        ) : (
          keyState(key, now)
        ),
    },
  ];
  return <Table label="API keys" items={usableFirst(keys, now)} columns={columns} keyOf={(key) => key.id} />;
}

/** Confirms before revoking, and offers to revoke keys created with this one. */
function RevokeKey({
  name,
  question,
  childCount,
  revoke,
  stale,
}: {
  readonly name: string;
  readonly question: string;
  /** Number of keys created with this one. */
  readonly childCount: number;
  readonly revoke: (withChildren: boolean) => Promise<void>;
  readonly stale: string;
}) {
  const [withChildren, setWithChildren] = useState(false);
  return (
    <ConfirmedChange
      action="Revoke"
      name={name}
      question={question}
      act={() => revoke(withChildren)}
      stale={[stale]}
    >
      {childCount > 0 && (
        <Check
          name={
            childCount === 1
              ? 'and the key created with it'
              : `and the ${String(childCount)} keys created with it`
          }
          about=""
          checked={withChildren}
          onChange={setWithChildren}
        />
      )}
    </ConfirmedChange>
  );
}
