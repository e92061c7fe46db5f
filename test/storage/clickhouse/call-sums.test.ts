import t from 'tap';
import { itemAt } from '../../../src/signal/checked.js';
import type { Price } from '../../../src/signal/price.js';
import { aSpanRecord, aTrace, DAY, NOON } from '../../support/run-records.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { repricedOf } from '../duckdb/model-oracle.js';
import { TestClickHouse } from './test-clickhouse.js';

const HOUR = DAY / 24;
const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test('sums whole runs from run rows and partial runs from spans', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const opened = await TestClickHouse.open(t, server);
  const { store } = opened;
  const user = await opened.addUser();
  const page = { offset: 0, limit: 10 };
  // One call every half hour for three days, in runs of one day; the cost of one model exceeds a safe integer.
  const runs = [0, 1, 2].map((day) => {
    const run = aTrace(0, { agent: day === 0 ? 'first' : 'other', started_at: NOON + day * DAY });
    const spans = Array.from({ length: 48 }, (_, i) =>
      aSpanRecord(run.trace.trace_id, {
        started_at: NOON + day * DAY + (i * HOUR) / 2,
        ended_at: NOON + day * DAY + (i * HOUR) / 2 + 1000,
        model: i % 2 === 0 ? 'even' : null,
        type: i === 47 ? 'tool' : 'llm',
        total_tokens: i % 2 === 0 ? Number.MAX_SAFE_INTEGER : 1,
        cost_usd: i % 2 === 0 ? 1_500_000_000 : null,
      }),
    );
    return { ...run, spans };
  });
  await store.writer.traces({ tenant: user, items: runs }, { receivedAt: NOON + 3 * DAY });
  const [first] = await store.agents
    .list(user)
    .then((agents) => agents.filter(({ name }) => name === 'first'));
  const asks = [
    {},
    { agent_id: first?.id ?? '' },
    { start_time: NOON + HOUR / 2 },
    { start_time: NOON + HOUR / 2 + 1, end_time: NOON + 3 * DAY - HOUR - 1 },
    { start_time: NOON + HOUR, end_time: NOON + HOUR + 1 },
  ];
  const series = {
    group_by: 'model',
    interval: 2 * HOUR,
    start_time: NOON - HOUR,
    end_time: NOON + 3 * DAY,
  } as const;
  const all = async (): Promise<unknown> => ({
    models: await Promise.all(asks.map((filter) => store.models.list(user, filter, page))),
    series: await store.series.read(user, series),
  });
  const found = await all();
  t.match(await store.models.list(user, {}, page), {
    count: 2,
    items: [
      { model: 'even', calls: 72, priced_calls: 72, total_cost: 108, first_call_at: NOON },
      // With the tokens of three tools.
      { model: null, calls: 69, priced_calls: 0, total_cost: null, total_tokens: 72 },
    ],
  });
  const [, , , within] = await Promise.all(asks.map((filter) => store.models.list(user, filter, page)));
  t.match(within?.items, [
    { model: 'even', calls: 70, first_call_at: NOON + HOUR },
    { model: null, calls: 68 },
  ]);

  // Simulates rows written before the call columns existed.
  await server.query(
    `ALTER TABLE ${opened.options.database}.runs UPDATE calls_until = 2147483647, model_calls = [], call_tokens = [] WHERE 1 SETTINGS mutations_sync = 1`,
  );
  t.strictSame(await all(), found, 'from the spans');
});

void t.test('reprices calls from run rows when no call needs rounding', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const opened = await TestClickHouse.open(t, server);
  const { store } = opened;
  const user = await opened.addUser();
  const tokens = [null, 0, 10, 150_000, 300_001, 2_000_000];
  const usages = [null, { cached_read: 7 }, { cached_write: 2 ** 40, audio_input: 3, audio_output: 2 }];
  const run = aTrace(0, { agent: 'caller', started_at: NOON });
  const spans = tokens.flatMap((input, i) =>
    tokens.map((output, j) =>
      aSpanRecord(run.trace.trace_id, {
        started_at: NOON + (i * 12 + j * 5) * HOUR,
        ended_at: j === 4 ? null : NOON + (i * 12 + j * 5) * HOUR + 1000,
        status: j === 4 ? 'running' : 'completed',
        model: 'one',
        type: 'llm',
        input_tokens: input,
        output_tokens: output,
        total_tokens: i + j > 0 ? 1000 * i + j : null,
        cost_usd: j % 2 === 0 ? 1_500_000_000 : null,
        call: { provider: null, usage: itemAt(usages, (i + j) % 3), cost: null },
      }),
    ),
  );
  await store.writer.traces({ tenant: user, items: [{ ...run, spans }] }, { receivedAt: NOON + 4 * DAY });
  const rates = { input: 3000, cached_read: 1000, cached_write: 4000, audio_input: 7000, audio_output: 0 };
  const long = { ...rates, output: 9000, over: 200_000 };
  const prices: readonly Price[] = [
    { ...rates, output: 5000, long: null },
    { ...rates, output: 0, long },
  ];
  const times = [{}, { start_time: NOON + 1 }, { end_time: NOON + 2 * DAY + HOUR / 2 }];
  // Rates that need rounding per call, or exceed the cost limit, are priced call by call.
  const others: readonly Price[] = [
    { ...rates, output: 5001, long: null },
    { ...rates, output: 10 ** 12, long: null },
    { ...rates, output: 5000, long: { ...long, over: 200_001 } },
  ];
  const asks = [...prices, ...others].flatMap((price) =>
    times.map((time) => ({ price, filter: { ...time, model: 'one' } })),
  );
  const all = async (): Promise<unknown> =>
    await Promise.all(asks.map(({ filter, price }) => store.models.reprice(user, filter, price)));
  const calls = spans.map((span) => ({ header: run.trace, span }));
  const expected = asks.map(({ filter, price }) => repricedOf(calls, filter, price));
  t.strictSame(await all(), expected);

  const { database } = opened.options;
  await server.query(`RENAME TABLE ${database}.spans TO ${database}.away`);
  for (const price of prices)
    t.strictSame(
      await store.models.reprice(user, { model: 'one' }, price),
      repricedOf(calls, { model: 'one' }, price),
      'no span is read',
    );
  await server.query(`RENAME TABLE ${database}.away TO ${database}.spans`);

  await server.query(
    `ALTER TABLE ${database}.runs UPDATE call_tokens = [] WHERE 1 SETTINGS mutations_sync = 1`,
  );
  t.strictSame(await all(), expected, 'from the spans of rows written earlier');
});
