import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import type { DuckDBStoreOptions } from '../../../src/storage/duckdb/client/store.js';
import { controlPathOf } from '../../support/control-store.js';
import type { Answer, StoreCall } from './store-process.js';

const PROGRAM = fileURLToPath(new URL('./store-process.js', import.meta.url));

/** The error response of a store in another process. */
export class RemoteError extends Error {
  readonly error: NonNullable<Answer['error']>;

  constructor(error: NonNullable<Answer['error']>) {
    super(error.message);
    this.error = error;
  }
}

/** A store in its own process, so that it can be killed and limited. Killed when the test ends. */
export class RemoteStore {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #calls = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  readonly #ended: Promise<unknown>;
  #nextId = 1;
  #rest = '';

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child;
    this.#ended = once(child, 'close');
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.#receive(text);
    });
    void this.#ended.then(() => {
      for (const { reject } of this.#calls.values()) reject(new Error('the process of the store has ended'));
    });
  }

  /**
   * @param place.through prefix of the command @param place.control path of the control store; defaults to next to the store
   * @throws RemoteError when the store cannot be opened
   */
  static async open(
    t: Test,
    path: string,
    segmentRows: number,
    options: Partial<DuckDBStoreOptions> = {},
    { through = [], control = controlPathOf(path) }: { through?: readonly string[]; control?: string } = {},
  ): Promise<RemoteStore> {
    const store = [PROGRAM, path, String(segmentRows), JSON.stringify(options), control];
    const [command = '', ...args] = [...through, process.execPath, ...store];
    const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    const remote = new RemoteStore(child);
    t.teardown(() => remote.kill());
    await new Promise((resolve, reject) => remote.#calls.set(0, { resolve, reject }));
    return remote;
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  async call<T>(method: StoreCall, ...args: readonly unknown[]): Promise<T> {
    const id = this.#nextId++;
    return await new Promise<T>((resolve, reject) => {
      this.#calls.set(id, { resolve: resolve as (value: unknown) => void, reject });
      this.#child.stdin.write(`${JSON.stringify({ id, method, args })}\n`);
    });
  }

  /** Makes the kernel refuse writes of this process beyond this file size, like a full disk. */
  limitFiles(bytes: number | 'unlimited'): void {
    execFileSync('prlimit', ['--pid', String(this.pid), `--fsize=${bytes}:unlimited`]);
  }

  /** Closes the store and ends the process. */
  async close(): Promise<void> {
    this.#child.stdin.end();
    await this.#ended;
  }

  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) {
      const { id, value, error } = JSON.parse(line) as Answer;
      const call = this.#calls.get(id);
      this.#calls.delete(id);
      if (error === undefined) call?.resolve(value);
      else call?.reject(new RemoteError(error));
    }
  }
}

/** Whether limits of other processes can be set here. */
export function canLimit(): boolean {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' });
    return process.platform === 'linux';
  } catch {
    return false;
  }
}
