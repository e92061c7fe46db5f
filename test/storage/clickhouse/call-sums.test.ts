import t from 'tap';
import { aSpanRecord, aTrace, DAY, NOON } from '../../support/run-records.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { TestClickHouse } from './test-clickhouse.js';

const HOUR = DAY / 24;
const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test(
  'calls are added up from the rows of runs, from spans at the ends of a time',
  { skip },
  async (t) => {
    if (typeof server === 'string') return;
    const opened = await TestClickHouse.open(t, server);
    const { store } = opened;
    const user = await opened.addUser();
    const page = { offset: 0, limit: 10 };
    // A call each half hour of three days, in runs of a day; those of one model cost more than a number holds exactly.
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
        { model: null, calls: 69, priced_calls: 0, total_cost: null, total_tokens: 69 },
      ],
    });
    const [, , , within] = await Promise.all(asks.map((filter) => store.models.list(user, filter, page)));
    t.match(within?.items, [
      { model: 'even', calls: 70, first_call_at: NOON + HOUR },
      { model: null, calls: 68 },
    ]);

    // As rows are that were written before they said what their runs called.
    await server.query(
      `ALTER TABLE ${opened.options.database}.runs UPDATE calls_until = 2147483647, model_calls = [] WHERE 1 SETTINGS mutations_sync = 1`,
    );
    t.strictSame(await all(), found, 'from the spans');
  },
);
