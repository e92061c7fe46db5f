import { randomUUID } from 'node:crypto';
import t from 'tap';
import { aLog } from '../../../support/log-records.js';
import type { TraceRecord } from '../../../../src/signal/trace.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../../../support/run-records.js';
import { spansOf } from '../shown-spans.js';
import { metricValues } from '../../../support/engine.js';
import { until } from '../../../support/until.js';
import { TestStore } from '../test-store.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS_KEPT = 3;
/** One day after the start of the test clock. */
const FIRST_KEPT = Math.floor(NOON / DAY) * DAY + DAY - (DAYS_KEPT - 1) * DAY;

for (const segmentSize of [
  { rows: 4, bytes: 1e9 },
  { rows: 100_000, bytes: 1e9 },
]) {
  void t.test(`removes whole expired days, with segments of ${segmentSize.rows} rows`, async (t) => {
    const opened = await TestStore.open(t, { segmentSize, traceRetentionDays: DAYS_KEPT });
    const { clock } = opened.settings;
    const tenant = await opened.addUser();
    const other = await opened.addUser();
    const old = [FIRST_KEPT - 1, FIRST_KEPT - DAY].map((at) => aRun(at, 'old'));
    const young = [FIRST_KEPT, NOON, NOON + DAY].map((at) => aRun(at, 'young'));
    // Written twice so that they are cached as frequently changed runs.
    for (const item of [...old, ...young, ...old, ...young]) {
      await opened.store.writer.traces({ tenant, items: [item] }, { receivedAt: NOON });
    }
    await opened.store.writer.traces({ tenant: other, items: young.slice(1) }, { receivedAt: NOON });
    const before = await opened.store.agents.list(tenant);
    t.strictSame(before.map(({ name }) => name).sort(), ['old', 'young']);

    // One check after an hour and one a day later: a jump would skip timers that fall due in between.
    clock.advance(DAY_MS);
    await opened.store.applyRetention();
    clock.advance(HOUR_MS);
    await until(
      'they are removed, once an hour',
      async () => (await countOf(opened, tenant)) === young.length,
    );
    const { meter } = opened.settings;
    const removed = () => metricValues(meter, 'jackdaw_store_removed_rows_total');
    await until('removals are counted', async () => {
      clock.advance(5000);
      const rows = await removed();
      return rows['jackdaw_store_removed_rows_total{table="traces"}'] === old.length;
    });
    t.match(await removed(), {
      'jackdaw_store_removed_rows_total{table="spans"}': old.length,
      'jackdaw_store_removed_rows_total{table="points"}': 0,
    });
    t.strictSame(await metricValues(meter, 'jackdaw_store_oldest_timestamp_seconds'), {
      'jackdaw_store_oldest_timestamp_seconds{signal="traces"}': FIRST_KEPT / 1_000_000,
    });
    for (const { trace } of old) t.equal(await opened.store.runs.read(tenant, trace.trace_id), null);
    for (const { trace } of young) {
      const found = await opened.store.runs.read(tenant, trace.trace_id);
      t.match(found && (await spansOf(found)), [{ input_data: { of: 'young' } }]);
    }
    const listed = await opened.store.agents.list(tenant);
    t.strictSame(
      listed.map(({ name }) => name),
      ['young'],
      'an agent without runs is not listed',
    );

    // Expired data may be received again and is removed again.
    const oldAgent = before.find(({ name }) => name === 'old');
    for (const expired of old) {
      await opened.store.writer.traces({ tenant, items: [expired] }, { receivedAt: NOON });
      const again = await opened.store.runs.read(tenant, expired.trace.trace_id);
      t.match(again && (await spansOf(again)), [{ input_data: { of: 'old' } }]);
      t.equal(again?.agent_id, oldAgent?.id, 'an agent keeps its id');
    }
    await opened.retained(0);
    await opened.reopen({ traceRetentionDays: null });
    t.equal(await countOf(opened, tenant), young.length);
    t.equal(await countOf(opened, other), young.length - 1);
    t.notMatch(opened.settings.logger.lines, /failed|could not/);
  });
}

void t.test('keeps everything without retention', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 4, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const items = [-DAY, 0, NOON - 4000 * DAY].map((at) => aRun(at, 'old'));
  await opened.store.writer.traces({ tenant, items }, { receivedAt: NOON });
  opened.settings.clock.advance(DAY_MS);
  await opened.reopen();
  t.equal(await countOf(opened, tenant), 3);
});

void t.test('a trace removed while its spans are read ends the read', async (t) => {
  const opened = await TestStore.open(t, { traceRetentionDays: DAYS_KEPT });
  const tenant = await opened.addUser();
  const old = aRun(FIRST_KEPT - 1, 'old');
  const { trace_id, started_at } = old.trace;
  // More than one page.
  const spans = Array.from({ length: 501 }, () => aSpanRecord(trace_id, { started_at }));
  await opened.store.writer.traces({ tenant, items: [{ ...old, spans }] }, { receivedAt: NOON });
  const found = await opened.store.runs.read(tenant, trace_id);
  const pieces = found?.spans[Symbol.asyncIterator]();
  t.match(await pieces?.next(), { done: false });

  await opened.retained(DAY_MS);
  t.equal(await countOf(opened, tenant), 0);
  await t.rejects(async () => await pieces?.next(), { code: 'storage_unavailable', detail: /was removed/ });
});

async function countOf({ store }: TestStore, tenant: string): Promise<number> {
  return (await store.runs.list(tenant, {}, { offset: 0, limit: 1 })).count;
}

function aRun(startedAt: number, agent: string): TraceRecord {
  const trace = aHeader({ started_at: startedAt, agent });
  return {
    trace,
    spans: [aSpanRecord(trace.trace_id, { started_at: startedAt, input_data: { of: agent } })],
  };
}

void t.test('removes old scores, whose runs may never have come', async (t) => {
  const opened = await TestStore.open(t, { traceRetentionDays: DAYS_KEPT });
  const tenant = await opened.addUser();
  const trace_id = randomUUID();
  const items = [FIRST_KEPT - 1, FIRST_KEPT].map((timestamp) =>
    aLog({
      trace_id,
      timestamp,
      event_name: 'gen_ai.evaluation.result',
      attributes: { 'gen_ai.evaluation.name': 'success', 'gen_ai.evaluation.score.value': 1 },
    }),
  );
  await opened.store.writer.logs({ tenant, items }, { receivedAt: NOON });
  await opened.retained(DAY_MS);
  t.match(await opened.store.runs.scores(tenant, trace_id), [{ at: FIRST_KEPT }]);
  t.equal((await opened.store.runs.scores(tenant, trace_id)).length, 1);
});
