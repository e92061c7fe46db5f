import { randomUUID } from 'node:crypto';
import t from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import { callKey } from '../../../../src/signal/call-key.js';
import { LOGGED_SCOPE } from '../../../../src/signal/logged-scope.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { hasDifferences } from '../../../../src/storage/contracts/service-map.js';
import { ALL_TIME } from '../../../../src/storage/contracts/service-map.js';
import { EventEngine } from '../event-engine.js';
import { aSpanRecord, NOON } from '../../../support/run-records.js';
import { aFollowingRecord, parts } from '../following-records.js';
import { duplicatesIn } from '../stored-rows.js';
import { spansOf } from '../shown-spans.js';
import { listOf } from '../../../support/read-pieces.js';
import { TestStore } from '../test-store.js';
import { queriesDuring, rowsScannedBy } from '../watched-statements.js';

const LIMIT = 40;
const MINUTE = 60_000_000;

for (const size of [7, LIMIT, 3 * LIMIT]) {
  void t.test(`keeps all spans of a run with too many spans, sent ${size} at a time`, async (t) => {
    const opened = await TestStore.open(t, { maxRunSpans: LIMIT });
    const tenant = await opened.addUser();
    const id = randomUUID();
    const write = async (...items: TraceRecord[]): Promise<number | undefined> => {
      const batch = { tenant, items, service_map: deriveBatch(items), quota: { monthly_items: 10_000 } };
      return (await opened.store.writer.traces(batch, { receivedAt: NOON })).usage?.used;
    };
    const look = async () => {
      const run = await opened.store.runs.read(tenant, id);
      if (run === null) throw new Error('the run is not there');
      return { run, spans: await spansOf(run) };
    };
    for (let from = 0; from < 3 * LIMIT; from += size) {
      await write(parts(id, from, Math.min(from + size, 3 * LIMIT)));
    }
    const followed = { total_tokens: LIMIT, total_cost_usd: LIMIT * 1_000_000 };
    const { run, spans } = await look();
    t.match(run, { status: 'running', span_count: 3 * LIMIT, ...followed });
    t.same(run.metadata, { 'session.id': 's', 'jackdaw.followed_spans': LIMIT });
    t.equal(new Set(spans.map((span) => span.span_id)).size, 3 * LIMIT);
    t.match(await opened.store.runs.list(tenant, {}, { offset: 0, limit: 5 }), {
      count: 1,
      items: [followed],
    });
    const { items: models } = await opened.store.models.list(tenant, {}, { offset: 0, limit: 5 });
    t.match(
      models,
      [{ model: null, calls: 0, total_tokens: LIMIT, total_cost: LIMIT / 1000 }],
      'the same sums',
    );

    // Repeats change nothing, wherever the original is stored.
    for (const restarts of [false, true, true]) {
      if (restarts) await opened.reopen();
      t.equal(await write(parts(id, 0, 3 * LIMIT, { name: 'again' })), 3 * LIMIT);
      t.equal(await write(parts(id, LIMIT - 5, LIMIT + 5, { status: 'failed' })), 3 * LIMIT);
      const now = await look();
      t.same(now.spans, spans);
      t.equal(now.run.span_count, 3 * LIMIT);
      await opened.store.settled();
    }

    // Running spans are completed, both before and after the limit.
    const open = { status: 'running', ended_at: null } as const;
    const other = randomUUID();
    await write(parts(other, 0, 2 * LIMIT, open));
    await opened.reopen();
    await write(parts(other, LIMIT - 3, LIMIT + 3, { output_tokens: 9 }));
    const completed = await opened.store.runs.read(tenant, other);
    const statuses = completed === null ? [] : (await spansOf(completed)).map(({ status }) => status);
    t.equal(statuses.length, 2 * LIMIT);
    t.equal(statuses.filter((status) => status === 'completed').length, 6);

    // The root comes last and its outcome is applied.
    const root = aSpanRecord(id, {
      started_at: NOON - 7,
      ended_at: NOON + 500,
      status: 'failed',
      error_message: 'no',
    });
    t.equal(await write(aFollowingRecord([root])), 5 * LIMIT + 1);
    const ended = {
      status: 'failed',
      error_message: 'no',
      started_at: NOON - 7,
      ended_at: NOON + 500,
      ...followed,
    };
    t.match((await look()).run, { span_count: 3 * LIMIT + 1, ...ended });
    await opened.reopen();
    await write(parts(id, 500, 501));
    t.match((await look()).run, { span_count: 3 * LIMIT + 2, ...ended, ended_at: NOON + 505 });

    // It no longer counts in the service map.
    const map = await opened.store.map.read(tenant, ALL_TIME);
    t.same(await listOf(map.nodes), []);
    const rebuilt = await opened.store.map.rebuild({ dryRun: true });
    t.ok(rebuilt !== null && !hasDifferences(rebuilt));
    await opened.close();
    t.same(await duplicatesIn(opened.path), []);
  });
}

