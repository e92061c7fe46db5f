import assert from 'node:assert/strict';
import type { Scope } from '../../src/component/identity.js';
import type { Item } from './trace-batch.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The parsed JSON, or text in other formats; undefined without a body. */
  readonly body: unknown;
}

export interface Call {
  /** Defaults to the key of the first user; null sends none. */
  readonly key?: string | null;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls a daemon's API over a real socket. */
export class ApiCaller {
  readonly url: string;
  readonly adminKey: string;

  constructor(url: string, adminKey: string) {
    this.url = url;
    this.adminKey = adminKey;
  }

  /** @param path below `/api/v1` */
  async call(method: string, path: string, call: Call = {}): Promise<Answer> {
    const { key = this.adminKey } = call;
    const sent = call.json === undefined ? call.body : JSON.stringify(call.json);
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers: {
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
        ...(call.json === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      ...(sent === undefined ? {} : { body: sent }),
    });
    const text = await response.text();
    const isJson = /[/+]json\b/.test(response.headers.get('content-type') ?? '');
    const body: unknown = isJson && text !== '' ? JSON.parse(text) : text || undefined;
    return { status: response.status, headers: response.headers, body };
  }

  /** @returns the body of a successful GET, typed as the test expects. */
  async get<Body>(path: string, key?: string): Promise<Body> {
    const answer = await this.call('GET', path, key === undefined ? {} : { key });
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer.body as Body;
  }

  /** @returns a new key, of the first user by default. */
  async createKey(
    scopes: readonly Scope[],
    more: { readonly user_id?: string; readonly expires_at?: string } = {},
  ): Promise<{ readonly id: string; readonly key: string }> {
    const answer = await this.call('POST', '/admin/keys', { json: { name: 'test', scopes, ...more } });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body as { readonly id: string; readonly key: string };
  }

  /** @returns a new user with a key with these scopes. */
  async createUser(
    email: string,
    scopes: readonly Scope[],
  ): Promise<{ readonly id: string; readonly key: string }> {
    const answer = await this.call('POST', '/admin/users', { json: { email, name: email } });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    const { id } = answer.body as { readonly id: string };
    return { id, key: (await this.createKey(scopes, { user_id: id })).key };
  }

  /** Sends traces and expects all to be accepted. */
  async send(items: readonly Item[], key?: string): Promise<void> {
    const answer = await this.call('POST', '/traces/batch', {
      json: { traces: items },
      ...(key === undefined ? {} : { key }),
    });
    assert.deepEqual(answer.body, { accepted: items.length, rejected: 0, errors: [] });
  }
}
