import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import type { DetailedSpan, StoredSpan } from '../../src/storage/contracts/runs.js';
import { without } from '../storage/duckdb/shown-spans.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };

/** The expected result for a completely sent span. */
function expected(span: SpanRecord): DetailedSpan {
  const { metadata, call } = span;
  return {
    ...without(
      span,
      'parent_is_remote',
      'agent_hint',
      'map_hint',
      'run_kind',
      'context',
      'prompt',
      'metadata',
      'call',
    ),
    details: { call: call && without(call, 'provider'), metadata, sent: null },
  };
}

function checkWholeSpans(t: Test, open: OpenTelemetry): void {
  void t.test('reads a span alone in any file, equal to the span in its trace', async (t) => {
    const opened = await open(t, { fileRows: 12 });
    const tenant = await opened.addUser();
    const trace = aHeader();
    const spans = Array.from({ length: 40 }, (_, i) =>
      aSpanRecord(trace.trace_id, {
        started_at: NOON + i,
        // Payload pieces of varying sizes, some missing.
        metadata: i % 7 === 3 ? null : { number: i, text: 'x'.repeat(i % 5 === 0 ? 3000 : 10) },
        input_data: i % 3 === 0 ? { big: 12345678901234567890n } : null,
        output_data: i % 4 === 0 ? { answer: `\t\n${i}` } : null,
        call:
          i % 2 === 0
            ? null
            : {
                provider: null,
                usage: i % 3 === 0 ? null : { cached_read: i, audio_output: 0 },
                cost: { source: 'priced', rule: 'a table', input: i, output: 0 },
                ...(i % 5 === 0 && { time_to_first_chunk_ms: i + 0.125 }),
              },
      }),
    );
    for (let from = 0; from < spans.length; from += 8) {
      const items = [{ trace, spans: structuredClone(spans.slice(from, from + 8)) }];
      await opened.store.writer.traces({ tenant, items }, RECEIVED);
    }
    for (const state of ['hot', 'moved', 'after a restart']) {
      for (const span of spans) {
        const found = await opened.store.runs.readSpan(tenant, trace.trace_id, span.span_id.toUpperCase());
        t.strictSame(ofShown(found), ofShown(expected(span)), state);
      }
      const whole = await opened.store.runs.read(tenant, trace.trace_id, { details: true });
      const all: StoredSpan[] = [];
      for await (const page of whole?.spans ?? []) if (!(page instanceof Uint8Array)) all.push(...page);
      t.strictSame(all.map(ofShown), spans.map(expected).map(ofShown), state);
      if (state === 'hot') await opened.settled();
      else await opened.reopen();
    }
  });

  void t.test('missing data and data of other users is not found', async (t) => {
    const { store, addUser } = await open(t);
    const [anna, ben] = [await addUser(), await addUser()];
    const trace = aHeader();
    const [span, other] = [aSpanRecord(trace.trace_id), aSpanRecord(randomUUID())];
    await store.writer.traces({ tenant: anna, items: [{ trace, spans: [span] }] }, RECEIVED);
    const elsewhere = { trace: aHeader({ trace_id: other.trace_id }), spans: [other] };
    await store.writer.traces({ tenant: anna, items: [elsewhere] }, RECEIVED);
    t.ok(await store.runs.readSpan(anna, trace.trace_id, span.span_id));
    t.equal(await store.runs.readSpan(ben, trace.trace_id, span.span_id), null);
    t.equal(await store.runs.readSpan(anna, trace.trace_id, other.span_id), null);
    t.equal(await store.runs.readSpan(anna, randomUUID(), span.span_id), null);
    t.equal((await store.runs.readSpan(anna, trace.trace_id, `${span.span_id}' OR TRUE --`)) === null, false);
  });

  void t.test('reads a completed span once, in its newest version', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const trace = aHeader({ status: 'running' });
    const open_ = aSpanRecord(trace.trace_id, { status: 'running', metadata: { first: true } });
    const done: SpanRecord = {
      ...open_,
      status: 'completed',
      ended_at: NOON + 2000,
      metadata: { first: false },
      output_data: { text: 'done' },
    };
    for (const spans of [[open_], [done]])
      await opened.store.writer.traces({ tenant, items: [{ trace, spans }] }, RECEIVED);
    const wanted = {
      status: 'completed',
      output_data: { text: 'done' },
      details: { metadata: { first: true } },
    };
    t.match(await opened.store.runs.readSpan(tenant, trace.trace_id, open_.span_id), wanted);
    await opened.settled();
    t.match(await opened.store.runs.readSpan(tenant, trace.trace_id, open_.span_id), wanted);
  });
}

/** Omits derived fields. */
function ofShown(span: StoredSpan | null): unknown {
  return span && without(span, 'duration_ms', 'total_tokens');
}

await onEveryTelemetry(t, checkWholeSpans);