void t.test('a call in a log event counts once in a truncated run', async (t) => {
  const opened = await TestStore.open(t, { maxRunSpans: LIMIT });
  const tenant = await opened.addUser();
  const id = randomUUID();
  const write = async (...spans: SpanRecord[]): Promise<unknown> =>
    opened.store.writer.traces({ tenant, items: [aFollowingRecord(spans)] }, { receivedAt: NOON });
  const call = (scope: string, model: string): SpanRecord => {
    const key = callKey({ scope, model, provider: null, response: null });
    const usage = { total_tokens: 10, cost_usd: 1_000_000 };
    const details = { provider: null, usage: null, cost: null, key };
    return aSpanRecord(id, { type: 'llm', model, ...usage, parent_span_id: randomUUID(), call: details });
  };
  const traced = (model = 'fast'): SpanRecord => call('agent', model);
  const logged = (model = 'fast'): SpanRecord => call(LOGGED_SCOPE, model);
  const look = async (): Promise<(number | null)[]> => {
    const run = await opened.store.runs.read(tenant, id);
    const { items } = await opened.store.models.list(tenant, {}, { offset: 0, limit: 5 });
    const tokens = items.reduce((sum, { total_tokens }) => sum + total_tokens, 0);
    const calls = items.reduce((sum, one) => sum + one.calls, 0);
    return [run?.total_tokens ?? null, tokens, calls];
  };
  await write(traced(), logged(), ...parts(id, 0, LIMIT, { total_tokens: null, cost_usd: null }).spans);
  t.same(await look(), [10, 10, 1]);
  await write(logged());
  await write(logged(), traced());
  await opened.reopen();
  const repeated = logged();
  await write(repeated);
  await write(repeated);
  t.same(await look(), [20, 20, 2], 'log events of a model that spans report');
  await write(logged('other'));
  t.same(await look(), [30, 30, 3], 'a log event of another model');
  await write(logged('new'), traced('new'));
  t.same(await look(), [40, 40, 4], 'the first call of a model, with its log event');
});

void t.test('a commit reads only the rows it changes, and an idle truncated run completes', async (t) => {
  const engine = await EventEngine.open(t, { maxRunSpans: LIMIT, segmentSize: { rows: 1e6, bytes: 1e9 } });
  const user = await engine.addUser(null);
  const id = randomUUID();
  for (let from = 0; from < 2000; from += 100) await engine.write(user, [parts(id, from, from + 100)], NOON);
  await engine.settle();
  t.equal(engine.parts.truncatedRuns.count, 1);
  t.equal(engine.logger.lines.filter((line) => line.includes('max_run_spans')).length, 1);
  const { database } = engine.parts;
  const ofNew = await queriesDuring(database, () => engine.write(user, [parts(id, 2000, 2100)], NOON));
  t.same(ofNew, [], 'none of it is loaded');
  await engine.reopen();
  // Compaction queries would be among those of the commit.
  await engine.settle();
  const again = engine.parts;
  const inCommit = await queriesDuring(again.database, () =>
    engine.write(user, [parts(id, 2100, 2200)], NOON),
  );
  t.notOk(inCommit.some((query) => query.includes('main.spans')));
  t.ok((await rowsScannedBy(again.database, inCommit)) < 100, 'only its header');
  const ofRepeat = await queriesDuring(again.database, () =>
    engine.write(user, [parts(id, 1500, 1510)], NOON),
  );
  t.equal(ofRepeat.filter((query) => query.includes('main.spans')).length, 1);
  t.match(await engine.shownRun(user, id), { span_count: 2200, status: 'running' });
  await engine.timeOutIdle(NOON + 10 * MINUTE);
  await engine.timeOutIdle(NOON + 20 * MINUTE);
  t.match(await engine.shownRun(user, id), { span_count: 2200, status: 'completed' });
});

