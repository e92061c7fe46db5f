import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };

function aRun(i: number, spans: readonly Partial<SpanRecord>[]): TraceRecord {
  const trace = aHeader({ started_at: NOON + i * 1000 });
  return { trace, spans: spans.map((span) => aSpanRecord(trace.trace_id, span)) };
}

/** A span received after its run. */
const LATE: Partial<SpanRecord> = {
  started_at: NOON - 1,
  model: 'z',
  status: 'failed',
  input_data: { prompt: 'Too late?' },
};

function checkPreviews(t: Test, open: OpenTelemetry): void {
  void t.test('lists show models, errors and input previews of spans', async (t) => {
    const opened = await open(t, { fileRows: 20 });
    const userId = await opened.addUser();
    const messages = [
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: [{ type: 'text', text: 'Where is\n my   parcel?' }] },
    ];
    const chat = aRun(1, [
      { type: 'agent', name: 'root', started_at: NOON },
      {
        parent_span_id: randomUUID(),
        started_at: NOON + 2,
        model: 'b',
        status: 'failed',
        input_data: { messages },
      },
      { parent_span_id: randomUUID(), started_at: NOON + 1, model: 'a', status: 'timed_out', type: 'tool' },
    ]);
    const rooted = aRun(2, [
      { type: 'agent', input_data: { city: 'Ghent' } },
      { input_data: { prompt: 'no' }, started_at: NOON + 1 },
    ]);
    const history = { role: 'assistant', content: '\u{1F426}'.repeat(50_000) };
    const long = aRun(3, [{ input_data: { messages: [history, { role: 'user', content: 'And now?' }] } }]);
    const longer = aRun(6, [{ input_data: { text: '\u{1F426}'.repeat(66_000) } }]);
    const bare = aRun(4, []);
    const quiet = aRun(5, [{}]);
    const pictured = aRun(6, [
      { type: 'agent', input_data: { prompt: 'What is in it?' } },
      { parent_span_id: randomUUID(), started_at: NOON + 1, output_data: { text: 'A'.repeat(100_000) } },
    ]);
    const runs = [chat, rooted, long, longer, bare, quiet, pictured];
    await opened.store.writer.traces({ tenant: userId, items: runs }, RECEIVED);
    for (const state of ['hot', 'moved']) {
      const ids = [...runs.map(({ trace }) => trace.trace_id), randomUUID()];
      const previews = new Map(
        (await opened.store.runs.preview(userId, ids)).map((one) => [one.trace_id, one]),
      );
      const of = ({ trace: { trace_id } }: TraceRecord) => previews.get(trace_id);
      t.match(
        of(chat),
        { models: ['a', 'b'], error_span_count: 2, input_preview: 'Where is my parcel?' },
        state,
      );
      t.match(of(rooted), { models: [], error_span_count: 0, input_preview: 'Ghent' });
      t.match(of(long), { input_preview: 'And now?' }, 'of 200 KiB');
      t.match(of(longer), { input_preview: null });
      t.match(of(pictured), { input_preview: 'What is in it?' }, 'next to a long output');
      t.equal(of(bare), undefined);
      t.match(of(quiet), { models: [], error_span_count: 0, input_preview: null });
      t.equal(previews.size, 6);
      t.strictSame(await opened.store.runs.preview(await opened.addUser(), ids), []);
      await opened.settled();
      // The cache is empty then.
      await opened.reopen();
    }
    const late = { trace: quiet.trace, spans: [aSpanRecord(quiet.trace.trace_id, LATE)] };
    const again = { trace: bare.trace, spans: [aSpanRecord(bare.trace.trace_id, LATE)] };
    for (const ids of [[quiet.trace.trace_id], [quiet.trace.trace_id, bare.trace.trace_id]])
      await opened.store.runs.preview(userId, ids);
    await opened.store.writer.traces({ tenant: userId, items: [late, again] }, RECEIVED);
    const found = await opened.store.runs.preview(userId, [quiet.trace.trace_id, bare.trace.trace_id]);
    const shown = { models: ['z'], error_span_count: 1, input_preview: 'Too late?' };
    for (const { trace } of [quiet, bare])
      t.match(
        found.find(({ trace_id }) => trace_id === trace.trace_id),
        shown,
        'spans received after the first read',
      );
  });
}

await onEveryTelemetry(t, checkPreviews);
