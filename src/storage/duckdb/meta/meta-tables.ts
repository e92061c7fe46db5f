import type { Micros } from '../../../signal/time.js';
import {
  ConflictError,
  type Membership,
  type MetaStore,
  type Organization,
  type PromptVersion,
  type Role,
  type StoredKey,
  type User,
} from '../../meta-store.js';
import type { EndpointChange, StoredEndpoint, WebhookEndpoint } from '../../webhook-endpoints.js';
import type { Connection, Value } from '../database.js';
import { EndpointTables } from './endpoint-tables.js';
import { MetaConnection } from './meta-connection.js';
import { toKey, toOrganization, toUser } from './meta-rows.js';
import { PromptTables, type PromptPage } from './prompt-tables.js';
import { KEYS, MEMBERS, ORGANIZATIONS, USERS } from './tables.js';

/** The part of a {@link MetaStore} that needs the database. */
type Tables = Omit<MetaStore, 'watchKeys' | 'directory' | 'listPrompts' | 'listPromptVersions'>;

/** Users, organizations, members, keys, prompts and webhook endpoints in the main file. */
export class MetaTables implements Tables {
  readonly #connection: MetaConnection;
  readonly #prompts: PromptTables;
  readonly #endpoints: EndpointTables;
  /** The tenant number of every user, by id. */
  readonly #tenants = new Map<string, number>();
  /** `monthly_event_limit` by tenant. */
  readonly #limits = new Map<number, number | null>();

  private constructor(connection: Connection) {
    this.#connection = new MetaConnection(connection);
    this.#prompts = new PromptTables(this.#connection);
    this.#endpoints = new EndpointTables(this.#connection);
  }

  /** @param connection the tables' own */
  static async open(connection: Connection): Promise<MetaTables> {
    const tables = new MetaTables(connection);
    for (const row of await connection.rows(USERS.select()))
      tables.#remember(toUser(row), Number(row.tenant));
    await tables.#prompts.load((userId) => tables.#knownTenant(userId));
    return tables;
  }

  /** @returns undefined for an unknown user. */
  tenantOf(userId: string): number | undefined {
    return this.#tenants.get(userId);
  }

  /** @returns undefined for a number that no user has. */
  userOf(tenant: number): string | undefined {
    return [...this.#tenants].find(([, number]) => number === tenant)?.[0];
  }

  /** Events a month that a tenant may store, 0 for any number; null: the daemon's default holds. */
  limitOf(tenant: number): number | null {
    return this.#limits.get(tenant) ?? null;
  }

  /** The number of a prompt version, which no other of any user has; undefined where the tenant has no such version. */
  promptNumber(tenant: number, name: string, version: number): number | undefined {
    return this.#prompts.registry.find(tenant, name, version)?.number;
  }

  /** All versions of a prompt, the newest first; none where the tenant has no prompt of that name. */
  promptVersions(
    tenant: number,
    name: string,
  ): readonly { readonly number: number; readonly version: number }[] {
    return this.#prompts.registry.versions(tenant, name);
  }

  /** Resolves when everything asked for so far is done. */
  async idle(): Promise<void> {
    await this.#connection.idle();
  }

  async listUsers(): Promise<readonly User[]> {
    return (await this.#connection.read(USERS.select('ORDER BY created_at, id'))).map(toUser);
  }

  async createUser(user: User): Promise<void> {
    await this.#connection.transaction(async () => {
      await this.#refuseTaken('users', 'email', user.email);
      await this.#insertUser(user);
    });
  }

