import { Link, Redirect } from 'wouter';
import type { Schemas } from '../../api/client.js';
import { DataTable, type Column } from '../../parts/DataTable.js';
import parts from '../../parts/parts.module.css';
import { Empty } from '../../parts/states.js';
import { useMe } from '../../shell/Session.js';

type Membership = Schemas['Membership'];

const COLUMNS: readonly Column<Membership>[] = [
  {
    name: 'name',
    header: 'Organization',
    isWide: true,
    render: ({ slug, name }) => <Link href={`/webhooks/${slug}`}>{name}</Link>,
  },
  { name: 'role', header: 'Your role', render: ({ role }) => role },
];

/** The user's organizations; for a single one, its webhooks. */
export default function Webhooks() {
  const { memberships, scopes } = useMe();
  const [only] = memberships;
  if (only === undefined)
    return (
      <Empty title="You are not a member of an organization" isPage>
        <title>Webhooks · Jackdaw</title>
        <p>Webhooks belong to organizations. An administrator adds you to one.</p>
        {scopes.includes('admin') && <Link href="/settings/organizations">Organizations</Link>}
      </Empty>
    );
  if (memberships.length === 1) return <Redirect to={`/webhooks/${only.slug}`} replace />;
  return (
    <div className={parts['page']}>
      <title>Webhooks · Jackdaw</title>
      <div className={parts['head']}>
        <h1>Webhooks</h1>
      </div>
      <DataTable
        label="Organizations"
        items={memberships}
        columns={COLUMNS}
        keyOf={({ slug }) => slug}
        hrefOf={({ slug }) => `/webhooks/${slug}`}
      />
    </div>
  );
}
