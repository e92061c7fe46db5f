import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { TraceHeader } from '../../../../src/signal/trace.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../../../support/run-records.js';
import { usageOf, type Call } from '../model-oracle.js';
import { inColdFile, wrongSumsIn } from '../stored-rows.js';
import { TestStore } from '../test-store.js';

t.setTimeout(0);

const HOUR = 3_600_000_000;
const MODELS = [null, 'gpt-5', "o'3"] as const;

void t.test('subtracts a replaced call of the cold file from the sums', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 1, bytes: 1e9 } });
  const user = await opened.addUser();
  const header = aHeader({ status: 'running' });
  const call = aSpanRecord(header.trace_id, {
    type: 'llm',
    model: 'gpt-5',
    input_tokens: 7,
    status: 'running',
  });
  for (const span of [call, { ...call, status: 'completed' as const, output_tokens: 1 }]) {
    await opened.store.writer.traces(
      { tenant: user, items: [{ trace: header, spans: [span] }] },
      { receivedAt: NOON },
    );
    await opened.store.settled();
  }
  const { items } = await opened.store.models.list(user, {}, { offset: 0, limit: 10 });
  t.match(items, [{ model: 'gpt-5', calls: 1, input_tokens: 7, output_tokens: 1 }]);
  await opened.close();
  t.same(
    await inColdFile(
      opened.path,
      'SELECT sum(calls)::INTEGER AS calls, count(*)::INTEGER AS parts FROM call_sums',
    ),
    [{ calls: 1, parts: 3 }],
    'an added, a subtracted and a replacing sum',
  );
  t.same(await wrongSumsIn(opened.path), []);
});

void t.test('retention subtracts removed calls and leaves no sums', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 20, bytes: 1e9 }, traceRetentionDays: 2 });
  const user = await opened.addUser();
  const calls: Call[] = [];
  const write = async (changes: Partial<TraceHeader>, offsets: readonly number[]): Promise<void> => {
    const header = aHeader(changes);
    const made = offsets.map((offset, i) => ({
      header,
      span: aSpanRecord(header.trace_id, {
        started_at: header.started_at + offset,
        model: MODELS[i % 2] ?? null,
        cost_usd: 1_000_000_000,
      }),
    }));
    calls.push(...made);
    const spans = made.map(({ span }) => span);
    await opened.store.writer.traces(
      { tenant: user, items: [{ trace: header, spans }] },
      { receivedAt: NOON },
    );
  };
  // Runs that cross midnight, so that an hour has both expired and retained calls.
  const midnight = NOON - DAY / 2;
  for (let i = 0; i < 15; i++) {
    await write({ started_at: midnight - HOUR / 2 - i }, [0, HOUR / 4, HOUR / 2 + 5, HOUR]);
    await write({ started_at: midnight + 10 + i }, [0, 3, HOUR]);
  }
  const read = async (): Promise<unknown> =>
    await opened.store.models.list(user, {}, { offset: 0, limit: 9 });
  const all = usageOf(calls, {});
  t.strictSame(await read(), { items: all, count: all.length });
  await opened.retained(DAY / 1000);
  const left = usageOf(
    calls.filter(({ header }) => header.started_at >= midnight),
    {},
  );
  t.equal((await opened.store.runs.list(user, {}, { offset: 0, limit: 1 })).count, 15);
  t.strictSame(await read(), { items: left, count: left.length }, 'the first remaining calls are known');
  await opened.close();
  t.same(await wrongSumsIn(opened.path), []);
  const earlier = `SELECT count(*)::INTEGER AS parts FROM call_sums WHERE hour < ${midnight / HOUR}`;
  await opened.start({ segmentSize: { rows: 1, bytes: 1e9 } });
  for (let i = 0; i < 10; i++) {
    await write({ trace_id: randomUUID(), started_at: NOON }, [0]);
    await opened.store.settled();
  }
  await opened.close();
  t.same(await inColdFile(opened.path, earlier), [{ parts: 0 }], 'sums of zero are dropped');
  t.same(await wrongSumsIn(opened.path), []);
});
