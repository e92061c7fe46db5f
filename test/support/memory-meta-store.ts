import { uuidV7 } from '../../src/signal/ids.js';
import type { Micros } from '../../src/signal/time.js';
import {
  ConflictError,
  type KeyChange,
  type Member,
  type Membership,
  type MetaStore,
  type Organization,
  type PromptPages,
  type PromptVersion,
  type RevokedKey,
  type Role,
  type StoredKey,
  type User,
  type UserChange,
} from '../../src/storage/meta-store.js';
import type {
  CreatedEndpoint,
  EndpointChange,
  StoredEndpoint,
  TestedEndpoint,
  WebhookEndpoint,
} from '../../src/storage/webhook-endpoints.js';
import { withoutSecret } from './stored-endpoint.js';

/**
 * A meta store without a database, for tests of what stands on one: it keeps every promise of the interface but
 * durability. Each change can be made to fail.
 */
export class MemoryMetaStore implements MetaStore {
  readonly directory: string;
  /** The next call of that method throws it, with nothing changed. */
  readonly faults = new Map<keyof MetaStore, Error>();
  /** Every `touchKeys`, as it came. */
  readonly touches: (readonly { readonly id: string; readonly at: Micros }[])[] = [];
  readonly #users = new Map<string, User>();
  readonly #keys = new Map<string, StoredKey>();
  readonly #organizations = new Map<string, Organization>();
  readonly #members = new Map<string, Map<string, Role>>();
  readonly #prompts = new Map<string, readonly PromptVersion[]>();
  readonly #endpoints = new Map<string, { readonly slug: string; readonly endpoint: StoredEndpoint }>();
  readonly #watchers = new Set<(change: KeyChange) => void>();

  constructor(directory: string) {
    this.directory = directory;
  }

