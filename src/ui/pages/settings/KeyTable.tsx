import { Time } from '../../parts/figures.js';
import { ConfirmedChange } from '../../parts/Form.js';
import type { Column } from '../../parts/DataTable.js';
import parts from '../../parts/parts.module.css';
import { Table } from '../../parts/Table.js';
import { useMe } from '../../shell/Session.js';
import { useNow } from '../../state/clock.js';
import { keyState, usableFirst, withinScopes, type Key } from './keys.js';

/** Keys of one user. @param revoke throws what the API refuses */
export function KeyTable({
  keys,
  revoke,
  stale,
}: {
  readonly keys: readonly Key[];
  readonly revoke: (id: string) => Promise<void>;
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
    { name: 'prefix', header: 'Begins with', render: ({ prefix }) => <code>{prefix}…</code> },
    { name: 'scopes', header: 'Scopes', render: (key) => key.scopes.join(', ') },
    {
      name: 'created',
      header: 'Created',
      isNumber: true,
      render: ({ created_at }) => <Time at={created_at} relative />,
    },
    {
      name: 'used',
      header: 'Last used',
      hint: 'Written at most once a minute',
      isNumber: true,
      render: ({ last_used_at }) => <Time at={last_used_at} relative missing="Never used" />,
    },
    {
      name: 'expires',
      header: 'Expires',
      isNumber: true,
      render: ({ expires_at }) => <Time at={expires_at} relative missing="It does not expire" />,
    },
    {
      name: 'state',
      header: 'State',
      render: (key) =>
        canRevoke(key) ? (
          <ConfirmedChange
            action="Revoke"
            name={key.name}
            question={key.id === key_id ? 'This ends the session you are in.' : 'For good?'}
            act={() => revoke(key.id)}
            stale={[stale]}
          />
        ) : (
          keyState(key, now)
        ),
    },
  ];
  return <Table label="API keys" items={usableFirst(keys, now)} columns={columns} keyOf={(key) => key.id} />;
}
