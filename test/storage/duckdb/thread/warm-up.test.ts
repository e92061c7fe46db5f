import { readFile, writeFile } from 'node:fs/promises';
import t, { type Test } from 'tap';
import { answerRead, type ReadCall } from '../../../../src/storage/duckdb/thread/store-reads.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { EventEngine } from '../event-engine.js';
import { queriesDuring } from '../watched-statements.js';

const HOUR = 3_600_000_000;
const SECOND = 1_000_000;

/** A store with one run, in which everything that is asked counts as slow. */
async function anEngine(t: Test): Promise<{ engine: EventEngine; tenant: number }> {
  const engine = await EventEngine.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 }, slowReadMs: 0 });
  const user = await engine.addUser(null);
  const trace = aHeader({ started_at: NOON });
  const spans = [aSpanRecord(trace.trace_id, { model: 'm' })];
  await engine.write(user, [{ trace, spans }], NOON);
  await engine.settle();
  return { engine, tenant: user.tenant };
}

async function ask({ parts }: EventEngine, call: ReadCall): Promise<unknown> {
  return await answerRead(parts, call);
}

/** Statements that a read takes. */
async function statementsOf(engine: EventEngine, call: ReadCall): Promise<number> {
  const queries = await queriesDuring(engine.parts.database, () => answerRead(engine.parts, call));
  return queries.length;
}

function series(tenant: number, from: number): ReadCall {
  const request = { start_time: from, end_time: from + 24 * HOUR, interval: HOUR };
  return { part: 'series', method: 'read', tenant, args: [request] };
}

function following(tenant: number, filter: object = {}): ReadCall {
  const from = { after: null, limit: 20 };
  return { part: 'runs', method: 'follow', tenant, args: [{ sort: 'duration_ms', ...filter }, from] };
}

function glance(tenant: number, ids: readonly string[]): ReadCall {
  return { part: 'runs', method: 'glance', tenant, args: [ids] };
}

void t.test('what was asked before a start is in memory soon after it', async (t) => {
  const { engine, tenant } = await anEngine(t);
  const day = Math.floor(NOON / HOUR) * HOUR - 12 * HOUR;
  const { items } = (await ask(engine, following(tenant))) as { items: { trace_id: string }[] };
  const first = await ask(engine, series(tenant, day));
  const ids = items.map(({ trace_id: id }) => id);
  t.equal(ids.length, 1);

  await engine.reopen();
  await engine.parts.warmUp.ended();
  t.equal(await statementsOf(engine, glance(tenant, ids)), 0, 'what the list shows of spans');
  t.equal(await statementsOf(engine, series(tenant, day)), 0, 'buckets of whole hours');
  t.same(await ask(engine, series(tenant, day)), first, 'the same answer');

  const later = await EventEngine.open(t, { path: engine.path.replace('jackdaw.duckdb', 'other.duckdb') });
  t.same(later.parts.asked.list(NOON), [], 'a store of its own has questions of its own');
});

void t.test('what changed since is in the answers', async (t) => {
  const { engine, tenant } = await anEngine(t);
  const day = Math.floor(NOON / HOUR) * HOUR - 12 * HOUR;
  await ask(engine, series(tenant, day));
  await engine.reopen();
  await engine.parts.warmUp.ended();
  await engine.write({ tenant, wanted: [] }, [{ trace: aHeader({ started_at: NOON }), spans: [] }], NOON);
  const { total } = (await ask(engine, series(tenant, day))) as { total: { runs: number } };
  t.equal(total.runs, 2);
});

void t.test('only what memory helps with is noted, and nothing that is private', async (t) => {
  const { engine, tenant } = await anEngine(t);
  const now = Date.now() * 1000;
  const noted = (): unknown[] => engine.parts.asked.list(now).map(({ part, method }) => `${part}.${method}`);
  for (const filter of [{ query: 'secret' }, { user_id: 'ann' }, { session_id: 's' }, { tag: 'x' }])
    await ask(engine, following(tenant, filter));
  await ask(engine, { ...following(tenant), args: [{}, { after: null, limit: 5000 }] });
  await ask(engine, glance(tenant, ['00000000-0000-0000-0000-000000000001']));
  t.same(noted(), []);
  await ask(engine, following(tenant, { span: { model: 'm' } }));
  await ask(engine, following(tenant, { span: { model: 'm' } }));
  t.same(noted(), ['runs.follow'], 'a question counts once');
});

void t.test('times up to now move on, and those of the past stay', async (t) => {
  const { engine, tenant } = await anEngine(t);
  const now = Date.now() * 1000;
  await ask(engine, series(tenant, now - 24 * HOUR));
  await ask(engine, series(tenant, now - 24 * HOUR + SECOND));
  await ask(engine, series(tenant, NOON));
  const starts = engine.parts.asked.list(now + 48 * HOUR).map(({ args }) => {
    const { start_time } = args[0] as { start_time: number };
    return start_time;
  });
  t.equal(starts.length, 2);
  t.equal(starts[0], NOON);
  t.ok(Math.abs((starts[1] ?? 0) - (now + 24 * HOUR)) <= 61 * SECOND);
});

void t.test('each user has a part of what is noted, and what nobody asks any more goes', async (t) => {
  const { engine, tenant } = await anEngine(t);
  for (let hours = 1; hours <= 40; hours++)
    await ask(engine, {
      ...series(tenant, NOON),
      args: [{ start_time: NOON, end_time: NOON + hours * HOUR, interval: HOUR }],
    });
  await ask(engine, series(tenant + 1, NOON));
  const now = Date.now() * 1000;
  const ofUsers = engine.parts.asked.list(now).map((call) => call.tenant);
  t.equal(ofUsers.length, 33);
  t.same(ofUsers.slice(0, 2), [tenant + 1, tenant], 'in turns');
  t.same(engine.parts.asked.list(now + 31 * 24 * HOUR), []);
});

void t.test('without the file, or with another one, a store opens as ever', async (t) => {
  const { engine, tenant } = await anEngine(t);
  await ask(engine, following(tenant));
  await engine.close();
  const path = engine.path.replace(/duckdb$/, 'asked');
  const whole = await readFile(path, 'utf8');
  const unusable = {
    read: { part: 'runs', method: 'follow', tenant: 1, args: [{ sort: 'nothing' }] },
    at: 1,
  };
  const texts = [
    '',
    '{"version":1,"asked":[',
    'null',
    JSON.stringify({ version: 2, asked: (JSON.parse(whole) as { asked: unknown }).asked }),
    JSON.stringify({ version: 1, asked: [null, 1, {}, { read: {}, at: 1 }, { ...unusable, at: 'x' }] }),
    JSON.stringify({ version: 1, asked: [{ read: { ...unusable.read, part: 'writer' }, at: 1 }] }),
  ];
  for (const text of texts) {
    await writeFile(path, text);
    await engine.start();
    await engine.parts.warmUp.ended();
    t.same(engine.parts.asked.list(NOON), [], text.slice(0, 60));
    await engine.close();
  }
  // One that cannot be answered any more stops nothing.
  const at = Date.now() * 1000;
  const { asked } = JSON.parse(whole) as { asked: object[] };
  await writeFile(path, JSON.stringify({ version: 1, asked: [...asked, { ...unusable, at }] }));
  await engine.start();
  await engine.parts.warmUp.ended();
  t.equal(engine.parts.asked.list(at).length, 2);
  t.equal((await statementsOf(engine, following(tenant))) > 0, true, 'reads go on');
});
