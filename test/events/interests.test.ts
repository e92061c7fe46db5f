import fc from 'fast-check';
import t from 'tap';
import { ALL_EVENTS, EVENT_TYPES } from '../../src/signal/event.js';
import type { Connection } from '../../src/storage/duckdb/connection.js';
import type { MetaTables } from '../../src/storage/duckdb/meta/meta-tables.js';
import type { EndpointChange } from '../../src/storage/webhook-endpoints.js';
import { NOON } from '../support/run-records.js';
import { neverDiffers, same } from '../support/property.js';
import { aKey, anEndpoint, anOrganization, aPrompt, aUser } from '../storage/meta-records.js';
import { openMetaTables } from '../storage/opened-meta-tables.js';

const SLUGS = ['one', 'two', 'three'];
const USERS = 3;

/** A change of what is wanted, or one that must not be seen there. */
type Step =
  | {
      readonly kind: 'create';
      readonly slug: string;
      readonly types: readonly string[];
      readonly on: boolean;
    }
  | { readonly kind: 'update'; readonly at: number; readonly slug: string; readonly change: EndpointChange }
  | { readonly kind: 'delete'; readonly at: number; readonly slug: string }
  /** An endpoint whose id is taken. */
  | { readonly kind: 'refused'; readonly at: number; readonly slug: string }
  | { readonly kind: 'join' | 'leave'; readonly slug: string; readonly user: number }
  | { readonly kind: 'rotate' | 'test'; readonly at: number; readonly slug: string }
  | { readonly kind: 'prompt'; readonly user: number; readonly version: number }
  | { readonly kind: 'restart' };

const slug = fc.constantFrom(...SLUGS, 'none');
const at = fc.nat(5);
const user = fc.nat(USERS - 1);
const types = fc.uniqueArray(fc.constantFrom(...EVENT_TYPES, ALL_EVENTS, 'some.other'), {
  minLength: 1,
  maxLength: 3,
});
const change = fc.record(
  { event_types: types, is_active: fc.boolean(), name: fc.constant('x') },
  { requiredKeys: [] },
);
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('create'), slug, types, on: fc.boolean() }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('update'), at, slug, change }) },
    fc.record({ kind: fc.constant('delete'), at, slug }),
    fc.record({ kind: fc.constant('refused'), at, slug }),
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('join'), slug, user }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('leave'), slug, user }) },
    fc.record({ kind: fc.constantFrom('rotate', 'test'), at, slug }),
    fc.record({ kind: fc.constant('prompt'), user, version: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ kind: fc.constant('restart') }),
  ),
  { maxLength: 25 },
);

/** For every user and organization and every type that some of their active endpoints subscribe to: those endpoints. */
async function wantedInTables(connection: Connection): Promise<string[]> {
  const subscriptions =
    "SELECT organization_id, id, unnest(string_split(event_types, ' ')) AS type FROM webhook_endpoints WHERE is_active";
  const rows = await connection.rows(
    `WITH wanted AS (${subscriptions})
     SELECT u.tenant::VARCHAR AS owner, type, wanted.id::VARCHAR AS id FROM wanted JOIN members USING (organization_id) JOIN users u ON u.id = user_id
     UNION SELECT organization_id::VARCHAR, type, id::VARCHAR FROM wanted`,
  );
  const owners = new Set(rows.map(({ owner }) => String(owner)));
  const endpointsOf = (wanted: string, type: string): string[] =>
    rows
      .filter((row) => row.owner === wanted && (row.type === type || row.type === ALL_EVENTS))
      .map(({ id }) => String(id));
  return [...owners]
    .flatMap((owner) => EVENT_TYPES.map((type) => wantedLine(owner, type, endpointsOf(owner, type))))
    .flatMap((line) => line ?? [])
    .sort();
}

function wantedInMemory(
  { interests }: MetaTables,
  tenants: readonly number[],
  organizations: readonly string[],
): string[] {
  const event = { organization_id: null, endpoint_id: null };
  return EVENT_TYPES.flatMap((type) => [
    ...tenants.map((tenant) =>
      wantedLine(
        tenant,
        type,
        interests.subscribers(tenant, { ...event, type }),
        interests.wants(tenant, type),
      ),
    ),
    ...organizations.map((id) =>
      wantedLine(
        id,
        type,
        interests.subscribers(undefined, { ...event, type, organization_id: id }),
        interests.organizationWants(id, type),
      ),
    ),
  ])
    .flatMap((line) => line ?? [])
    .sort();
}

/** What deliveries need of every endpoint. */
async function endpointsInTables(connection: Connection) {
  return await connection.rows(
    'SELECT id::VARCHAR AS id, is_active, consecutive_failures, url, sealed_secret FROM webhook_endpoints ORDER BY id',
  );
}

