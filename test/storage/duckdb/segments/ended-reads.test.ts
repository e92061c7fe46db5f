import { join } from 'node:path';
import t from 'tap';
import { READ_LIMITS, readsAtATime } from '../../../../src/storage/duckdb/segments/read-limits.js';
import { STORE_FILES } from '../../../../src/storage/duckdb/files/migrations.js';
import { Database } from '../../../../src/storage/duckdb/files/database.js';
import { openPool } from '../../../../src/storage/duckdb/segments/connection-pool.js';
import { Reads } from '../../../../src/storage/duckdb/segments/read.js';
import { Segments } from '../../../../src/storage/duckdb/segments/segments.js';
import { HealthIssues } from '../../../../src/storage/duckdb/files/health-issues.js';
import type { LogRecord } from '../../../../src/signal/log-record.js';
import { HandClock } from '../../../support/hand-clock.js';
import { aLog } from '../../../support/log-records.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { NOON } from '../../../support/run-records.js';
import { testFolder } from '../../../support/test-folder.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
const PAGE = { offset: 0, limit: 1000 };
const SEARCHES = 60;

/** A full search takes some milliseconds. */
function manyLogs(): LogRecord[] {
  return Array.from({ length: 5000 }, (_, i) => aLog({ body: `the ${i} quick brown fox jumps over it` }));
}

void t.test('aborted searches leave the queue, and other users are answered meanwhile', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 } });
  const [one, other] = [await opened.addUser(), await opened.addUser()];
  await opened.store.writer.logs({ tenant: one, items: manyLogs() }, RECEIVED);
  let answered = 0;
  const aborts = Array.from({ length: SEARCHES }, () => new AbortController());
  const searches = aborts.map(async ({ signal }) => {
    await opened.store.logs.search(one, { query: '"quick brown fox"' }, PAGE, signal);
    answered++;
  });
  const ended = Promise.allSettled(searches);
  await opened.store.runs.list(other, {}, PAGE);
  t.ok(answered < SEARCHES / 2, `${answered} were answered before`);
  for (const abort of aborts) abort.abort();
  const rejected = (await ended).flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason as { code: string }] : [],
  );
  t.equal(rejected.length, SEARCHES - answered);
  t.ok(rejected.length > SEARCHES / 2);
  t.ok(rejected.every(({ code }) => code === 'overloaded'));
  t.match(await opened.store.logs.search(one, { query: 'fox' }, PAGE), { count: 5000 });
  opened.settings.clock.advance(5000);
  await opened.store.runs.list(other, {}, PAGE);
  const { text } = await opened.settings.meter.print();
  t.match(text, new RegExp(`jackdaw_store_ended_reads_total{reason="abandoned"} ${rejected.length}\n`));
  t.match(text, /jackdaw_store_waiting_reads 0\n/);
});

void t.test('cancels a search after read_timeout, and the store continues', async (t) => {
  const readLimits = { ...READ_LIMITS, timeoutMs: 1 };
  const opened = await TestStore.open(t, { readLimits, segmentSize: { rows: 1e6, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const items = manyLogs();
  for (let i = 0; i < 3; i++) await opened.store.writer.logs({ tenant, items: manyLogs() }, RECEIVED);
  await t.rejects(opened.store.logs.search(tenant, { query: '"quick brown fox"' }, PAGE), {
    code: 'overloaded',
    retryable: true,
    detail: /extensions\.duckdb\.read_timeout/,
  });
  await opened.store.writer.logs({ tenant, items }, RECEIVED);
  await opened.reopen({ readLimits: READ_LIMITS });
  t.match(await opened.store.logs.search(tenant, { query: 'fox' }, PAGE), { count: 20_000 });
});

void t.test(
  "cancels a user's read that blocks compaction once segments accumulate, but not maintenance",
  async (t) => {
    const path = join(testFolder(t), 'jackdaw.duckdb');
    const database = await Database.open({ path, memoryLimit: '128MB', threads: 1 });
    const clock = new HandClock();
    const connection = await database.connect();
    await connection.run(STORE_FILES('meta'));
    const segments = await Segments.open(connection, path, {
      logger: new RecordingLogger(),
      clock,
      healthIssues: new HealthIssues(() => undefined),
    });
    const options = {
      size: 2,
      maxWaiting: 9,
      maxWaitingOfShare: 9,
      timeoutMs: 30_000,
      timeoutKey: 'read_timeout',
      clock,
    };
    const pools = [await openPool(database, options), await openPool(database, options)] as const;
    t.teardown(async () => {
      for (const pool of pools) await pool.close();
      await segments.close();
      database.close();
    });
    const reads = new Reads(...pools, segments);
    let endUpkeep = (): void => undefined;
    const upkeepEnds = new Promise<void>((resolve) => (endUpkeep = resolve));
    let begun = 0;
    const search = reads.forUser(
      1,
      true,
    )(async (connection) => {
      begun++;
      await connection.run('SELECT sum(hash(range)) FROM range(1000000000000)');
    });
    const upkeep = reads.forWork('upkeep')(async () => {
      begun++;
      await upkeepEnds;
    });
    const outcome = Promise.allSettled([search]);
    while (begun < 2) await segments.ready();
    segments.current.lastSeq = 1;
    const seal = async (): Promise<void> => {
      while (!segments.rotate()) await segments.close();
    };
    await seal();
    let isMoved = false;
    const move = segments.readsBefore(1).then(() => (isMoved = true));
    clock.advance(6000);
    t.match(pools[0].stats, { running: 1, ended: { held_up_move: 0 } }, 'one segment waits');
    await seal();
    await seal();
    clock.advance(6000);
    t.match(await outcome, [{ reason: { code: 'overloaded', detail: /blocked compaction/ } }]);
    t.match(pools[0].stats, { running: 0, ended: { held_up_move: 1 } });
    t.match(pools[1].stats, { running: 1 });
    t.notOk(isMoved, 'the upkeep’s read goes on');
    endUpkeep();
    await Promise.all([upkeep, move]);
  },
);

void t.test('commits always find a pool thread', async (t) => {
  t.equal(readsAtATime({ atATime: null }, 2, 12), 3);
  t.equal(readsAtATime({ atATime: null }, 8, 17), 9);
  t.equal(readsAtATime({ atATime: null }, 64, 128), 16);
  t.equal(readsAtATime({ atATime: null }, 2, 4), 2, 'the minimum');
  t.equal(readsAtATime({ atATime: 6 }, 2, 8), 4);
  t.equal(readsAtATime({ atATime: 6 }, 2, 12), 6);
});
