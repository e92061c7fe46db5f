import type { Micros } from '../../../signal/time.js';
import type {
  Member,
  Membership,
  MetaStore,
  Organization,
  PromptVersion,
  RevokedKey,
  Role,
  StoredKey,
  User,
  UserChange,
} from '../../meta-store.js';
import type {
  CreatedEndpoint,
  EndpointChange,
  StoredEndpoint,
  TestedEndpoint,
  WebhookEndpoint,
} from '../../webhook-endpoints.js';
import type { Connection, Value } from '../connection.js';
import { EventInterests } from '../events/interests.js';
import { AlertTables, type AlertParts } from './alert-tables.js';
import { ClockNotes } from './clock-notes.js';
import { DeliveryTables } from './delivery-tables.js';
import { EndpointTables } from './endpoint-tables.js';
import { EventReaders } from './event-readers.js';
import { isLastAdmin } from './last-admin.js';
import type { MainFile } from './main-checkpoints.js';
import { MemberTables } from './member-tables.js';
import { MetaConnection } from './meta-connection.js';
import { MetaEvents } from './meta-events.js';
import { toKey, toUser } from './meta-rows.js';
import { PromptTables, type PromptPage } from './prompt-tables.js';
import { KEYS, USERS } from './tables.js';
import { refuseTaken } from './unique-names.js';
import { lastNumber } from './unusable-definition.js';

/** The part of a {@link MetaStore} that needs the database. */
type Tables = Omit<MetaStore, 'watchKeys' | 'directory' | 'listPrompts' | 'listPromptVersions'>;

/** What the main file needs of what is around it. */
export interface MetaSurroundings {
  readonly file: MainFile;
  /** Is called after commits that wrote events. */
  readonly eventsWritten: () => void;
  readonly agentName: AlertParts['agentName'];
}

/** What is in the main file: users, organizations, members, keys, prompts, webhook endpoints, events, deliveries and alerts. */
export class MetaTables implements Tables {
  /** Which events somebody wants, as the last commit left it. */
  readonly interests = new EventInterests();
  readonly events: MetaEvents;
  readonly readers: EventReaders;
  readonly deliveries: DeliveryTables;
  readonly alerts: AlertTables;
  readonly clockNotes: ClockNotes;
  readonly #connection: MetaConnection;
  readonly #members: MemberTables;
  readonly #prompts: PromptTables;
  readonly #endpoints: EndpointTables;
  /** The tenant number of every user, by id. */
  readonly #tenants = new Map<string, number>();
  /** The greatest that any user has, or had. */
  #lastTenant = 0;
  /** And the users of the tenants. */
  readonly #users = new Map<number, string>();
  /** `monthly_event_limit` by tenant. */
  readonly #limits = new Map<number, number | null>();

  private constructor(connection: Connection, { file, eventsWritten, agentName }: MetaSurroundings) {
    this.#connection = new MetaConnection(connection, file);
    const parts = { connection: this.#connection, interests: this.interests };
    const tenantOf = (userId: string): number | undefined => this.tenantOf(userId);
    this.events = new MetaEvents(parts.connection, parts.interests, eventsWritten);
    this.clockNotes = new ClockNotes(parts.connection);
    this.readers = new EventReaders(parts.connection, this.events);
    this.deliveries = new DeliveryTables({ ...parts, tenantOf, events: this.events });
    this.#members = new MemberTables(parts.connection, parts.interests);
    this.#prompts = new PromptTables(parts.connection, this.events);
    this.#endpoints = new EndpointTables({ ...parts, events: this.events, deliveries: this.deliveries });
    this.alerts = new AlertTables({ ...parts, tenantOf, events: this.events, agentName });
  }

  /** @param connection the tables' own */
  static async open(connection: Connection, surroundings: MetaSurroundings): Promise<MetaTables> {
    const tables = new MetaTables(connection, surroundings);
    for (const row of await connection.rows(USERS.select()))
      tables.#remember(toUser(row), Number(row.tenant));
    const [numbers] = await connection.rows(`SELECT ${lastNumber(USERS)} AS tenant`);
    tables.#lastTenant = Number(numbers?.tenant);
    await tables.events.load();
    await tables.#members.load();
    await tables.#endpoints.load();
    await tables.deliveries.load();
    await tables.alerts.load();
    await tables.#prompts.load((userId) => tables.#knownTenant(userId));
    return tables;
  }

  /** @returns undefined for an unknown user. */
  tenantOf(userId: string): number | undefined {
    return this.#tenants.get(userId);
  }

  /** @returns undefined for a number that no user has. */
  userOf(tenant: number): string | undefined {
    return this.#users.get(tenant);
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
      await refuseTaken(this.#connection, 'users', 'email', user.email);
      await this.#insertUser(user);
    });
  }

