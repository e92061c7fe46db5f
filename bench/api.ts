import { Client } from 'undici';

export interface AgentStats {
  readonly id: string;
  readonly name: string;
  readonly total_runs: number;
}

/** Client of the daemon's API, with one connection. */
export class Api {
  readonly #client: Client;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(url: string, key: string) {
    this.#client = new Client(url, { headersTimeout: 120_000, bodyTimeout: 120_000 });
    this.#headers = { authorization: `Bearer ${key}` };
  }

  /** Sends a GET request. @param path below `/api/v1` @throws Error if the status is not 200 */
  async text(path: string): Promise<string> {
    const { statusCode, body } = await this.#client.request({
      method: 'GET',
      path: `/api/v1${path}`,
      headers: this.#headers,
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`GET ${path} answered ${statusCode}: ${text.slice(0, 300)}`);
    return text;
  }

  /** @param path below `/api/v1` @returns the parsed body @throws Error if the status is not 2xx */
  async post(path: string, json: object): Promise<unknown> {
    return await this.#send('POST', path, json);
  }

  async patch(path: string, json: object): Promise<unknown> {
    return await this.#send('PATCH', path, json);
  }

  /** Returns the parsed body without checking its schema. */
  async json(path: string): Promise<unknown> {
    return JSON.parse(await this.text(path)) as unknown;
  }

  async agents(): Promise<readonly AgentStats[]> {
    return (await this.json('/agents')) as readonly AgentStats[];
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  async #send(method: 'POST' | 'PATCH', path: string, json: object): Promise<unknown> {
    const { statusCode, body } = await this.#client.request({
      method,
      path: `/api/v1${path}`,
      headers: { ...this.#headers, 'content-type': 'application/json' },
      body: JSON.stringify(json),
    });
    const text = await body.text();
    if (statusCode > 299) throw new Error(`${method} ${path} answered ${statusCode}: ${text.slice(0, 300)}`);
    return JSON.parse(text) as unknown;
  }
}
