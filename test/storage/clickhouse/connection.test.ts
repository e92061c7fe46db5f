import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import t, { type Test } from 'tap';
import type { ClickHouseOptions } from '../../../src/storage/clickhouse/clickhouse-options.js';
import { Connection } from '../../../src/storage/clickhouse/client/connection.js';
import { quoted, quotedUuid } from '../../../src/storage/clickhouse/client/literals.js';
import { createTable, type ClickHouseTable } from '../../../src/storage/clickhouse/tables/table.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { ODD_TEXTS } from '../../support/odd-texts.js';
import { aLog } from '../../support/log-records.js';
import { listOf } from '../../support/read-pieces.js';
import { NOON } from '../../support/run-records.js';
import { clickHouseOptions } from './clickhouse-place.js';
import { TestClickHouse } from './test-clickhouse.js';

const TABLE: ClickHouseTable = {
  name: 'texts',
  columns: [
    { name: 'number', type: 'UInt32' },
    { name: 'text', type: 'Nullable(String)' },
    { name: 'value', type: 'Nullable(Float64)' },
    { name: 'id', type: 'UUID' },
  ],
  partition: 'tuple()',
  order: 'number',
};

const ID = '7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01';

async function open(
  t: Test,
  options: ClickHouseOptions,
  database: string | null = options.database,
): Promise<Connection> {
  const connection = await Connection.open(options, { database, now: () => performance.now() });
  t.teardown(() => connection.close());
  return connection;
}

