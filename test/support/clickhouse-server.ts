import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { ClickHouseFault } from './clickhouse-faults.js';
import { NO_SERVERS } from './tier.js';

/** ClickHouse's engine in a process of its own, with an empty folder, for one file of tests or a bench: `clickhouse-app.ts`. */
export class ClickHouseServer {
  readonly password = 'swordfish';
  readonly #folder: string;
  #port = 0;
  #process: ChildProcess | null = null;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Starts one, which is ended and removed when the test ends.
   *
   * @returns why it cannot run here, where it cannot: the engine is published for Linux on x64 alone. `package.json` overrides the packages of
   *   other platforms, which `chdb` names and nobody has published, with one that does nothing: `npm ci` wants to find all of them.
   */
  static async start(t: Pick<Test, 'teardown'>): Promise<ClickHouseServer | string> {
    if (NO_SERVERS) return NO_SERVERS;
    try {
      await import('chdb');
    } catch (error) {
      return `ClickHouse cannot run here: ${error instanceof Error ? error.message : String(error)}`;
    }
    const server = new ClickHouseServer(mkdtempSync(join(tmpdir(), 'jackdaw-clickhouse-')));
    t.teardown(async () => {
      await server.kill();
      rmSync(server.#folder, { recursive: true, force: true });
    });
    await server.resume();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${String(this.#port)}`;
  }

  /** Processor time that it has taken, in seconds, and the memory that it has, in bytes; of benches. */
  get pid(): number {
    return this.#running().pid ?? 0;
  }

  /** A new name for a database. */
  newDatabase(): string {
    return `t${randomUUID().replaceAll('-', '')}`;
  }

  /** Runs statements one after the other. @returns what the last one answered, a row a line, as arrays in JSON */
  async query(...statements: readonly string[]): Promise<unknown[][]> {
    let text = '';
    for (const statement of statements) {
      const isRead = /^\s*(SELECT|SHOW|WITH)/i.test(statement);
      const response = await fetch(`${this.url}/`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`default:${this.password}`).toString('base64')}` },
        body: isRead ? `${statement} FORMAT JSONCompactEachRow` : statement,
      });
      text = await response.text();
      if (!response.ok) throw new Error(text);
    }
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as unknown[]);
  }

  /** Spoils some of the requests to come. */
  async fault(fault: ClickHouseFault): Promise<void> {
    await this.#send({ fault });
  }

  /** No more faults. */
  async heal(): Promise<void> {
    await this.#send({ clear: true });
  }

  /** Starts it again, on the port that it had. */
  async resume(): Promise<void> {
    const app = new URL('./clickhouse-app.js', import.meta.url);
    this.#process = fork(app, [this.#folder, String(this.#port), this.password], {
      // Each statement that runs takes a thread of this pool.
      env: { ...process.env, UV_THREADPOOL_SIZE: '24' },
      // What is passed to tests, such as coverage and loaders, is not for it.
      execArgv: [],
    });
    this.#port = Number(await this.#readReply());
  }

  /** Ends it at once, as a crash does. */
  async kill(): Promise<void> {
    const killed = this.#process;
    this.#process = null;
    if (killed === null || killed.exitCode !== null || killed.signalCode !== null) return;
    await new Promise<void>((resolve) => {
      killed.once('exit', () => {
        resolve();
      });
      killed.kill('SIGKILL');
    });
  }

  async #send(order: object): Promise<void> {
    const reply = this.#readReply();
    this.#running().send(order);
    await reply;
  }

  async #readReply(): Promise<unknown> {
    const child = this.#running();
    return await new Promise((resolve, reject) => {
      const ended = (code: number | null): void => {
        reject(new Error(`the server of ClickHouse ended with ${String(code)}`));
      };
      child.once('exit', ended);
      child.once('message', (message) => {
        child.off('exit', ended);
        resolve(message);
      });
    });
  }

  #running(): ChildProcess {
    if (this.#process === null) throw new Error('the server of ClickHouse is not running');
    return this.#process;
  }
}