  async updateUser(id: string, change: UserChange): Promise<User | 'last_admin' | null> {
    return await this.#connection.transaction(async () => {
      if (change.disabled === true && (await isLastAdmin(this.#connection, { userId: id })))
        return 'last_admin';
      if (change.email !== undefined) await refuseTaken(this.#connection, 'users', 'email', change.email, id);
      for (const [column, value] of Object.entries(
        pick({ ...change }, ['email', 'name', 'monthly_event_limit', 'disabled']),
      )) {
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

  async revokeKey(id: string, at: Micros): Promise<RevokedKey> {
    return await this.#connection.transaction(async () => {
      if (await isLastAdmin(this.#connection, { keyId: id })) return 'last_admin';
      const rows = await this.#connection.rows(
        'UPDATE api_keys SET revoked_at = coalesce(revoked_at, make_timestamp(?::BIGINT)) WHERE id = ?::UUID RETURNING 1 AS done',
        [at, id],
      );
      return rows.length > 0 ? 'revoked' : 'unknown';
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
    return await this.#members.listOrganizations();
  }

  async createOrganization(organization: Organization): Promise<void> {
    await this.#connection.transaction(() => this.#members.createOrganization(organization));
  }

  async putMember(slug: string, userId: string, role?: Role): Promise<Role | null> {
    const tenant = this.#tenants.get(userId);
    return tenant === undefined ? null : await this.#members.put(slug, userId, tenant, role);
  }

  async listMembers(slug: string): Promise<readonly Member[] | null> {
    return await this.#members.list(slug);
  }

  async removeMember(slug: string, userId: string): Promise<boolean> {
    const tenant = this.#tenants.get(userId);
    return tenant !== undefined && (await this.#members.remove(slug, userId, tenant));
  }

  async membershipsOf(userId: string): Promise<readonly Membership[]> {
    return await this.#members.membershipsOf(userId);
  }

  async bootstrap(first: { user: User; organization: Organization; key: StoredKey }): Promise<boolean> {
    return await this.#connection.transaction(async () => {
      const [users] = await this.#connection.rows('SELECT count(*) AS users FROM users');
      if (users?.users !== 0) return false;
      const tenant = await this.#insertUser(first.user);
      await this.#members.createOrganization(first.organization);
      await this.#members.join(first.organization.id, first.user.id, tenant, 'admin');
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

  async createEndpoint(slug: string, endpoint: StoredEndpoint, most?: number): Promise<CreatedEndpoint> {
    return await this.#endpoints.create(slug, endpoint, most);
  }

  async listEndpoints(slug: string): Promise<readonly WebhookEndpoint[]> {
    return await this.#endpoints.list(slug);
  }

  async updateEndpoint(
    slug: string,
    id: string,
    change: EndpointChange,
    now: Micros,
  ): Promise<WebhookEndpoint | null> {
    return await this.#endpoints.update(slug, id, change, now);
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

  async testEndpoint(slug: string, id: string, now: Micros): Promise<TestedEndpoint | null> {
    return await this.#endpoints.test(slug, id, now);
  }

  /** @returns the tenant's number */
  async #insertUser(user: User): Promise<number> {
    const tenant = this.#lastTenant + 1;
    await this.#connection.run(...USERS.insert({ ...user, tenant }));
    this.#connection.afterCommit(() => {
      this.#lastTenant = tenant;
      this.#remember(user, tenant);
    });
    return tenant;
  }

  #remember(user: User, tenant: number): void {
    this.#tenants.set(user.id, tenant);
    this.#users.set(tenant, user.id);
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