void t.test('truncates long runs that are reloaded again and again', async (t) => {
  const runSize = {
    few: 3,
    remembered: { running: 100, ended: 100 },
    reloads: {
      long: 10,
      followed: { burst: 1, perSecond: 0 },
      recomputed: { burst: 1e9, perSecond: 0 },
      loaded: { burst: 1e9, perSecond: 0 },
      atOnce: 1e6,
      truncatedAtOnce: 1e6,
      mostAtOnce: 1e6,
    },
  };
  const opened = await TestStore.open(t, { runSize, segmentSize: { rows: 1e6, bytes: 1e9 } });
  const [tenant, another] = [await opened.addUser(), await opened.addUser()];
  const ids = Array.from({ length: 12 }, () => randomUUID());
  const write = async (of: string, id: string, from: number, to: number, changes?: Partial<SpanRecord>) => {
    const items = [parts(id, from, to, changes)];
    await opened.store.writer.traces(
      { tenant: of, items, service_map: deriveBatch(items) },
      { receivedAt: NOON },
    );
  };
  const followed = async (of: string, id: string) =>
    (await opened.store.runs.read(of, id))?.metadata?.['jackdaw.followed_spans'];
  const closed = async () => {
    const found = await Promise.all(ids.map((id) => followed(tenant, id)));
    return found.filter((spans) => spans !== undefined).length;
  };
  for (const id of ids) await write(tenant, id, 0, 30);
  t.equal(await closed(), 0, 'nothing was loaded');
  // The first ones exceed the memory; once it is used up, a few of the others stay cached.
  for (const id of ids) await write(tenant, id, 30, 31);
  const atFirst = await closed();
  t.ok(atFirst > 0 && atFirst < ids.length, `${atFirst} are truncated`);
  // Messages without spans truncate no run, however often they load it.
  for (const id of ids) await opened.store.runs.setOutcome(tenant, id, { success: true });
  t.equal(await closed(), atFirst);
  // Repeats alone also truncate a run and are detected by then.
  for (let round = 0; round < 3; round++) for (const id of ids) await write(tenant, id, 0, 31);
  const atLast = await closed();
  t.ok(atLast >= atFirst);
  for (const id of ids) {
    const spans = (await followed(tenant, id)) ?? 31;
    const run = await opened.store.runs.read(tenant, id);
    t.match(run, { span_count: 31, total_tokens: spans });
  }
  const rebuilt = await opened.store.map.rebuild({ dryRun: true });
  t.ok(rebuilt !== null && !hasDifferences(rebuilt));

  // Runs of another user are loaded as usual, also after a restart with an empty cache.
  const other = randomUUID();
  await write(another, other, 0, 30);
  await opened.reopen();
  await write(another, other, 30, 40);
  t.match(await opened.store.runs.read(another, other), { span_count: 40, total_tokens: 40 });
  t.equal(await followed(another, other), undefined);
  for (const id of ids) await write(tenant, id, 31, 32);
  t.ok((await closed()) >= ids.length - 1, 'a restart does not increase the number of loaded runs');
});
