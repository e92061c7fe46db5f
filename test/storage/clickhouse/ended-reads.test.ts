import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { Connection } from '../../../src/storage/clickhouse/client/connection.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { startTestDaemon } from '../../support/daemon.js';
import { aLog } from '../../support/log-records.js';
import { listOf } from '../../support/read-pieces.js';
import { aHeader, aSpanRecord, NOON } from '../../support/run-records.js';
import { inClickHouse } from '../../support/transfer-place.js';
import { until } from '../../support/until.js';
import { clickHouseOptions } from './clickhouse-place.js';
import { TestClickHouse } from './test-clickhouse.js';

const PAGE = { offset: 0, limit: 10 };
const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

/** Waits until this many endless statements run. */
async function underWay(server: ClickHouseServer, many: number): Promise<void> {
  const running = `SELECT count() FROM system.processes WHERE query LIKE '%system.numbers%' AND query NOT LIKE '%system.processes%'`;
  await until(`${String(many)} statements are under way`, async () => {
    const [row] = await server.query(running);
    return row?.[0] === many;
  });
}

/** The read metrics of the next scrape. */
async function shownReads({ settings }: TestClickHouse): Promise<readonly string[]> {
  // A read releases its slot after its caller is notified.
  await turn();
  settings.clock.advance(5000);
  const { text } = await settings.meter.print();
  return [...text.matchAll(/^jackdaw_store_((?:ended|running)_reads.* \d+)$/gm)].map(([, one = '']) => one);
}

function stats(abandoned: number, timedOut: number): readonly string[] {
  return [
    `ended_reads_total{reason="abandoned"} ${String(abandoned)}`,
    `ended_reads_total{reason="timed_out"} ${String(timedOut)}`,
    'ended_reads_total{reason="held_up_move"} 0',
    'running_reads 0',
  ];
}

void t.test('abandoned statements end on the server', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const options = { ...clickHouseOptions(server), database: 'default' };
  const connection = await Connection.open(options, { database: 'default', now: () => performance.now() });
  t.teardown(() => connection.close());

  await t.test('end before the response starts', async (t) => {
    const abort = new AbortController();
    const asking = connection.rows('SELECT count() FROM system.numbers', abort.signal);
    const failed = t.rejects(asking, { name: 'ConsumeError', message: /client disconnected/ });
    await underWay(server, 1);
    abort.abort();
    await failed;
    await underWay(server, 0);
  });

  await t.test('end during the response, on early exit and on abort', async (t) => {
    for await (const rows of connection.pages('SELECT number FROM system.numbers')) {
      t.equal(rows[0]?.number, 0);
      break;
    }
    await underWay(server, 0);
    const abort = new AbortController();
    const taking = (async () => {
      for await (const rows of connection.pages('SELECT number FROM system.numbers', abort.signal))
        if (rows.length > 0) abort.abort();
    })();
    await t.rejects(taking, { name: 'ConsumeError' });
    await underWay(server, 0);
  });
});

