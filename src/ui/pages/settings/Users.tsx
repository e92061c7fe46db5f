import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { formatBytes } from '../../format/number.js';
import { Count, Time } from '../../parts/figures.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Form, NewButton, useChange } from '../../parts/Form.js';
import { TextField } from '../../parts/FormField.js';
import { Missing } from '../../parts/Missing.js';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Failure } from '../../parts/states.js';
import { text } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { limitsOf } from './limit.js';
import { OneUser } from './OneUser.js';

type User = Schemas['UserAccount'];

const STATE = { user: text() };

const COLUMNS: readonly Column<User>[] = [
  {
    name: 'name',
    header: 'Name',
    isWide: true,
    render: ({ id, name }) => <Link href={`/settings/users?user=${id}`}>{name}</Link>,
  },
  { name: 'email', header: 'E-mail', render: ({ email }) => email },
  {
    name: 'limit',
    header: 'Events per month',
    hint: 'Per UTC calendar month',
    isNumber: true,
    render: ({ monthly_event_limit: limit }) =>
      limit === 0 ? 'no limit' : <Count value={limit} missing="Default of the daemon" />,
  },
  {
    name: 'storage',
    header: 'Storage',
    isNumber: true,
    render: ({ stored_bytes_limit: limit }) =>
      limit === 0 ? (
        'no limit'
      ) : limit === null ? (
        <Missing reason="Default of the daemon" />
      ) : (
        formatBytes(limit)
      ),
  },
  { name: 'state', header: 'State', render: ({ disabled }) => (disabled ? 'disabled' : 'active') },
  {
    name: 'created',
    header: 'Created',
    isNumber: true,
    render: ({ created_at }) => <Time at={created_at} relative />,
  },
];

/** All users, or the one in the URL. */
export function Users() {
  const [{ user: selected }] = useUrlState(STATE);
  const { data, error, refetch } = useQuery({
    queryKey: ['users'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/admin/users', { signal })),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={4} />;
  if (selected !== '') return <OneUser key={selected} user={data.find(({ id }) => id === selected)} />;
  return (
    <>
      <NewUser />
      <DataTable
        label="Users"
        items={data}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => `/settings/users?user=${id}`}
      />
    </>
  );
}

function NewUser() {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [limit, setLimit] = useState('');
  const [bytes, setBytes] = useState('');
  const change = useChange(async () => {
    const body = { name: name.trim(), email: email.trim(), ...limitsOf({ events: limit, bytes }) };
    await bodyOf(api.POST('/api/v1/admin/users', { body }));
    setOpen(false);
    setName('');
    setEmail('');
    setLimit('');
    setBytes('');
  }, ['users']);
  if (!isOpen) return <NewButton label="New user" onOpen={() => setOpen(true)} />;
  const { fields } = change;
  return (
    <Form
      label="New user"
      action="Create user"
      change={change}
      isReady={name.trim() !== '' && email.trim() !== ''}
      onCancel={() => setOpen(false)}
    >
      <TextField label="Name" value={name} problem={fields['name']} onText={setName} />
      <TextField label="E-mail" type="email" value={email} problem={fields['email']} onText={setEmail} />
      <TextField
        label="Events per month"
        hint="Per UTC calendar month; 0 for no limit, empty for the default."
        value={limit}
        problem={fields['monthly_event_limit']}
        onText={setLimit}
      />
      <TextField
        label="Storage"
        hint="Bytes or a size such as 10 GB; 0 for no limit, empty for the default."
        value={bytes}
        problem={fields['stored_bytes_limit']}
        onText={setBytes}
      />
    </Form>
  );
}
