import t from 'tap';
import { aLog } from '../../../support/log-records.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../../../support/run-records.js';
import { TestStore } from '../test-store.js';

const RECEIVED = { receivedAt: NOON };
const HOUR_MS = 3_600_000;

for (const rows of [7, 100_000])
  void t.test(`removes events with their expired log records, with segments of ${rows} rows`, async (t) => {
    const opened = await TestStore.open(t, { segmentSize: { rows, bytes: 1e9 }, logRetentionDays: 2 });
    const tenant = await opened.addUser();
    const trace = aHeader();
    const span = aSpanRecord(trace.trace_id);
    await opened.store.writer.traces({ tenant, items: [{ trace, spans: [span] }] }, RECEIVED);
    const ids = { trace_id: trace.trace_id, span_id: span.span_id, event_name: 'gen_ai.user.message' };
    const [old, young] = [NOON - DAY, NOON].map((timestamp) =>
      aLog({ ...ids, timestamp, body: `${timestamp}` }),
    );
    if (old === undefined || young === undefined) throw new Error('no logs');
    const others = Array.from({ length: 20 }, (_, i) => aLog({ timestamp: NOON - i * (DAY / 10) }));
    for (const log of [old, ...others, young])
      await opened.store.writer.logs({ tenant, items: [log] }, RECEIVED);
    const bodies = async () => {
      const found = await opened.store.runs.readSpan(tenant, trace.trace_id, span.span_id);
      return found?.events?.map(({ body }) => body) ?? [];
    };
    t.strictSame(await bodies(), [old.body, young.body]);
    await opened.retained(24 * HOUR_MS);
    t.strictSame(await bodies(), [young.body], 'the newer record stays');
    await opened.reopen();
    t.strictSame(await bodies(), [young.body]);
    await opened.retained(48 * HOUR_MS);
    t.strictSame(await bodies(), [], 'the run is still there');
    await opened.reopen();
    t.strictSame(await bodies(), []);
  });
