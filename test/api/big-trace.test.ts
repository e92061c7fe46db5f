import t from 'tap';
import { startApi } from '../support/api.js';
import { traceIdOf } from '../support/header-text.js';
import { anItem, aSpan } from '../support/trace-batch.js';

const BATCHES = 50;
const START = Date.parse('2026-11-03T08:15:30Z');

void t.test(
  'a trace with thousands of spans is returned completely and in order, and disconnects do no harm',
  async (t) => {
    const api = await startApi(t);
    const header = anItem({ spans: 0 }).trace;
    const id = traceIdOf({ trace: header, spans: [] });
    const content = 'payload '.repeat(50);
    const expected: unknown[] = [];
    for (let batch = 0; batch < BATCHES; batch++) {
      const spans = Array.from({ length: 100 }, (_, index) =>
        aSpan(id, {
          // Sent in reverse, so that the store has to sort.
          started_at: new Date(START + (BATCHES - batch) * 100_000 - index * 1000).toISOString(),
          ended_at: undefined,
          output_data: { content },
        }),
      );
      expected.unshift(...spans.map((span) => span['span_id']).reverse());
      await api.send([{ trace: header, spans }]);
    }

    const leave = new AbortController();
    const left = await fetch(`${api.url}/api/v1/dashboard/traces/${id}`, {
      headers: { authorization: `Bearer ${api.adminKey}` },
      signal: leave.signal,
    });
    await left.body?.getReader().read();
    leave.abort();

    const [trace] = await Promise.all([
      api.get<{ spans: { span_id: string; output_data: unknown }[] }>(`/dashboard/traces/${id}`),
      api.get('/agents'),
      api.call('HEAD', `/dashboard/traces/${id}`),
    ]);
    t.equal(trace.spans.length, BATCHES * 100);
    t.strictSame(
      trace.spans.map((span) => span.span_id),
      expected,
    );
    t.ok(trace.spans.every((span) => JSON.stringify(span.output_data) === JSON.stringify({ content })));
    t.match(await api.get('/dashboard/traces'), { items: [{ span_count: BATCHES * 100 }] });
  },
);
