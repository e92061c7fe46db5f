import { randomUUID } from 'node:crypto';
import t from 'tap';
import { TestStore } from '../../storage/duckdb/test-store.js';
import { aHeader, aSpanRecord, NOON } from '../../support/run-records.js';

void t.test('a span id in another trace is another span and event', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const span_id = randomUUID();
  const send = async () => {
    const trace = aHeader({ trace_id: randomUUID() });
    const items = [{ trace, spans: [aSpanRecord(trace.trace_id, { span_id })] }];
    return await opened.store.writer.traces(
      { tenant, items, quota: { monthly_items: 2 } },
      { receivedAt: NOON },
    );
  };
  t.match(await send(), { accepted: 1, usage: { used: 1, limit: 2 } });
  t.match(await send(), { accepted: 1, usage: { used: 2, limit: 2 } });
  await t.rejects(send(), { code: 'quota_exceeded' });
  t.match(await opened.store.runs.list(tenant, {}, { offset: 0, limit: 10 }), {
    count: 2,
    items: [{ span_count: 1 }, { span_count: 1 }],
  });
});