  async updateUser(
    id: string,
    change: { readonly email?: string; readonly name?: string; readonly monthly_event_limit?: number | null },
  ): Promise<User | null> {
    return await this.#connection.transaction(async () => {
      if (change.email !== undefined) await this.#refuseTaken('users', 'email', change.email, id);
      for (const [column, value] of Object.entries(pick(change, ['email', 'name', 'monthly_event_limit']))) {
        await this.#connection.run(`UPDATE users SET ${column} = ? WHERE id = ?::UUID`, [value, id]);
      }
      const [row] = await this.#connection.rows(USERS.select('WHERE id = ?::UUID'), [id]);
      if (row === undefined) return null;
      const user = toUser(row);
      this.#connection.afterCommit(() => {
        this.#remember(user, Number(row.tenant));
      });
      return user;
    });
  }

  async listKeys(): Promise<readonly StoredKey[]> {
    return (await this.#connection.read(KEYS.select('ORDER BY created_at, id'))).map(toKey);
  }

  async createKey(key: StoredKey): Promise<void> {
    await this.#connection.transaction(() => this.#insertKey(key));
  }

  async revokeKey(id: string, at: Micros): Promise<boolean> {
    return await this.#connection.transaction(async () => {
      const rows = await this.#connection.rows(
        'UPDATE api_keys SET revoked_at = coalesce(revoked_at, make_timestamp(?::BIGINT)) WHERE id = ?::UUID RETURNING 1 AS done',
        [at, id],
      );
      return rows.length > 0;
    });
  }

  async touchKeys(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void> {
    await this.#connection.transaction(async () => {
      for (const { id, at } of uses) {
        await this.#connection.run(
          'UPDATE api_keys SET last_used_at = make_timestamp(?::BIGINT) WHERE id = ?::UUID',
          [at, id],
        );
      }
    });
  }

  async listOrganizations(): Promise<readonly Organization[]> {
    return (await this.#connection.read(ORGANIZATIONS.select('ORDER BY created_at, id'))).map(toOrganization);
  }

  async createOrganization(organization: Organization): Promise<void> {
    await this.#connection.transaction(async () => {
      await this.#refuseTaken('organizations', 'slug', organization.slug);
      await this.#connection.run(...ORGANIZATIONS.insert({ ...organization }));
    });
  }

  async putMember(slug: string, userId: string, role: Role): Promise<boolean> {
    return await this.#connection.transaction(async () => {
      const organizationId = await this.#organizationId(slug);
      if (organizationId === null || !this.#tenants.has(userId)) return false;
      await this.#connection.run(
        'INSERT INTO members (organization_id, user_id, role) VALUES (?::UUID, ?::UUID, ?) ON CONFLICT DO UPDATE SET role = excluded.role',
        [organizationId, userId, role],
      );
      return true;
    });
  }

  async removeMember(slug: string, userId: string): Promise<boolean> {
    return await this.#connection.transaction(async () => {
      const removed = await this.#connection.rows(
        'DELETE FROM members WHERE organization_id = (SELECT id FROM organizations WHERE slug = ?) AND user_id = ?::UUID RETURNING 1 AS done',
        [slug, userId],
      );
      return removed.length > 0;
    });
  }

  async membershipsOf(userId: string): Promise<readonly Membership[]> {
    const rows = await this.#connection.read(
      'SELECT o.slug, o.name, m.role FROM members m JOIN organizations o ON o.id = m.organization_id WHERE m.user_id = ?::UUID ORDER BY o.slug',
      [userId],
    );
    return rows.map((row) => ({
      slug: String(row.slug),
      organization_name: String(row.name),
      role: row.role === 'admin' ? 'admin' : 'member',
    }));
  }

  async bootstrap(first: { user: User; organization: Organization; key: StoredKey }): Promise<boolean> {
    return await this.#connection.transaction(async () => {
      const [users] = await this.#connection.rows('SELECT count(*) AS users FROM users');
      if (users?.users !== 0) return false;
      await this.#insertUser(first.user);
      await this.#connection.run(...ORGANIZATIONS.insert({ ...first.organization }));
      await this.#connection.run(
        ...MEMBERS.insert({ organization_id: first.organization.id, user_id: first.user.id, role: 'admin' }),
      );
      await this.#insertKey(first.key);
      return true;
    });
  }

  async createPrompt(userId: string, prompt: PromptVersion): Promise<void> {
    await this.#prompts.create(userId, this.#knownTenant(userId), prompt);
  }

  /** The first page. */
  async listPrompts(userId: string): Promise<PromptPage> {
    return await this.#prompts.list(this.#knownTenant(userId));
  }

  /** The first page; null where the user has no prompt of that name. */
  async listPromptVersions(userId: string, name: string): Promise<PromptPage | null> {
    return await this.#prompts.listVersions(this.#knownTenant(userId), name);
  }

  /** A further page. @param numbers of the prompts that follow, as the page before told them */
  async readPrompts(userId: string, numbers: readonly number[]): Promise<PromptPage> {
    return await this.#prompts.read(this.#knownTenant(userId), numbers);
  }

  async createEndpoint(slug: string, endpoint: StoredEndpoint): Promise<boolean> {
    return await this.#endpoints.create(slug, endpoint);
  }

  async listEndpoints(slug: string): Promise<readonly WebhookEndpoint[]> {
    return await this.#endpoints.list(slug);
  }

  async updateEndpoint(slug: string, id: string, change: EndpointChange): Promise<WebhookEndpoint | null> {
    return await this.#endpoints.update(slug, id, change);
  }

  async deleteEndpoint(slug: string, id: string): Promise<boolean> {
    return await this.#endpoints.delete(slug, id);
  }

  async rotateEndpointSecret(slug: string, id: string, sealedSecret: string): Promise<boolean> {
    return await this.#endpoints.rotateSecret(slug, id, sealedSecret);
  }

  async readEndpoint(id: string): Promise<StoredEndpoint | null> {
    return await this.#endpoints.read(id);
  }

  async listStoredEndpoints(): Promise<readonly StoredEndpoint[]> {
    return await this.#endpoints.listAll();
  }

  async #insertUser(user: User): Promise<void> {
    const tenant = Math.max(0, ...this.#tenants.values()) + 1;
    await this.#connection.run(...USERS.insert({ ...user, tenant }));
    this.#connection.afterCommit(() => {
      this.#remember(user, tenant);
    });
  }

  #remember(user: User, tenant: number): void {
    this.#tenants.set(user.id, tenant);
    this.#limits.set(tenant, user.monthly_event_limit);
  }

  #knownTenant(userId: string): number {
    const tenant = this.#tenants.get(userId);
    if (tenant === undefined) throw new Error('a prompt belongs to a user that the store does not know');
    return tenant;
  }

  async #insertKey(key: StoredKey): Promise<void> {
    await this.#connection.run(...KEYS.insert({ ...key, scopes: key.scopes.join(' ') }));
  }

  async #organizationId(slug: string): Promise<string | null> {
    const [row] = await this.#connection.rows(ORGANIZATIONS.select('WHERE slug = ?'), [slug]);
    return row === undefined ? null : String(row.id);
  }

  async #refuseTaken(
    table: 'users' | 'organizations',
    column: string,
    value: string,
    exceptId?: string,
  ): Promise<void> {
    const rows = await this.#connection.rows(
      `SELECT id::VARCHAR AS id FROM ${table} WHERE lower(${column}) = lower(?)`,
      [value],
    );
    if (rows.some((row) => row.id !== exceptId)) {
      throw new ConflictError(
        column,
        `${table === 'users' ? 'A user' : 'An organization'} with the ${column} ${value} exists already.`,
      );
    }
  }
}

/** The given keys of an object that are there and not undefined. */
function pick(
  object: Readonly<Record<string, Value | undefined>>,
  keys: readonly string[],
): Record<string, Value> {
  const picked: Record<string, Value> = {};
  for (const key of keys) {
    const value = object[key];
    if (value !== undefined) picked[key] = value;
  }
  return picked;
}
