import { randomUUID } from 'node:crypto';
import { post, type Answer, type Sent } from './http-post.js';

/** The response of `POST /api/v1/traces/batch`. */
export interface BatchReply {
  readonly accepted: number;
  readonly rejected: number;
  readonly errors: readonly { readonly trace_id: string; readonly error: string }[];
}

export type Shown = Readonly<Record<string, unknown>>;
export type ShownTrace = Shown & { readonly spans: readonly Shown[] };

/** Sends traces to a daemon and reads them back, with one key. */
export class TracesClient {
  readonly #url: string;
  readonly #key: string;

  /** @param url `http://127.0.0.1:PORT` */
  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** Sends a JSON request to the batch route with the key; given headers override the defaults. */
  send({ headers, ...rest }: Sent): Promise<Answer> {
    return post(`${this.#url}/api/v1/traces/batch`, {
      ...rest,
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json', ...headers },
    });
  }

  /** @throws Error if the status is not 200 */
  async sendTraces(traces: readonly unknown[]): Promise<BatchReply> {
    return this.#expect(200, await this.send({ body: JSON.stringify({ traces }) })) as BatchReply;
  }

  /** @returns null for an unknown trace. */
  async readTrace(traceId: string): Promise<ShownTrace | null> {
    const answer = await this.#get(`/api/v1/dashboard/traces/${traceId}`);
    return answer.status === 404 ? null : (this.#expect(200, answer) as ShownTrace);
  }

  /** @throws Error if the status is not 200 */
  async read(path: string): Promise<unknown> {
    return this.#expect(200, await this.#get(path));
  }

  /** A new key of the same user. The client needs an administrator key. */
  async createKey(scopes: readonly string[]): Promise<string> {
    const { user } = (await this.read('/api/v1/me')) as { readonly user: { readonly id: string } };
    return this.#createKey(user.id, scopes);
  }

  /** A new user's key with read and write. The client needs an administrator key. */
  async createUser(): Promise<string> {
    const email = `${randomUUID()}@example.com`;
    const user = (await this.#create('users', { email, name: 'test' })) as { readonly id: string };
    return this.#createKey(user.id, ['write', 'read']);
  }

  async #createKey(userId: string, scopes: readonly string[]): Promise<string> {
    const created = await this.#create('keys', { user_id: userId, name: scopes.join(' '), scopes });
    return (created as { readonly key: string }).key;
  }

  async #create(what: 'users' | 'keys', body: object): Promise<unknown> {
    const answer = await post(`${this.#url}/api/v1/admin/${what}`, {
      headers: { authorization: `Bearer ${this.#key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return this.#expect(201, answer);
  }

  #get(path: string): Promise<Answer> {
    return post(`${this.#url}${path}`, {
      method: 'GET',
      headers: { authorization: `Bearer ${this.#key}` },
    });
  }

  #expect(status: number, answer: Answer): unknown {
    if (answer.status === status) return answer.body;
    throw new Error(`${answer.status} in place of ${status}: ${JSON.stringify(answer.body)}`);
  }
}
