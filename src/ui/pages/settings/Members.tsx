import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { Choice } from '../../parts/Choice.js';
import type { Column } from '../../parts/DataTable.js';
import { ConfirmedChange, Form, useChange } from '../../parts/Form.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { Table } from '../../parts/Table.js';

type Member = Schemas['Member'];
type Role = Member['role'];

const STALE = ['members', 'me'];

/** Members of an organization with their roles. @param slug of the organization */
export function Members({ slug }: { readonly slug: string }) {
  const members = useQuery({
    queryKey: ['members', slug],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/api/v1/admin/orgs/{slug}/members', { params: { path: { slug } }, signal })),
  });
  const users = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/admin/users', { signal })),
  });
  const error = members.error ?? users.error;
  if (error && !(members.data && users.data)) {
    const retry = (): void => {
      void members.refetch();
      void users.refetch();
    };
    return <Failure error={error} retry={retry} />;
  }
  if (!members.data || !users.data) return <TableSkeleton rows={4} />;
  const known = new Set(members.data.map(({ user_id }) => user_id));
  return (
    <>
      <AddMember slug={slug} users={users.data.filter(({ id }) => !known.has(id))} />
      {members.data.length === 0 ? (
        <Empty title="No members yet" />
      ) : (
        <Table
          label="Members"
          items={members.data}
          columns={columnsOf(slug)}
          keyOf={({ user_id }) => user_id}
        />
      )}
    </>
  );
}

async function put(slug: string, user_id: string, role: Role): Promise<void> {
  const path = { slug, user_id };
  await bodyOf(api.PUT('/api/v1/admin/orgs/{slug}/members/{user_id}', { params: { path }, body: { role } }));
}

async function remove(slug: string, user_id: string): Promise<void> {
  const path = { slug, user_id };
  await bodyOf(api.DELETE('/api/v1/admin/orgs/{slug}/members/{user_id}', { params: { path } }));
}

function columnsOf(slug: string): readonly Column<Member>[] {
  return [
    { name: 'name', header: 'Name', isWide: true, render: ({ name }) => name },
    { name: 'email', header: 'E-mail', render: ({ email }) => email },
    { name: 'role', header: 'Role', render: ({ role }) => role },
    {
      name: 'change',
      header: 'Change',
      render: ({ user_id, name, role }) => (
        <ConfirmedChange
          action={role === 'admin' ? 'Change to member' : 'Change to admin'}
          name={name}
          question={role === 'admin' ? 'Members can only view webhooks.' : 'Admins can change webhooks.'}
          act={() => put(slug, user_id, role === 'admin' ? 'member' : 'admin')}
          stale={STALE}
        />
      ),
    },
    {
      name: 'remove',
      header: 'Remove',
      render: ({ user_id, name }) => (
        <ConfirmedChange
          action="Remove"
          name={name}
          question="Remove this member?"
          act={() => remove(slug, user_id)}
          stale={STALE}
        />
      ),
    },
  ];
}

function AddMember({
  slug,
  users,
}: {
  readonly slug: string;
  readonly users: readonly Schemas['UserAccount'][];
}) {
  const [user, setUser] = useState('');
  const [role, setRole] = useState<Role>('member');
  const change = useChange(async () => {
    await put(slug, user, role);
    setUser('');
  }, STALE);
  if (users.length === 0) return null;
  const options = Object.fromEntries([
    ['', 'Select a user'],
    ...users.map(({ id, name, email }) => [id, `${name} · ${email}`] as const),
  ]) as Readonly<Record<string, string>>;
  return (
    <Form label="New member" action="Add member" change={change} isReady={user !== ''}>
      <Choice label="User" value={user} options={options} onChange={setUser} />
      <Choice
        label="Role"
        value={role}
        options={{ member: 'member', admin: 'admin' }}
        onChange={(value) => setRole(value === 'admin' ? 'admin' : 'member')}
      />
    </Form>
  );
}
