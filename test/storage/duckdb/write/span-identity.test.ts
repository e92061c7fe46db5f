import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { SpanRecord } from '../../../../src/signal/span.js';
import { EventEngine } from '../event-engine.js';
import { aHeader, aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { spansOf } from '../shown-spans.js';
import { TestStore } from '../test-store.js';
import { queriesDuring } from '../watched-statements.js';

void t.test('span ids stored under other traces need no lookup at commit', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(null);
  const known = aTrace(20);
  await engine.write(user, [known], NOON);
  const again = Array.from({ length: 3 }, () => {
    const trace = aHeader({ trace_id: randomUUID() });
    return { trace, spans: known.spans.map((span) => ({ ...span, trace_id: trace.trace_id })) };
  });
  const queries = await queriesDuring(engine.parts.database, () => engine.write(user, again, NOON));
  t.same(queries, []);
  for (const { trace } of again) t.match(await engine.shownRun(user, trace.trace_id), { span_count: 20 });
});

void t.test('concurrent batches of one trace keep the payload of each span', async (t) => {
  for (const isKnown of [false, true]) {
    const opened = await TestStore.open(t);
    const tenant = await opened.addUser();
    const trace = aHeader({ status: 'running' });
    const spans = Array.from({ length: 40 }, (_, i) =>
      aSpanRecord(trace.trace_id, {
        started_at: NOON + i,
        status: i % 3 === 0 ? 'running' : 'completed',
        input_data: { of: i },
      }),
    );
    const write = async (items: SpanRecord[]) =>
      opened.store.writer.traces({ tenant, items: [{ trace, spans: items }] }, { receivedAt: NOON });
    const parts = [spans.slice(0, 7), spans.slice(7, 8), spans.slice(8, 30), spans.slice(30)];
    if (isKnown) await write(parts.shift() ?? []);
    await Promise.all(parts.map(write));
    const shown = async () => {
      const found = await opened.store.runs.read(tenant, trace.trace_id);
      return found === null ? [] : spansOf(found);
    };
    const inputs = spans.map((_, of) => ({ of }));
    t.same(
      (await shown()).map(({ input_data }) => input_data),
      inputs,
    );
    // Completed spans keep the payload read from its stored location.
    await Promise.all(
      parts.map(async (part) => {
        await write(part.map((span) => ({ ...span, status: 'completed', input_data: null })));
      }),
    );
    for (const isMoved of [false, true]) {
      if (isMoved) {
        await opened.reopen();
        await opened.store.settled();
      }
      const now = await shown();
      t.same(
        now.map(({ input_data }) => input_data),
        inputs,
      );
      const [first = []] = isKnown ? [spans.slice(0, 7)] : [];
      const running = first.filter(({ status }) => status === 'running').length;
      t.equal(now.filter(({ status }) => status === 'running').length, running);
    }
  }
});
