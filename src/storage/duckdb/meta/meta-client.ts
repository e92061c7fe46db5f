import type { Micros } from '../../../signal/time.js';
import type {
  KeyChange,
  Member,
  Membership,
  MetaStore,
  Organization,
  PromptPages,
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
import type { MetaMethod } from '../store-thread.js';
import { AlertClient } from './alert-client.js';
import type { PromptPage } from './prompt-tables.js';

/** The {@link MetaStore} of the daemon's thread: it asks the store thread, and tells of keys that come and go. */
export abstract class MetaClient extends AlertClient implements MetaStore {
  readonly #keyListeners = new Set<(change: KeyChange) => void>();

  abstract get directory(): string;

  /** Calls a method of `MetaTables` in the store thread. */
  protected abstract meta<T>(method: MetaMethod, ...args: unknown[]): Promise<T>;

  async listUsers(): Promise<readonly User[]> {
    return await this.meta('listUsers');
  }

  async createUser(user: User): Promise<void> {
    await this.meta('createUser', user);
  }

  async updateUser(id: string, change: UserChange): Promise<User | 'last_admin' | null> {
    const user = await this.meta<User | 'last_admin' | null>('updateUser', id, change);
    if (change.disabled === undefined || user === null || user === 'last_admin') return user;
    this.#tellOfKey({ kind: 'user', userId: user.id, isDisabled: user.disabled });
    await this.tellOfUser(user.id, user.disabled);
    return user;
  }

  async listKeys(): Promise<readonly StoredKey[]> {
    return await this.meta('listKeys');
  }

  async createKey(key: StoredKey): Promise<void> {
    await this.meta('createKey', key);
    this.#tellOfKey({ kind: 'created', key });
  }

  async revokeKey(id: string, at: Micros): Promise<RevokedKey> {
    const outcome = await this.meta<RevokedKey>('revokeKey', id, at);
    if (outcome === 'revoked') this.#tellOfKey({ kind: 'revoked', id, at });
    return outcome;
  }

  watchKeys(listener: (change: KeyChange) => void): () => void {
    this.#keyListeners.add(listener);
    return () => this.#keyListeners.delete(listener);
  }

  async touchKeys(uses: readonly { readonly id: string; readonly at: Micros }[]): Promise<void> {
    await this.meta('touchKeys', uses);
  }

  async listOrganizations(): Promise<readonly Organization[]> {
    return await this.meta('listOrganizations');
  }

  async createOrganization(organization: Organization): Promise<void> {
    await this.meta('createOrganization', organization);
  }

  async putMember(slug: string, userId: string, role?: Role): Promise<Role | null> {
    return await this.meta('putMember', slug, userId, role);
  }

  async listMembers(slug: string): Promise<readonly Member[] | null> {
    return await this.meta('listMembers', slug);
  }

  async removeMember(slug: string, userId: string): Promise<boolean> {
    return await this.meta('removeMember', slug, userId);
  }

  async membershipsOf(userId: string): Promise<readonly Membership[]> {
    return await this.meta('membershipsOf', userId);
  }

  async bootstrap(first: { user: User; organization: Organization; key: StoredKey }): Promise<boolean> {
    const isDone = await this.meta<boolean>('bootstrap', first);
    if (isDone) this.#tellOfKey({ kind: 'created', key: first.key });
    return isDone;
  }

  async createPrompt(userId: string, prompt: PromptVersion): Promise<void> {
    await this.meta('createPrompt', userId, prompt);
  }

  async listPrompts(userId: string): Promise<PromptPages> {
    const first = await this.meta<PromptPage>('listPrompts', userId);
    return this.#promptPages(first, userId);
  }

  async listPromptVersions(userId: string, name: string): Promise<PromptPages | null> {
    const first = await this.meta<PromptPage | null>('listPromptVersions', userId, name);
    return first === null ? null : this.#promptPages(first, userId);
  }

  async createEndpoint(slug: string, endpoint: StoredEndpoint, most?: number): Promise<CreatedEndpoint> {
    return await this.meta('createEndpoint', slug, endpoint, most);
  }

  async listEndpoints(slug: string): Promise<readonly WebhookEndpoint[]> {
    return await this.meta('listEndpoints', slug);
  }

  async updateEndpoint(
    slug: string,
    id: string,
    change: EndpointChange,
    now: Micros,
  ): Promise<WebhookEndpoint | null> {
    const endpoint = await this.meta<WebhookEndpoint | null>('updateEndpoint', slug, id, change, now);
    if (endpoint?.is_active === true) this.tellOfDeliveries();
    return endpoint;
  }

  async deleteEndpoint(slug: string, id: string): Promise<boolean> {
    return await this.meta('deleteEndpoint', slug, id);
  }

  async rotateEndpointSecret(slug: string, id: string, sealedSecret: string): Promise<boolean> {
    return await this.meta('rotateEndpointSecret', slug, id, sealedSecret);
  }

  async readEndpoint(id: string): Promise<StoredEndpoint | null> {
    return await this.meta('readEndpoint', id);
  }

  async listStoredEndpoints(): Promise<readonly StoredEndpoint[]> {
    return await this.meta('listStoredEndpoints');
  }

  async testEndpoint(slug: string, id: string, now: Micros): Promise<TestedEndpoint | null> {
    const tested = await this.meta<TestedEndpoint | null>('testEndpoint', slug, id, now);
    if (tested !== null && tested !== 'paused') this.tellOfDeliveries();
    return tested;
  }

  async *#promptPages(first: PromptPage, userId: string): PromptPages {
    let page = first;
    yield page.prompts;
    while (page.rest.length > 0) {
      page = await this.meta<PromptPage>('readPrompts', userId, page.rest);
      yield page.prompts;
    }
  }

  #tellOfKey(change: KeyChange): void {
    for (const listener of this.#keyListeners) listener(change);
  }
}