void t.test('a read of a user', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const opened = await TestClickHouse.open(t, server);
  const { store, settings, options } = opened;
  const user = await opened.addUser();
  const items = Array.from({ length: 30 }, (_, i) => aLog({ timestamp: NOON + i }));
  await store.writer.logs({ tenant: user, items }, { receivedAt: NOON });
  const late = {
    code: 'overloaded',
    retryable: true,
    detail: /did not finish within 20 s.*\(extensions\.clickhouse\.request_timeout\)/,
  };

  await t.test('is canceled on the server and reported after the timeout', async (t) => {
    await server.fault({ kind: 'endless', times: 1, matching: 'FROM logs' });
    const reading = t.rejects(store.logs.search(user, {}, PAGE, new AbortController().signal), late);
    await underWay(server, 1);
    settings.clock.advance(options.timeoutMs);
    await reading;
    await underWay(server, 0);
    t.same(await shownReads(opened), stats(0, 1));
  });

  await t.test('is canceled on the server when its client disconnects', async (t) => {
    await server.fault({ kind: 'endless', times: 1, matching: 'FROM logs' });
    const client = new AbortController();
    const reading = t.rejects(store.logs.search(user, {}, PAGE, client.signal), {
      code: 'overloaded',
      detail: /client disconnected/,
    });
    await underWay(server, 1);
    client.abort();
    await reading;
    await underWay(server, 0);
    settings.clock.advance(options.timeoutMs);
    t.same(await shownReads(opened), stats(1, 1));
  });

  await t.test('times each page of a list without the time of the consumer', async (t) => {
    const { signal } = new AbortController();
    const { items: taken } = await store.logs.search(user, {}, PAGE, signal);
    const parts = taken[Symbol.asyncIterator]();
    t.equal((await parts.next()).done, false);
    settings.clock.advance(2 * options.timeoutMs);
    t.equal((await parts.next()).done, true);
    t.same(await shownReads(opened), stats(1, 1));

    const { items: slow } = await store.logs.search(user, {}, PAGE, signal);
    await server.fault({ kind: 'endless', times: 1, matching: 'FROM logs' });
    const taking = t.rejects(listOf(slow), late);
    await underWay(server, 1);
    settings.clock.advance(options.timeoutMs);
    await taking;
    await underWay(server, 0);
    t.same(await shownReads(opened), stats(1, 2));
    t.match(await store.logs.search(user, {}, PAGE), { count: items.length });
  });
});

void t.test('cancels the statement of a disconnected HTTP client', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const { url, key, metricsUrl } = await startTestDaemon(t, {
    overlay: inClickHouse(server, server.newDatabase(), 'sqlite'),
  });
  await server.fault({ kind: 'endless', times: 1, matching: 'FROM logs' });
  const client = new AbortController();
  const answer = fetch(`${url}/api/v1/dashboard/logs/search`, {
    headers: { authorization: `Bearer ${key}` },
    signal: client.signal,
  });
  const broken = t.rejects(answer, { name: 'AbortError' });
  await underWay(server, 1);
  client.abort();
  await broken;
  await underWay(server, 0);
  await until('it is counted', async () => {
    const text = await (await fetch(`${metricsUrl}/metrics`)).text();
    return /^jackdaw_store_ended_reads_total\{.*reason="abandoned".*\} 1$/m.test(text);
  });
});

void t.test('a trace removed during a read', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const opened = await TestClickHouse.open(t, server);
  const { database } = opened.options;
  const tenant = await opened.addUser();
  const gone = { code: 'storage_unavailable', message: /was removed while its spans were being read/ };
  const clear = ['runs', 'spans'].map((table) => `TRUNCATE TABLE ${database}.${table}`);
  const replace = [
    `INSERT INTO ${database}.spans SELECT * REPLACE(version + 1 AS version) FROM ${database}.spans`,
    `OPTIMIZE TABLE ${database}.spans FINAL`,
  ];
  /** Reads the first page of a trace, changes its rows and continues. @returns the number of spans */
  const readOver = async (spans: number, text: string, statements: readonly string[]): Promise<number> => {
    const trace = aHeader();
    const items = Array.from({ length: spans }, (_, i) =>
      aSpanRecord(trace.trace_id, { started_at: NOON + i, input_data: { text } }),
    );
    await opened.store.writer.traces({ tenant, items: [{ trace, spans: items }] }, { receivedAt: NOON });
    const whole = await opened.store.runs.read(tenant, trace.trace_id, { details: true });
    let read = 0;
    for await (const part of whole?.spans ?? []) {
      if (read === 0) await server.query(...statements);
      read += part.length;
    }
    return read;
  };
  const large = 'x'.repeat(9_000_000);

  await t.test('fails between pages', async (t) => {
    await t.rejects(readOver(501, '', clear), gone);
  });
  await t.test('fails within a page', async (t) => {
    await t.rejects(readOver(2, large, clear), gone);
  });
  await t.test('continues if its rows were only replaced', async (t) => {
    t.equal(await readOver(2, large, replace), 2);
  });
});
