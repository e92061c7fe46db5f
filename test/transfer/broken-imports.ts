import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import type { Test } from 'tap';
import { StillClock } from '../../src/telemetry/still-clock.js';
import { ApiCaller } from '../support/api-caller.js';
import type { ClickHouseServer } from '../support/clickhouse-server.js';
import { startTestDaemon } from '../support/daemon.js';
import type { PostgresServer } from '../support/postgres.js';
import { launch } from '../support/process.js';
import { testFolder } from '../support/test-folder.js';
import { inClickHouse, TransferPlace } from '../support/transfer-place.js';
import { until } from '../support/until.js';

export interface Servers {
  readonly postgres: PostgresServer;
  readonly server: ClickHouseServer;
}

type Importing = ReturnType<typeof launch>;

/** Another import may still be running. */
const WAITS = { code: 2, stderr: /Another import .* is in progress or was killed .*: wait and try again/ };

/**
 * Breaks imports into ClickHouse and PostgreSQL by killing their process or one of their stores, and follows the
 * instruction of the next import each time.
 *
 * @param from an export @param key for the first user of a gateway
 * @returns stores without conflicting data, except everything left in PostgreSQL
 */
export async function breakImports(
  t: Test,
  servers: Servers,
  { from, key }: { readonly from: string; readonly key: string },
): Promise<Target> {
  const first = await Target.make(t, servers, from);
  await t.test('by SIGKILL: the next import waits for its lease, then says what to do', async (t) => {
    const importing = await first.hanging('runs');
    t.match(await first.import(), WAITS, 'while it is running');
    importing.child.kill('SIGKILL');
    t.match(await importing.exited, { signal: 'SIGKILL' });
    t.match(await first.import(), WAITS);
    await first.letLeasesEnd();
    t.match(await first.import(), refusal(first, 'messages'));
  });
  await t.test('a gateway on an incomplete import shows none of it', async (t) => {
    await showsNothing(t, first, key);
    t.match(await first.import(), {
      code: 2,
      stderr: /control store already contains users: import into a new store/,
    });
  });
  const target = await Target.make(t, servers, from, first.database);
  t.match(await target.import(), {
    code: 1,
    stderr: /belongs to another control store.*or use another database/,
  });
  await target.clear();
  await t.test('when ClickHouse is killed', async (t) => {
    const importing = await target.hanging('logs');
    await servers.server.kill();
    await ended(t, importing, 'The store request failed: no response');
    await servers.server.resume();
    t.match(await target.import(), refusal(target, 'messages'), 'its lease was released');
    await target.clear();
  });
  await t.test('when PostgreSQL stops before anything is in ClickHouse', async (t) => {
    const importing = await target.waitingForBook();
    await servers.postgres.stop();
    await ended(t, importing, 'The control store failed: PostgreSQL');
    await servers.postgres.resume();
    t.match(await target.import(), WAITS, 'its lease could not be released');
    await target.letLeasesEnd();
    t.match(await target.import(), refusal(target, 'agents'));
    await target.clear();
  });
  return target;
}

function refusal({ database }: Target, what: string): object {
  const stderr = new RegExp(
    `already contains ${what} .*the database ${database} in ClickHouse .*DROP DATABASE removes it.*, possibly from an interrupted import: .*empty this one`,
  );
  return { code: 2, stderr };
}

async function ended(t: Test, importing: Importing, cause: string): Promise<void> {
  t.match(await importing.exited, { code: 1, signal: null });
  t.match(
    importing.stderr(),
    new RegExp(
      `${cause}.* The import is incomplete\\. Its telemetry is not visible to anyone .*: remove it and import again`,
    ),
  );
}

