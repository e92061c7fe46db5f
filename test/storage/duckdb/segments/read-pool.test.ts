import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Connection } from '../../../../src/storage/duckdb/files/connection.js';
import { Database } from '../../../../src/storage/duckdb/files/database.js';
import { openPool, type ConnectionPool } from '../../../../src/storage/duckdb/segments/connection-pool.js';
import type { Reader, ReadPoolOptions } from '../../../../src/storage/shared/read-pool.js';
import { HandClock } from '../../../support/hand-clock.js';
import { testFolder } from '../../../support/test-folder.js';

/** Never finishes. */
const ENDLESS = 'SELECT sum(hash(range)) FROM range(1000000000000)';
const ONE: Reader = { share: 1, isLong: false, mayBeEnded: true };
const OTHER: Reader = { ...ONE, share: 2 };

async function poolOf(
  t: Test,
  options: Partial<ReadPoolOptions & { readonly size: number }>,
): Promise<{ readonly pool: ConnectionPool; readonly clock: HandClock }> {
  const path = join(testFolder(t), 'jackdaw.duckdb');
  const database = await Database.open({ path, memoryLimit: '128MB', threads: 1 });
  const clock = new HandClock();
  const pool = await openPool(database, {
    size: 2,
    maxWaiting: 100,
    maxWaitingOfShare: 100,
    timeoutMs: 30_000,
    timeoutKey: 'extensions.duckdb.read_timeout',
    clock,
    ...options,
  });
  t.teardown(async () => {
    pool.abortPending();
    await pool.close();
    database.close();
  });
  return { pool, clock };
}

async function endless(connection: Connection): Promise<void> {
  await connection.run(ENDLESS);
}

async function answer(connection: Connection): Promise<unknown> {
  return await connection.rows('SELECT 42 AS answer');
}

void t.test('refuses and counts reads beyond the queue and serves queued reads', async (t) => {
  const { pool } = await poolOf(t, { size: 1, maxWaiting: 1 });
  let end = (): void => undefined;
  const held = new Promise<void>((resolve) => (end = resolve));
  const first = pool.use(ONE, () => held);
  const second = pool.use(ONE, answer);
  t.equal(pool.stats.waiting, 1);
  for (const time of [1, 2]) {
    await t.rejects(
      pool.use(ONE, async () => 'never'),
      { code: 'overloaded', retryable: true, retryAfterMs: 1000 },
    );
    t.equal(pool.stats.refused, time);
  }
  end();
  await first;
  t.match(await second, [{ answer: 42 }]);
  t.equal(await pool.use(ONE, async () => 'again'), 'again');
  t.match(pool.stats, { refused: 2, waiting: 0, running: 0 });
});

void t.test('runs a parallel statement only on a connection the user may use', async (t) => {
  const { pool } = await poolOf(t, { size: 3 });
  const both = await pool.use(ONE, async (connection, { runParallel }) => {
    const other = runParallel(answer);
    t.match(pool.stats, { running: 2 });
    t.equal(runParallel(answer), null, 'the last connection is reserved for others');
    return [await answer(connection), await other];
  });
  t.match(both, [[{ answer: 42 }], [{ answer: 42 }]]);
  t.match(pool.stats, { running: 0, waiting: 0 });
});

void t.test('cancels the parallel statements of a canceled read and frees their connections', async (t) => {
  const { pool, clock } = await poolOf(t, { size: 3, timeoutMs: 1000 });
  let parallel: Promise<void> | null = null;
  const late = pool.use(ONE, async (connection, { runParallel }) => {
    parallel = runParallel(endless);
    await Promise.allSettled([endless(connection), parallel]);
    t.equal(runParallel(answer), null, 'a canceled read starts nothing');
    await connection.run(ENDLESS);
  });
  clock.advance(1000);
  await t.rejects(late, { code: 'overloaded' });
  await t.rejects(Promise.resolve(parallel), { code: 'overloaded' });
  t.match(pool.stats, { running: 0, ended: { timed_out: 1 } }, 'it counts once');
  const next = await Promise.all([pool.use(ONE, answer), pool.use(OTHER, answer)]);
  t.match(next, [[{ answer: 42 }], [{ answer: 42 }]]);
});

