import { sql } from 'kysely';
import t, { type Test } from 'tap';
import type { ControlDatabase } from '../../src/storage/control/control-database.js';
import { onEveryDatabase, type OpenDatabase } from './control-stores.js';

/** Writes a counter with this name. */
async function note(database: ControlDatabase, name: string, last = 1): Promise<void> {
  await database.transaction(async (tx, notify) => {
    await tx.insertInto('counters').values({ name, last }).execute();
    notify('terms');
  });
}

function checkDatabase(t: Test, open: OpenDatabase): void {
  void t.test('returns exact numbers or an error', async (t) => {
    const { database } = await open(t);
    const read = (name: string) =>
      database.read((db) => db.selectFrom('counters').select('last').where('name', '=', name).execute());
    for (const last of [0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) {
      await note(database, String(last), last);
      t.strictSame(await read(String(last)), [{ last }]);
    }
    await database.transaction((tx) =>
      sql`insert into counters (name, last) values ('beyond', 9007199254740993)`.execute(tx),
    );
    await t.rejects(read('beyond'), { name: 'ConsumeError', code: 'internal_error', retryable: false });
    t.strictSame(await read('-1'), [{ last: -1 }], 'later calls are unaffected');
  });

  void t.test('a failed transaction changes nothing and notifies no one', async (t) => {
    const { database } = await open(t);
    let hints = 0;
    database.watch.watch('terms', () => {
      hints++;
    });
    const failed = database.transaction(async (tx, notify) => {
      await tx.insertInto('counters').values({ name: 'a', last: 1 }).execute();
      notify('terms');
      throw new RangeError('the work’s own');
    });
    await t.rejects(failed, new RangeError('the work’s own'));
    await note(database, 'a');
    t.equal(hints, 1);
  });

  void t.test('reports a constraint violation as an internal error without the value', async (t) => {
    const { database } = await open(t);
    await note(database, 'hidden-word');
    const error: unknown = await note(database, 'hidden-word').then(
      () => null,
      (error: unknown) => error,
    );
    t.match(error, { name: 'ConsumeError', code: 'internal_error', retryable: false });
    t.notMatch(
      JSON.stringify([String(error), error, (error as Error).cause, String((error as Error).cause)]),
      'hidden-word',
    );
  });

  void t.test('serializes concurrent additions to one row', async (t) => {
    const opened = await open(t);
    const databases = [opened.database, await opened.anotherDatabase()];
    await note(opened.database, 'sum', 0);
    await Promise.all(
      Array.from({ length: 30 }, async (_, i) =>
        databases[i % 2]?.transaction(async (tx) => {
          const row = tx.selectFrom('counters').select('last').where('name', '=', 'sum');
          const { last } = await opened.database.dialect.lock(row).executeTakeFirstOrThrow();
          await tx
            .updateTable('counters')
            .set({ last: last + 1 })
            .where('name', '=', 'sum')
            .execute();
        }),
      ),
    );
    const rows = await opened.database.read((db) =>
      db.selectFrom('counters').select('last').where('name', '=', 'sum').execute(),
    );
    t.same(rows, [{ last: 30 }]);
  });

  void t.test('claims skip locked rows', async (t) => {
    const opened = await open(t);
    const databases = [opened.database, await opened.anotherDatabase()];
    const names = Array.from({ length: 20 }, (_, i) => `claim ${String(i)}`);
    for (const name of names) await note(opened.database, name, 0);
    const claimed = await Promise.all(
      names.map(async (_, i) =>
        databases[i % 2]?.transaction(async (tx) => {
          const free = tx
            .selectFrom('counters')
            .select('name')
            .where('last', '=', 0)
            .where('name', 'like', 'claim %');
          const row = await opened.database.dialect.lockSkipping(free.limit(1)).executeTakeFirst();
          if (row === undefined) return undefined;
          await tx.updateTable('counters').set({ last: 1 }).where('name', '=', row.name).execute();
          return row.name;
        }),
      ),
    );
    const got = claimed.filter((name) => name !== undefined);
    t.equal(new Set(got).size, got.length);
    t.ok(got.length > 0);
  });

  void t.test('a closed store refuses calls after completing earlier ones', async (t) => {
    const { database } = await open(t);
    const asked = Array.from({ length: 20 }, (_, i) => note(database, String(i)));
    const closed = database.close();
    await t.resolves(Promise.all(asked));
    await closed;
    await database.close();
    const error = { name: 'ConsumeError', code: 'storage_unavailable', retryable: true };
    await t.rejects(note(database, 'late'), error);
    await t.rejects(
      database.read((db) => db.selectFrom('counters').selectAll().execute()),
      error,
    );
  });
}

await onEveryDatabase(t, checkDatabase);