/** A gateway completes the leftovers of the import, but shows and emits nothing. */
async function showsNothing(t: Test, half: Target, key: string): Promise<void> {
  const clock = new StillClock();
  const open = async () =>
    (await half.query('select count(*)::int as count from writes where ended_at is null'))[0]?.['count'];
  t.not(await open(), 0);
  const gateway = await startTestDaemon(t, { ...half.place.daemon(key), clock });
  await until('no write is open', async () => {
    clock.advance(1000);
    await wait(20);
    return (await open()) === 0;
  });
  const api = new ApiCaller(gateway.url, key);
  for (const list of ['/dashboard/traces', '/dashboard/logs/search'])
    t.match(await api.get(list), { count: 0 }, list);
  t.strictSame(await api.get('/agents'), []);
  t.match(await api.get('/usage'), { used: 0 });
  const events = await half.query(`select type from events where type like 'trace.%' or type like 'agent.%'`);
  t.strictSame(events, [], 'no events are emitted');
  await gateway.daemon.shutdown();
}

/** Stores in ClickHouse and PostgreSQL for interrupted imports. */
export class Target {
  readonly database: string;
  readonly place: TransferPlace;
  readonly #postgresUrl: string;
  readonly #servers: Servers;
  readonly #from: string;
  readonly #folder: string;

  private constructor(t: Test, servers: Servers, from: string, database: string, postgresUrl: string) {
    this.database = database;
    this.#postgresUrl = postgresUrl;
    this.#servers = servers;
    this.#from = from;
    this.#folder = testFolder(t);
    const overlay = inClickHouse(servers.server, database);
    this.place = new TransferPlace(t, { postgres: postgresUrl, overlay });
  }

  /** @param database in ClickHouse; defaults to a new one, as PostgreSQL always gets */
  static async make(
    t: Test,
    servers: Servers,
    from: string,
    database = servers.server.newDatabase(),
  ): Promise<Target> {
    return new Target(t, servers, from, database, await servers.postgres.createDatabase());
  }

  /** Runs `jackdaw import` in a process that gets no response to its insert into a table, whose rows are stored. */
  async hanging(table: string): Promise<Importing> {
    const { server } = this.#servers;
    await server.fault({ kind: 'silent', times: 1, matching: `INSERT INTO ${table} ` });
    const importing = this.#launch();
    await until(`there are ${table}`, async () => {
      // Avoids loading the engine with this query.
      await wait(50);
      const found = await server.query(
        `SELECT total_rows FROM system.tables WHERE database = '${this.database}' AND name = '${table}'`,
      );
      return Number(found[0]?.[0] ?? 0) > 0;
    });
    return importing;
  }

  /** Runs an import that waits for the locked write-intent log, before anything is in ClickHouse. */
  async waitingForBook(): Promise<Importing> {
    const holder = new Client({ connectionString: this.#postgresUrl });
    // The connection ends with the server.
    holder.on('error', () => undefined);
    await holder.connect();
    await holder.query('begin; lock table writes in exclusive mode');
    const last = async () =>
      (await this.query('select max(number) as number from numbered_agents'))[0]?.['number'];
    const before = await last();
    const importing = this.#launch();
    await until('there are agents', async () => {
      await wait(20);
      return (await last()) !== before;
    });
    return importing;
  }

  async import() {
    return await this.place.import(this.#from);
  }

  async query(statement: string): Promise<readonly Record<string, unknown>[]> {
    return await this.#servers.postgres.query(statement, this.#postgresUrl);
  }

  /** Expires all leases. */
  async letLeasesEnd(): Promise<void> {
    await this.query('update leases set expires_at = 1 where expires_at > 1');
    await this.query('update writes set expires_at = 1 where ended_at is null');
  }

  /** Does what the next import asks for. */
  async clear(): Promise<void> {
    await this.#servers.server.query(`DROP DATABASE ${this.database} SYNC`);
  }

  #launch(): Importing {
    return launch(['import', '--from', this.#from, ...this.place.files], {
      cwd: this.place.directory,
      // Temporary files are removed with the test.
      env: { TMPDIR: this.#folder },
    });
  }
}