void t.test('the reads of one user never hold all connections', async (t) => {
  const { pool } = await poolOf(t, { size: 3 });
  const aborts = Array.from({ length: 50 }, () => new AbortController());
  const reads = aborts.map(({ signal }) => pool.use({ ...ONE, abort: signal }, endless));
  const ended = Promise.allSettled(reads);
  t.match(pool.stats, { running: 2, waiting: 48 });
  t.match(await pool.use(OTHER, answer), [{ answer: 42 }], 'another user is answered meanwhile');
  t.match(pool.stats, { running: 2, waiting: 48 });

  for (const abort of aborts.slice(10)) abort.abort();
  t.match(
    pool.stats,
    { running: 2, waiting: 8, ended: { abandoned: 40 } },
    'disconnected reads leave the queue',
  );
  for (const abort of aborts) abort.abort();
  const outcomes = await ended;
  t.equal(outcomes.filter(({ status }) => status === 'rejected').length, 50);
  t.match(pool.stats, { running: 0, waiting: 0, ended: { abandoned: 50 } });
  t.match(await pool.use(ONE, answer), [{ answer: 42 }], 'the connections are usable again');
});

void t.test('cancels a read whose client disconnected without affecting others', async (t) => {
  const { pool } = await poolOf(t, { size: 3 });
  const [gone, waiting] = [new AbortController(), new AbortController()];
  const first = pool.use({ ...ONE, abort: gone.signal }, endless);
  const second = pool.use({ ...OTHER, abort: waiting.signal }, endless);
  // Also before its statement starts, when DuckDB ignores the interrupt.
  gone.abort();
  await t.rejects(first, { code: 'overloaded' });
  t.match(pool.stats, { running: 1, ended: { abandoned: 1 } });
  t.match(await pool.use(ONE, answer), [{ answer: 42 }]);
  t.match(pool.stats, { running: 1 }, 'the other user’s read continues');
  waiting.abort();
  await t.rejects(second, { code: 'overloaded' });
  const late = AbortSignal.abort();
  await t.rejects(pool.use({ ...ONE, abort: late }, answer), { code: 'overloaded' });
});

void t.test('a canceled read starts no further statement and leaves no transaction', async (t) => {
  const { pool } = await poolOf(t, { size: 2 });
  const abort = new AbortController();
  const statements: string[] = [];
  const read = pool.use({ ...ONE, abort: abort.signal }, async (connection) => {
    for await (const chunk of connection.chunks('SELECT range FROM range(1000000000000)')) {
      statements.push(`${chunk.rows} rows`);
      abort.abort();
    }
  });
  await t.rejects(read, { code: 'overloaded' });
  t.same(statements, ['2048 rows']);
  t.match(await pool.use(ONE, answer), [{ answer: 42 }]);
  await pool.use(ONE, async (connection) => {
    await connection.run('BEGIN');
    await connection.run('ROLLBACK');
  });
});

void t.test('times out running and waiting reads', async (t) => {
  const { pool, clock } = await poolOf(t, { size: 2, timeoutMs: 30_000 });
  const running = pool.use(ONE, endless);
  const waiting = pool.use(ONE, answer);
  const upkeep = new AbortController();
  const patient = pool.use(
    { share: 'upkeep', isLong: false, mayBeEnded: false, abort: upkeep.signal },
    endless,
  );
  const outcomes = Promise.allSettled([running, waiting]);
  clock.advance(29_999);
  t.match(pool.stats, { running: 2, waiting: 1 });
  clock.advance(1);
  t.match(await outcomes, [
    { reason: { code: 'overloaded', detail: /within 30 s.*extensions\.duckdb\.read_timeout/ } },
    { reason: { code: 'overloaded', detail: /busy for 30 s/ } },
  ]);
  t.match(pool.stats, { running: 1, waiting: 0, ended: { timed_out: 2 } });
  upkeep.abort();
  await t.rejects(patient);
});

void t.test('a full queue evicts a read of the user with the most waiting', async (t) => {
  const { pool } = await poolOf(t, { size: 2, maxWaiting: 6, maxWaitingOfShare: 5 });
  let end = (): void => undefined;
  const held = new Promise<void>((resolve) => (end = resolve));
  const [first, other] = [pool.use(ONE, () => held), pool.use(OTHER, () => held)];
  const flood = Array.from({ length: 7 }, () => pool.use(ONE, answer));
  const outcomes = Promise.allSettled(flood);
  t.match(pool.stats, { waiting: 5, refused: 2 }, 'five of one user');
  const others = [3, 4, 5].map((share) => pool.use({ ...ONE, share }, answer));
  t.match(pool.stats, { waiting: 6, refused: 4 }, 'six in total');
  end();
  await Promise.all([first, other, ...others]);
  t.same(
    (await outcomes).map(({ status }) => status),
    ['fulfilled', 'fulfilled', 'fulfilled', 'rejected', 'rejected', 'rejected', 'rejected'],
  );
});
