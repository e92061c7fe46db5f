import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { api, bodyOf, type Schemas } from '../../api/client.js';
import { Time } from '../../parts/figures.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import { Form, NewButton, useChange } from '../../parts/Form.js';
import { TextField } from '../../parts/FormField.js';
import parts from '../../parts/parts.module.css';
import { TableSkeleton } from '../../parts/Skeleton.js';
import { Empty, Failure } from '../../parts/states.js';
import { text } from '../../state/codec.js';
import { useUrlState } from '../../state/use-url-state.js';
import { Members } from './Members.js';

type Organization = Schemas['Organization'];

const STATE = { org: text() };
const pathOf = (slug: string): string => `/settings/organizations?org=${encodeURIComponent(slug)}`;

const COLUMNS: readonly Column<Organization>[] = [
  {
    name: 'name',
    header: 'Name',
    isWide: true,
    render: ({ slug, name }) => <Link href={pathOf(slug)}>{name}</Link>,
  },
  { name: 'slug', header: 'Slug', render: ({ slug }) => <code>{slug}</code> },
  {
    name: 'created',
    header: 'Created',
    isNumber: true,
    render: ({ created_at }) => <Time at={created_at} relative />,
  },
];

/** All organizations, or the members of the one in the URL. */
export function Organizations() {
  const [{ org }] = useUrlState(STATE);
  const { data, error, refetch } = useQuery({
    queryKey: ['organizations'],
    queryFn: ({ signal }) => bodyOf(api.GET('/api/v1/admin/orgs', { signal })),
  });
  if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
  if (!data) return <TableSkeleton rows={4} />;
  const selected = data.find(({ slug }) => slug === org);
  if (org !== '')
    return selected ? (
      <>
        <div className={parts['head']}>
          <h2>{selected.name}</h2>
          <Link href="/settings/organizations">All organizations</Link>
        </div>
        <Members key={org} slug={org} />
      </>
    ) : (
      <Empty title="Organization not found">
        <p>
          <Link href="/settings/organizations">All organizations</Link>
        </p>
      </Empty>
    );
  return (
    <>
      <NewOrganization />
      {data.length === 0 ? (
        <Empty title="No organizations yet">
          <p>Organizations have webhooks; their members see the deliveries.</p>
        </Empty>
      ) : (
        <DataTable
          label="Organizations"
          items={data}
          columns={COLUMNS}
          keyOf={({ slug }) => slug}
          hrefOf={({ slug }) => pathOf(slug)}
        />
      )}
    </>
  );
}

function NewOrganization() {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState('');
  const [slug, setSlug] = useState('');
  const change = useChange(async () => {
    await bodyOf(api.POST('/api/v1/admin/orgs', { body: { name: name.trim(), slug: slug.trim() } }));
    setOpen(false);
    setName('');
    setSlug('');
  }, ['organizations']);
  if (!isOpen) return <NewButton label="New organization" onOpen={() => setOpen(true)} />;
  return (
    <Form
      label="New organization"
      action="Create organization"
      change={change}
      isReady={name.trim() !== '' && slug.trim() !== ''}
      onCancel={() => setOpen(false)}
    >
      <TextField label="Name" value={name} problem={change.fields['name']} onText={setName} />
      <TextField
        label="Slug"
        hint="Lower-case letters, digits and hyphens. Cannot be changed later."
        value={slug}
        problem={change.fields['slug']}
        onText={setSlug}
      />
    </Form>
  );
}
