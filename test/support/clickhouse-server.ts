import { fork, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Test } from 'tap';
import type { ClickHouseFault } from './clickhouse-faults.js';
import { NO_SERVERS } from './tier.js';

/** The ClickHouse engine in its own process with an empty folder, for one test file or bench: `clickhouse-app.ts`. */
export class ClickHouseServer {
  readonly password = 'swordfish';
  readonly #folder: string;
  #port = 0;
  #process: ChildProcess | null = null;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /**
   * Starts a server that is stopped and removed when the test ends.
   *
   * @returns the reason if it cannot run here: the engine is published only for Linux on x64. `package.json` overrides the packages of
   * other platforms, which `chdb` lists but nobody published, with an empty one, because `npm ci` requires all of them.
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

  /** CPU seconds and memory in bytes, for benches. */
  get pid(): number {
    return this.#running().pid ?? 0;
  }

  /** A new name for a database. */
  newDatabase(): string {
    return `t${randomUUID().replaceAll('-', '')}`;
  }

  /** Runs statements in sequence. @returns the response of the last one, one row per line as JSON arrays */
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

  /** Makes some of the next requests fail. */
  async fault(fault: ClickHouseFault): Promise<void> {
    await this.#send({ fault });
  }

  /** Clears the faults. */
  async heal(): Promise<void> {
    await this.#send({ clear: true });
  }

  /** Restarts it on the same port. */
  async resume(): Promise<void> {
    const app = new URL('./clickhouse-app.js', import.meta.url);
    this.#process = fork(app, [this.#folder, String(this.#port), this.password], {
      // Each running statement takes a thread of this pool.
      env: { ...process.env, UV_THREADPOOL_SIZE: '24' },
      // Without the options of the tests, such as coverage and loaders.
      execArgv: [],
    });
    this.#port = Number(await this.#readReply());
  }

  /** Kills it, like a crash. */
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