  async listUsers(): Promise<readonly User[]> {
    this.#maybeFail('listUsers');
    return [...this.#users.values()];
  }

  async createUser(user: User): Promise<void> {
    this.#maybeFail('createUser');
    this.#requireFreeEmail(user.email, user.id);
    this.#users.set(user.id, user);
  }

  async updateUser(id: string, change: UserChange): Promise<User | 'last_admin' | null> {
    this.#maybeFail('updateUser');
    const user = this.#users.get(id);
    if (!user) return null;
    if (change.disabled === true && this.#isLastAdmin((key) => key.user_id === id)) return 'last_admin';
    if (change.email !== undefined) this.#requireFreeEmail(change.email, id);
    const changed = { ...user, ...change };
    this.#users.set(id, changed);
    if (change.disabled !== undefined) this.#tell({ kind: 'user', userId: id, isDisabled: change.disabled });
    return changed;
  }

  async listKeys(): Promise<readonly StoredKey[]> {
    this.#maybeFail('listKeys');
    return [...this.#keys.values()];
  }

  async createKey(key: StoredKey): Promise<void> {
    this.#maybeFail('createKey');
    this.#keys.set(key.id, key);
    this.#tell({ kind: 'created', key });
  }

  async revokeKey(id: string, at: Micros): Promise<RevokedKey> {
    this.#maybeFail('revokeKey');
    const key = this.#keys.get(id);
    if (!key) return 'unknown';
    if (this.#isLastAdmin((one) => one === key)) return 'last_admin';
    this.#keys.set(id, { ...key, revoked_at: key.revoked_at ?? at });
    this.#tell({ kind: 'revoked', id, at });
    return 'revoked';
  }

  watchKeys(listener: (change: KeyChange) => void): () => void {
    this.#watchers.add(listener);
    return () => {
      this.#watchers.delete(listener);
    };
  }

  async touchKeys(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void> {
    this.#maybeFail('touchKeys');
    this.touches.push(uses);
    for (const { id, at } of uses) {
      const key = this.#keys.get(id);
      if (key) this.#keys.set(id, { ...key, last_used_at: at });
    }
  }

  async listOrganizations(): Promise<readonly Organization[]> {
    this.#maybeFail('listOrganizations');
    return [...this.#organizations.values()];
  }

  async createOrganization(organization: Organization): Promise<void> {
    this.#maybeFail('createOrganization');
    if (this.#organizations.has(organization.slug)) throw new ConflictError('slug', 'slug exists');
    this.#organizations.set(organization.slug, organization);
    this.#members.set(organization.slug, new Map());
  }

  async putMember(slug: string, userId: string, role?: Role): Promise<Role | null> {
    this.#maybeFail('putMember');
    const members = this.#members.get(slug);
    if (!members || !this.#users.has(userId)) return null;
    const given = role ?? members.get(userId) ?? 'member';
    members.set(userId, given);
    return given;
  }

  async listMembers(slug: string): Promise<readonly Member[] | null> {
    this.#maybeFail('listMembers');
    const members = this.#members.get(slug);
    if (!members) return null;
    return [...members]
      .flatMap(([user_id, role]) => {
        const user = this.#users.get(user_id);
        return user ? [{ user_id, email: user.email, name: user.name, role }] : [];
      })
      .sort((a, b) => (a.email.toLowerCase() < b.email.toLowerCase() ? -1 : 1));
  }

  async removeMember(slug: string, userId: string): Promise<boolean> {
    this.#maybeFail('removeMember');
    return this.#members.get(slug)?.delete(userId) ?? false;
  }

  async membershipsOf(userId: string): Promise<readonly Membership[]> {
    this.#maybeFail('membershipsOf');
    return [...this.#members].flatMap(([slug, members]) => {
      const role = members.get(userId);
      const name = this.#organizations.get(slug)?.name ?? slug;
      return role ? [{ slug, organization_name: name, role }] : [];
    });
  }

  async createPrompt(userId: string, prompt: PromptVersion): Promise<void> {
    this.#maybeFail('createPrompt');
    const prompts = this.#prompts.get(userId) ?? [];
    if (prompts.some(({ name, version }) => name === prompt.name && version === prompt.version))
      throw new ConflictError('version', 'version exists');
    this.#prompts.set(userId, [...prompts, prompt]);
  }

  async listPrompts(userId: string): Promise<PromptPages> {
    this.#maybeFail('listPrompts');
    return onePage(this.#sortedPrompts(userId));
  }

  async listPromptVersions(userId: string, name: string): Promise<PromptPages | null> {
    this.#maybeFail('listPromptVersions');
    const versions = this.#sortedPrompts(userId).filter((prompt) => prompt.name === name);
    return versions.length === 0 ? null : onePage(versions);
  }

  async createEndpoint(slug: string, endpoint: StoredEndpoint, most = Infinity): Promise<CreatedEndpoint> {
    this.#maybeFail('createEndpoint');
    if (!this.#organizations.has(slug)) return 'unknown';
    const kept = [...this.#endpoints.values()].filter((other) => other.slug === slug);
    if (kept.length >= most) return 'full';
    this.#endpoints.set(endpoint.id, { slug, endpoint });
    return 'created';
  }

  async listEndpoints(slug: string): Promise<readonly WebhookEndpoint[]> {
    this.#maybeFail('listEndpoints');
    return [...this.#endpoints.values()]
      .filter((kept) => kept.slug === slug)
      .map(({ endpoint }) => withoutSecret(endpoint))
      .sort((a, b) => b.created_at - a.created_at || (a.id < b.id ? 1 : -1));
  }

  async updateEndpoint(slug: string, id: string, change: EndpointChange): Promise<WebhookEndpoint | null> {
    this.#maybeFail('updateEndpoint');
    const endpoint = this.#endpointOf(slug, id);
    if (!endpoint) return null;
    const changed = {
      ...endpoint,
      ...change,
      ...(change.is_active === true ? { consecutive_failures: 0 } : {}),
    };
    this.#endpoints.set(id, { slug, endpoint: changed });
    return withoutSecret(changed);
  }

  async deleteEndpoint(slug: string, id: string): Promise<boolean> {
    this.#maybeFail('deleteEndpoint');
    return this.#endpointOf(slug, id) !== undefined && this.#endpoints.delete(id);
  }

  async rotateEndpointSecret(slug: string, id: string, sealedSecret: string): Promise<boolean> {
    this.#maybeFail('rotateEndpointSecret');
    const endpoint = this.#endpointOf(slug, id);
    if (!endpoint) return false;
    this.#endpoints.set(id, { slug, endpoint: { ...endpoint, sealed_secret: sealedSecret } });
    return true;
  }

  async readEndpoint(id: string): Promise<StoredEndpoint | null> {
    this.#maybeFail('readEndpoint');
    return this.#endpoints.get(id)?.endpoint ?? null;
  }

  async testEndpoint(slug: string, id: string): Promise<TestedEndpoint | null> {
    this.#maybeFail('testEndpoint');
    const endpoint = this.#endpointOf(slug, id);
    if (!endpoint) return null;
    return endpoint.is_active ? { deliveryId: uuidV7(Date.now()) } : 'paused';
  }

  async listStoredEndpoints(): Promise<readonly StoredEndpoint[]> {
    this.#maybeFail('listStoredEndpoints');
    return [...this.#endpoints.values()]
      .map(({ endpoint }) => endpoint)
      .sort((a, b) => a.created_at - b.created_at || (a.id < b.id ? -1 : 1));
  }

  #endpointOf(slug: string, id: string): StoredEndpoint | undefined {
    const kept = this.#endpoints.get(id);
    return kept?.slug === slug ? kept.endpoint : undefined;
  }

  #sortedPrompts(userId: string): PromptVersion[] {
    return [...(this.#prompts.get(userId) ?? [])].sort(
      (a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)) || b.version - a.version,
    );
  }

  async bootstrap(first: Parameters<MetaStore['bootstrap']>[0]): Promise<boolean> {
    this.#maybeFail('bootstrap');
    if (this.#users.size > 0) return false;
    await this.createUser(first.user);
    await this.createOrganization(first.organization);
    await this.putMember(first.organization.slug, first.user.id, 'admin');
    await this.createKey(first.key);
    return true;
  }

  /** Whether nobody could administer for good without these keys. */
  #isLastAdmin(isWithout: (key: StoredKey) => boolean): boolean {
    const lasting = [...this.#keys.values()].filter(
      (key) =>
        key.scopes.includes('admin') &&
        key.revoked_at === null &&
        key.expires_at === null &&
        this.#users.get(key.user_id)?.disabled === false,
    );
    return lasting.length > 0 && lasting.every(isWithout);
  }

  #requireFreeEmail(email: string, id: string): void {
    for (const user of this.#users.values())
      if (user.email === email && user.id !== id) throw new ConflictError('email', 'email exists');
  }

  #maybeFail(method: keyof MetaStore): void {
    const fault = this.faults.get(method);
    this.faults.delete(method);
    if (fault) throw fault;
  }

  #tell(change: KeyChange): void {
    for (const watcher of this.#watchers) watcher(change);
  }
}

async function* onePage(prompts: readonly PromptVersion[]): PromptPages {
  yield prompts;
}
