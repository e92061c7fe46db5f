import t from 'tap';
import { sql } from 'kysely';
import type { ControlDatabase } from '../../../src/storage/control/control-database.js';
import { openPostgres } from '../../../src/storage/control/postgres/open-postgres.js';
import { systemClock } from '../../../src/telemetry/system-clock.js';
import { PostgresServer } from '../../support/postgres.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { until } from '../../support/until.js';

const server = await PostgresServer.start(t);
if (typeof server === 'string') t.plan(0, server);
else checkPostgres(server);

function checkPostgres(server: PostgresServer): void {
  const logger = new RecordingLogger();

  async function open(url: string): Promise<ControlDatabase> {
    const database = await openPostgres({ url, clock: systemClock, logger });
    t.teardown(() => database.close());
    return database;
  }

  async function note(database: ControlDatabase, name: string): Promise<void> {
    await database.transaction(async (tx, notify) => {
      await tx.insertInto('counters').values({ name, last: 1 }).execute();
      notify('keys');
    });
  }

  void t.test('creates the tables once when several processes start together', async (t) => {
    const url = await server.createDatabase();
    const opened = await Promise.all(Array.from({ length: 6 }, () => open(url)));
    await Promise.all(opened.map((database, i) => note(database, `n${String(i)}`)));
    const rows = await server.query("select count(*)::int as count from counters where name like 'n_'", url);
    t.equal(rows[0]?.['count'], opened.length);
    for (const database of opened) await database.close();
  });

  void t.test('rejects a database of a newer version without naming the password', async (t) => {
    const url = await server.createDatabase();
    await (await open(url)).close();
    await server.query("insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00.000Z')", url);
    const secret = url.replace('postgres@', 'postgres:hidden-word@');
    const error = await open(secret).then(
      () => null,
      (error: unknown) => error,
    );
    t.match(error, { name: 'ControlStoreError', message: /newer version of Jackdaw \(it has 9999-later\)/ });
    t.notMatch(String(error), 'hidden-word');
  });

  void t.test('names an unreachable server without the password', async (t) => {
    await t.rejects(open('postgres://me:hidden-word@127.0.0.1:1/jackdaw'), {
      name: 'ControlStoreError',
      message:
        'The control store jackdaw at 127.0.0.1:1 cannot be opened: PostgreSQL is unreachable: ECONNREFUSED.',
    });
  });

  void t.test('retries deadlocked transactions', async (t) => {
    const database = await open(await server.createDatabase());
    for (const name of ['a', 'b']) await note(database, name);
    let attempts = 0;
    let isConnected = (): void => undefined;
    const met = new Promise<void>((resolve) => (isConnected = resolve));
    let arrived = 0;
    const cross = async (first: string, second: string): Promise<void> => {
      await database.transaction(async (tx) => {
        attempts++;
        const add = (name: string) =>
          tx
            .updateTable('counters')
            .set({ last: sql`last + 1` })
            .where('name', '=', name)
            .execute();
        await add(first);
        if (++arrived === 2) isConnected();
        await met;
        await add(second);
      });
    };
    await Promise.all([cross('a', 'b'), cross('b', 'a')]);
    t.ok(attempts > 2, 'one transaction was retried');
    const rows = await database.read((db) =>
      db.selectFrom('counters').select('last').where('name', 'in', ['a', 'b']).execute(),
    );
    t.same(rows, [{ last: 3 }, { last: 3 }]);
  });

  void t.test('delivers a hint after the connection of its sender is lost', async (t) => {
    const url = await server.createDatabase();
    const [one, two] = [await open(url), await open(url)];
    let hints = 0;
    two.watch.watch('keys', () => {
      hints++;
    });
    const first =
      "select pid from pg_stat_activity where query = 'listen jackdaw' and datname = current_database() order by backend_start limit 1";
    const cut = await server.query(`select pg_terminate_backend(pid) from (${first}) as listening`, url);
    t.equal(cut.length, 1);
    await note(one, 'a');
    await until('the other process is notified', () => hints === 1);
  });

  void t.test('errors contain no values', async (t) => {
    const database = await open(await server.createDatabase());
    await note(database, 'hidden-word');
    await t.rejects(note(database, 'hidden-word'), {
      name: 'ConsumeError',
      code: 'internal_error',
      retryable: false,
      message: 'The control store failed: PostgreSQL error 23505 (counters_pkey)',
    });
    await t.rejects(
      database.read((db) => sql`select ${'hidden-word'}::bigint`.execute(db)),
      { message: 'The control store failed: PostgreSQL error 22P02' },
    );
  });

  void t.test('a lost connection fails only the calls in progress', async (t) => {
    const url = await server.createDatabase();
    const [one, two] = [await open(url), await open(url)];
    let hints = 0;
    two.watch.watch('keys', () => {
      hints++;
    });
    await note(one, 'a');
    await until('the other process is notified', () => hints === 1);

    const cut = one.transaction(async (tx) => {
      await tx.insertInto('counters').values({ name: 'b', last: 1 }).execute();
      await server.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname = current_database()',
        url,
      );
      await tx.insertInto('counters').values({ name: 'c', last: 1 }).execute();
    });
    await t.rejects(cut, { name: 'ConsumeError', code: 'storage_unavailable', retryable: true });
    await until('everything is notified after reconnecting', () => hints === 2);
    await note(one, 'b');
    await until('new changes are notified', () => hints === 3);

    await server.stop();
    await t.rejects(note(one, 'd'), { code: 'storage_unavailable', retryable: true });
    await server.resume();
    await note(one, 'd');
    await until('it receives hints again', () => hints >= 4);
    const rows = await two.read((db) =>
      db.selectFrom('counters').select('name').where('last', '=', 1).orderBy('name').execute(),
    );
    t.same(
      rows.map(({ name }) => name),
      ['a', 'b', 'd'],
    );
    t.ok(logger.lines.some((line) => line.startsWith('warn Cannot listen for changes by other processes')));
  });
}