function endpointsInMemory({ interests }: MetaTables, ids: readonly string[]): unknown {
  return [...ids].sort().flatMap((id) => {
    const endpoint = interests.subscription(id);
    if (endpoint === undefined) return [];
    const { endpointId, isActive, failures, url, sealedSecret } = endpoint;
    return {
      id: endpointId,
      is_active: isActive,
      consecutive_failures: failures,
      url,
      sealed_secret: sealedSecret,
    };
  });
}

/** Null where nobody wants it. @param isWanted as it is said elsewhere */
function wantedLine(
  owner: number | string,
  type: string,
  endpoints: readonly string[],
  isWanted = endpoints.length > 0,
): string | null {
  const ids = [...new Set(endpoints)].sort();
  return isWanted || ids.length > 0 ? `${owner} ${type} ${String(isWanted)} ${ids.join(' ')}` : null;
}

void t.test('what is wanted is always what the tables say', async (t) => {
  await neverDiffers(t, { runs: 40, ms: 4_000 }, [steps], async (played: readonly Step[]) => {
    const opened = await openMetaTables(t);
    const connection = await opened.connect();
    let { tables } = opened;
    const users = Array.from({ length: USERS }, () => aUser());
    const organizations = SLUGS.map((name) => anOrganization(name));
    const [firstUser, ...otherUsers] = users;
    const [firstOrganization, ...otherOrganizations] = organizations;
    if (firstUser === undefined || firstOrganization === undefined) return;
    await tables.bootstrap({ user: firstUser, organization: firstOrganization, key: aKey(firstUser) });
    for (const other of otherUsers) await tables.createUser(other);
    for (const other of otherOrganizations) await tables.createOrganization(other);
    const tenants = users.flatMap(({ id }) => tables.tenantOf(id) ?? []);
    const ids: string[] = [];

    const play = async (step: Step): Promise<unknown> => {
      const id = 'at' in step ? (ids[step.at] ?? anEndpoint().id) : '';
      const userId = 'user' in step ? (users[step.user]?.id ?? '') : '';
      switch (step.kind) {
        case 'create': {
          const endpoint = anEndpoint({ event_types: [...step.types], is_active: step.on });
          ids.push(endpoint.id);
          return await tables.createEndpoint(step.slug, endpoint);
        }
        case 'update':
          return await tables.updateEndpoint(step.slug, id, step.change, NOON);
        case 'delete':
          return await tables.deleteEndpoint(step.slug, id);
        case 'refused':
          return await tables
            .createEndpoint(step.slug, anEndpoint({ id, event_types: [ALL_EVENTS] }))
            .catch(() => undefined);
        case 'join':
          return await tables.putMember(step.slug, userId, 'member');
        case 'leave':
          return await tables.removeMember(step.slug, userId);
        case 'rotate':
          return await tables.rotateEndpointSecret(step.slug, id, 'v1:x');
        case 'test':
          return await tables.testEndpoint(step.slug, id, NOON);
        case 'prompt':
          return await tables.createPrompt(userId, aPrompt({ version: step.version })).catch(() => undefined);
        case 'restart':
          await tables.idle();
          tables = await opened.again();
          return undefined;
      }
    };
    for (const step of played) {
      await play(step);
      same(
        wantedInMemory(
          tables,
          tenants,
          organizations.map(({ id }) => id),
        ),
        await wantedInTables(connection),
      );
      const endpoints = await endpointsInTables(connection);
      const known = new Set([...ids, ...endpoints.map((endpoint) => String(endpoint.id))]);
      same(endpointsInMemory(tables, [...known]), endpoints);
    }
  });
});

void t.test('what readers want is wanted of everybody, as long as they want it', async (t) => {
  const { tables } = await openMetaTables(t);
  const { interests } = tables;
  const organization = anOrganization('one');
  t.notOk(interests.wants(7, 'trace.failed'));
  const ends = [interests.read(['trace.failed', 'prompt.created']), interests.read(['trace.failed'])];
  t.ok(interests.wants(7, 'trace.failed'));
  t.notOk(interests.wants(7, 'trace.completed'));
  t.ok(interests.organizationWants(organization.id, 'prompt.created'));
  ends[0]?.();
  t.ok(interests.wants(7, 'trace.failed'), 'one reader still wants it');
  t.notOk(interests.wants(7, 'prompt.created'));
  ends[1]?.();
  t.notOk(interests.wants(7, 'trace.failed'));
  const end = interests.read([ALL_EVENTS]);
  for (const type of EVENT_TYPES) t.ok(interests.wants(7, type), type);
  end();
  for (const type of EVENT_TYPES) t.notOk(interests.wants(7, type), type);
});
