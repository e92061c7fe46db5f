import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { ConfirmedChange, Form, useChange } from '../../parts/Form.js';
import { TextField } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { KeyTable } from './KeyTable.js';
import { limitsOf } from './limit.js';
import { NewKey } from './NewKey.js';

type User = Schemas['UserAccount'];

/** A user with keys, to edit. @param user undefined if not found */
export function OneUser({ user }: { readonly user: User | undefined }) {
  if (!user)
    return (
      <Empty title="User not found">
        <p>
          <Link href="/settings/users">All users</Link>
        </p>
      </Empty>
    );
  return (
    <>
      <div className={parts['head']}>
        <h2>{user.name}</h2>
        {user.disabled && <span className={parts['chip']}>disabled</span>}
        <Link href="/settings/users">All users</Link>
      </div>
      <ChangeUser key={user.id} user={user} />
      <h2>API keys</h2>
      <UserKeys userId={user.id} />
    </>
  );
}

function ChangeUser({ user }: { readonly user: User }) {
  const path = { user_id: user.id };
  const before = user.monthly_event_limit === null ? '' : String(user.monthly_event_limit);
  const bytesBefore = user.stored_bytes_limit === null ? '' : String(user.stored_bytes_limit);
  const [name, setName] = useState(user.name);
  const [email, setEmail] = useState(user.email);
  const [limit, setLimit] = useState(before);
  const [bytes, setBytes] = useState(bytesBefore);
  const patch = async (body: Schemas['UserChange']): Promise<void> => {
    await bodyOf(api.PATCH('/api/v1/admin/users/{user_id}', { params: { path }, body }));
  };
  const change = useChange(() => {
    const limits = { events: limit === before ? '' : limit, bytes: bytes === bytesBefore ? '' : bytes };
    return patch({ name: name.trim(), email: email.trim(), ...limitsOf(limits) });
  }, ['users', 'me']);
  const { fields } = change;
  return (
    <>
      <Form label="User" action="Save" change={change} isReady={name.trim() !== '' && email.trim() !== ''}>
        <TextField label="Name" value={name} problem={fields['name']} onText={setName} />
        <TextField label="E-mail" type="email" value={email} problem={fields['email']} onText={setEmail} />
        <TextField
          label="Events per month"
          hint={
            before === ''
              ? 'Per UTC calendar month; 0 for no limit, empty for the default.'
              : 'Per UTC calendar month; 0 for no limit. Cannot be reset to the default.'
          }
          value={limit}
          problem={fields['monthly_event_limit']}
          onText={setLimit}
        />
        <TextField
          label="Storage"
          hint={
            bytesBefore === ''
              ? 'Bytes or a size such as 10 GB; 0 for no limit, empty for the default.'
              : 'Bytes or a size such as 10 GB; 0 for no limit. Cannot be reset to the default.'
          }
          value={bytes}
          problem={fields['stored_bytes_limit']}
          onText={setBytes}
        />
      </Form>
      <p className={parts['filters']}>
        {user.disabled ? (
          <ConfirmedChange
            action="Enable"
            name={user.name}
            question="Keys and alerts of this user work again."
            act={() => patch({ disabled: false })}
            stale={['users']}
          />
        ) : (
          <ConfirmedChange
            action="Disable"
            name={user.name}
            question="Keys of this user are refused and alerts pause; data is kept."
            act={() => patch({ disabled: true })}
            stale={['users']}
          />
        )}
      </p>
    </>
  );
}

function UserKeys({ userId }: { readonly userId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['user-keys', userId],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/admin/keys', { params: { query: { user_id: userId } }, signal })),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={3} />;
  return (
    <>
      <NewKey
        create={async (wish) =>
          (await bodyOf(api.POST('/api/v1/admin/keys', { body: { ...wish, user_id: userId } }))).key
        }
        stale="user-keys"
      />
      {data.length === 0 ? (
        <Empty title="This user has no keys yet">
          <p>A user needs a key to send or read data.</p>
        </Empty>
      ) : (
        <KeyTable
          keys={data}
          revoke={async (key_id, with_children) => {
            await bodyOf(
              api.DELETE('/api/v1/admin/keys/{key_id}', {
                params: { path: { key_id }, query: { with_children } },
              }),
            );
          }}
          stale="user-keys"
        />
      )}
    </>
  );
}