async function withTable(t: Test, server: ClickHouseServer): Promise<[Connection, ClickHouseOptions]> {
  const options = clickHouseOptions(server);
  await server.query(`CREATE DATABASE ${options.database}`);
  const connection = await open(t, options);
  await connection.command(createTable(options, TABLE));
  return [connection, options];
}

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test('a statement', { skip }, async (t) => {
  if (typeof server === 'string') return;

  await t.test('returns texts and numbers unchanged', async (t) => {
    const [connection] = await withTable(t, server);
    const texts = [...ODD_TEXTS, null, "it's", '\\', "\\'", '\0', 'half \ud800', '{"a":1}', '\u2028'];
    const values = [0.1, -0, 1e308, 5e-324, null, 'nan', 'inf', '-inf'];
    const rows = texts.map((text, i) => [i, text?.toWellFormed() ?? null, values[i % values.length], ID]);
    await connection.insert(
      'texts',
      TABLE.columns,
      rows.map(([number, text, value, id]) => ({ fields: { number, text, value, id } })),
      'a token',
    );
    const stored = await connection.rows('SELECT * FROM texts ORDER BY number');
    t.strictSame(
      stored.map(({ number, text, value, id }) => [number, text, value, id]),
      rows,
    );
    for (const [number, text] of rows) {
      if (text === null) continue;
      const found = await connection.rows(`SELECT number FROM texts WHERE text = ${quoted(String(text))}`);
      t.ok(
        found.some((row) => row.number === number),
        `text ${String(number)} as a literal`,
      );
    }
    t.strictSame(
      await connection.rows(`SELECT count() AS n FROM texts WHERE id = ${quotedUuid("x' OR 1")}`),
      [{ n: 0 }],
    );
  });

  await t.test('streams long results in pages and cancels on early exit', async (t) => {
    const [connection] = await withTable(t, server);
    let [sum, pages] = [0, 0];
    for await (const rows of connection.pages('SELECT number FROM numbers(200000)')) {
      pages++;
      sum += rows.reduce((sum, { number }) => sum + Number(number), 0);
    }
    t.equal(sum, (200_000 * 199_999) / 2);
    t.ok(pages > 1);
    for await (const rows of connection.pages('SELECT number FROM numbers(200000)')) {
      t.equal(rows[0]?.number, 0);
      break;
    }
  });

  await t.test('retries after a lost response without duplicating inserts', async (t) => {
    const [connection] = await withTable(t, server);
    for (const kind of ['cut', 'lost', 252] as const) {
      await server.fault({ kind, times: 2, matching: 'INSERT' });
      await connection.insert(
        'texts',
        TABLE.columns,
        [{ fields: { number: 1, text: String(kind), value: 1, id: ID } }],
        `token ${kind}`,
      );
    }
    t.strictSame(await connection.rows('SELECT text FROM texts ORDER BY text'), [
      { text: '252' },
      { text: 'cut' },
      { text: 'lost' },
    ]);
    await server.fault({ kind: 'half', times: 1 });
    t.equal((await connection.rows('SELECT * FROM texts')).length, 3);

    // Without a token, retries are not deduplicated: rows that replace each other may be duplicated but never lost.
    await server.fault({ kind: 'lost', times: 1, matching: 'INSERT' });
    await connection.insert(
      'texts',
      TABLE.columns,
      [{ fields: { number: 1, text: 'anew', value: 1, id: ID } }],
      null,
    );
    t.equal((await connection.rows("SELECT text FROM texts WHERE text = 'anew'")).length, 2);
  });

  await t.test('reports failures with component error codes and no statement text', async (t) => {
    const [connection, options] = await withTable(t, server);
    const cases = [
      { kind: 202, code: 'overloaded' },
      { kind: 241, code: 'overloaded' },
      { kind: 243, code: 'storage_unavailable' },
      { kind: 'cut', code: 'storage_unavailable' },
    ] as const;
    for (const { kind, code } of cases) {
      await server.fault({ kind, times: 4, matching: 'hidden' });
      const error = await failureOf(connection.rows("SELECT 'hidden'"));
      t.match(error, { name: 'ConsumeError', code, retryable: true }, String(kind));
      t.notMatch(error.message, /hidden/);
    }
    t.match(await failureOf(connection.rows("SELECT 'hidden' FROM nothing")), {
      code: 'storage_unavailable',
      message: /UNKNOWN_TABLE/,
    });
    const mistake = await failureOf(connection.rows("SELECT 'hidden' nonsense nonsense"));
    t.match(mistake, { code: 'internal_error', message: /SYNTAX_ERROR/ });
    t.notMatch(mistake.message, /hidden/);
    const wrong = await open(t, { ...options, password: 'tomato' });
    const refused = await failureOf(wrong.rows('SELECT 1'));
    t.match(refused, { code: 'storage_unavailable', message: /516/ });
    t.notMatch(JSON.stringify(refused) + refused.message, /tomato/);
  });

  await t.test('rejects when its signal aborts', async (t) => {
    const [connection] = await withTable(t, server);
    const abort = new AbortController();
    const reading = failureOf(connection.rows('SELECT sleep(3)', abort.signal));
    await connection.rows('SELECT 1');
    abort.abort();
    t.match(await reading, { name: 'ConsumeError', message: /client disconnected/ });
    const late = failureOf(connection.rows('SELECT 1', abort.signal));
    t.match(await late, { name: 'ConsumeError', message: /client disconnected/ });
  });

  await t.test('falls back to the next server when the first is unreachable', async (t) => {
    const [, options] = await withTable(t, server);
    const closed = createServer().listen(0, '127.0.0.1');
    await once(closed, 'listening');
    const url = `http://127.0.0.1:${String((closed.address() as AddressInfo).port)}`;
    closed.close();
    const connection = await open(t, { ...options, urls: [url, server.url] });
    t.strictSame(await connection.rows('SELECT 1 AS one'), [{ one: 1 }]);
    const nowhere = await open(t, { ...options, urls: [url] });
    t.match(await failureOf(nowhere.rows('SELECT 1')), {
      code: 'storage_unavailable',
      message: /ECONNREFUSED/,
    });
  });
});

async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it did not fail');
}

void t.test('reads of users', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const context = { receivedAt: NOON };
  const items = Array.from({ length: 300 }, (_, i) => aLog({ timestamp: NOON + i }));
  const page = { offset: 0, limit: 200 };

  await t.test('alternate between users, so a heavy user does not block short reads', async (t) => {
    const { store, addUser } = await readsOf(t, server);
    const [heavy, other] = [await addUser(), await addUser()];
    for (const tenant of [heavy, other]) await store.writer.logs({ tenant, items }, context);
    let [done, refused] = [0, 0];
    const all = Array.from({ length: 110 }, async () => {
      try {
        const { count } = await store.logs.search(heavy, { query: 'happened' }, page);
        t.equal(count, items.length);
        done++;
      } catch (error) {
        t.match(error, { code: 'overloaded', retryable: true });
        refused++;
      }
    });
    const found = await store.logs.search(other, {}, page);
    t.equal((await listOf(found.items)).length, page.limit);
    t.ok(done < 50, `${done} heavy reads finished first`);
    await Promise.all(all);
    // Of four slots, one is reserved for reads other than searches and one for other users; 100 reads may wait.
    t.strictSame([done, refused], [102, 8]);
  });

  await t.test('release their slots even if a list is not read to the end', async (t) => {
    const { store, addUser } = await readsOf(t, server, 2);
    const user = await addUser();
    await store.writer.logs({ tenant: user, items }, context);
    const { items: unread } = await store.logs.search(user, {}, page);
    const { items: left } = await store.logs.search(user, {}, page);
    for await (const part of left) {
      t.ok(part.length > 0);
      break;
    }
    const gone = new AbortController();
    const { items: held } = await store.logs.search(user, {}, page);
    const reading = held[Symbol.asyncIterator]();
    await reading.next();
    const waiting = store.logs.findTrace(user, ID, gone.signal);
    gone.abort();
    await t.rejects(waiting, { code: 'overloaded' }, 'a disconnected client no longer waits');
    await reading.return?.();
    t.equal((await listOf(unread)).length, page.limit);
  });

  await t.test('are counted in metrics: waiting, running, refused and canceled', async (t) => {
    const { store, addUser, settings, options } = await readsOf(t, server, 2);
    const user = await addUser();
    await store.writer.logs({ tenant: user, items }, context);
    const shown = async (): Promise<readonly string[]> => {
      settings.clock.advance(5000);
      const { text } = await settings.meter.print();
      return [...text.matchAll(/^jackdaw_store_(\w+_reads.* \d+)$/gm)].map(([, figure = '']) => figure);
    };
    const [running, waiting] = [new AbortController(), new AbortController()];
    const { items: held } = await store.logs.search(user, {}, page, running.signal);
    const reading = held[Symbol.asyncIterator]();
    await reading.next();
    // 100 reads may wait.
    const reads = Array.from({ length: 101 }, (_, i) =>
      store.logs.findTrace(user, ID, i === 0 ? waiting.signal : undefined),
    );
    const ended = Promise.allSettled(reads);
    waiting.abort();
    t.same(await shown(), [
      'refused_reads_total 1',
      'ended_reads_total{reason="abandoned"} 1',
      'ended_reads_total{reason="timed_out"} 0',
      'ended_reads_total{reason="held_up_move"} 0',
      'waiting_reads 99',
      'running_reads 1',
    ]);
    settings.clock.advance(options.timeoutMs);
    running.abort();
    await reading.return?.();
    t.ok((await ended).every(({ status }) => status === 'rejected'));
    t.equal(await store.logs.findTrace(user, ID), null);
    t.same(await shown(), [
      'refused_reads_total 1',
      'ended_reads_total{reason="abandoned"} 2',
      'ended_reads_total{reason="timed_out"} 99',
      'ended_reads_total{reason="held_up_move"} 0',
      'waiting_reads 0',
      'running_reads 0',
    ]);
  });
});

/** A store with this many connections; user reads get half of them. */
async function readsOf(t: Test, server: ClickHouseServer, connections = 8) {
  const opened = await TestClickHouse.open(t, server, { connections });
  const { store, settings, options } = opened;
  return { store, settings, options, addUser: async () => await opened.addUser() };
}
