import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { SpanRecord } from '../../src/signal/span.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenTelemetry } from './telemetry-stores.js';
import type { TelemetryStore } from '../../src/storage/contracts/telemetry-store.js';

const RECEIVED = { receivedAt: NOON };

interface Shown {
  readonly span_id: string;
  readonly name: string;
  readonly input_bytes: number | null;
  readonly output_bytes: number | null;
  readonly preview: string | null;
  readonly node: string | null;
}

/** Pages as the API serializes them. */
async function traceSummary({ runs }: TelemetryStore, userId: string, traceId: string, since = 0) {
  const found = await runs.traceSummary(userId, traceId, since);
  if (found === null) return null;
  const spans: Shown[] = [];
  for await (const page of found.spans)
    if (page instanceof Uint8Array)
      spans.push(...(JSON.parse(`[${Buffer.from(page).toString()}]`) as Shown[]));
    else spans.push(...page);
  return { ...found, spans };
}

function expected(span: SpanRecord): Partial<Shown> {
  const input = span.input_data === null ? null : JSON.stringify(span.input_data);
  return {
    span_id: span.span_id,
    name: span.name,
    input_bytes: input === null ? null : Buffer.byteLength(input),
    output_bytes: span.output_data === null ? null : Buffer.byteLength(JSON.stringify(span.output_data)),
    preview: input === null ? null : input.slice(0, 200).replace(/[\uD800-\uDBFF]$/, ''),
  };
}

function checkSummaries(t: Test, open: OpenTelemetry): void {
  void t.test('returns spans without payloads, then those that changed since', async (t) => {
    const opened = await open(t, { fileRows: 12 });
    const tenant = await opened.addUser();
    const trace = aHeader();
    const spans = Array.from({ length: 30 }, (_, i) =>
      aSpanRecord(trace.trace_id, {
        name: `span ${String(i)}`,
        started_at: NOON + i,
        // Characters of one to four bytes, truncated at any position.
        input_data: i % 3 === 0 ? null : { text: 'x'.repeat(i) + 'é€😀'.repeat(i * 20) },
        output_data: i % 4 === 0 ? { answer: i } : null,
        status: i === 29 ? 'running' : 'completed',
      }),
    );
    const write = async (some: readonly SpanRecord[]) =>
      await opened.store.writer.traces(
        { tenant, items: [{ trace, spans: structuredClone([...some]) }] },
        RECEIVED,
      );
    for (let from = 0; from < spans.length; from += 10) await write(spans.slice(from, from + 10));
    for (const state of ['hot', 'moved', 'after a restart']) {
      const all = await traceSummary(opened.store, tenant, trace.trace_id.toUpperCase());
      t.match(all, { trace_id: trace.trace_id, agent_name: 'researcher', metadata: null }, state);
      t.match(all?.spans, spans.map(expected), state);
      t.notOk(all?.spans.some((span) => 'input_data' in span || 'output_data' in span));
      t.strictSame((await traceSummary(opened.store, tenant, trace.trace_id, all?.seq))?.spans, []);
      if (state === 'hot') await opened.settled();
      else await opened.reopen();
    }
    const { seq } = (await traceSummary(opened.store, tenant, trace.trace_id)) ?? {};
    const last = { ...aSpanRecord(trace.trace_id), ...spans.at(-1) };
    const done: SpanRecord = {
      ...last,
      status: 'completed',
      ended_at: NOON + 100,
      output_data: { done: true },
    };
    const later = aSpanRecord(trace.trace_id, { name: 'later', started_at: NOON - 1 });
    await write([done, later]);
    await write(
      [aSpanRecord(randomUUID())].map((span) => ({ ...span, trace_id: trace.trace_id, name: 'last' })),
    );
    const summary = await traceSummary(opened.store, tenant, trace.trace_id, seq);
    t.strictSame(summary?.spans.map(({ name }) => name).sort(), ['last', 'later', 'span 29']);
    t.match(
      summary?.spans.find(({ name }) => name === 'span 29'),
      expected(done),
    );
    t.ok((summary?.seq ?? 0) > (seq ?? 0));
    t.equal((await traceSummary(opened.store, tenant, trace.trace_id))?.spans.length, 32);
  });

  void t.test('returns a long trace in complete, ordered pages', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const trace = aHeader();
    const spans = Array.from({ length: 4500 }, (_, i) =>
      aSpanRecord(trace.trace_id, {
        name: String(i),
        started_at: NOON + Math.floor(i / 3),
        input_data: { i },
      }),
    );
    await opened.store.writer.traces({ tenant, items: [{ trace, spans }] }, RECEIVED);
    const found = await traceSummary(opened.store, tenant, trace.trace_id);
    const inOrder = spans.toSorted((a, b) => a.started_at - b.started_at || (a.span_id < b.span_id ? -1 : 1));
    t.strictSame(
      found?.spans.map(({ span_id }) => span_id),
      inOrder.map(({ span_id }) => span_id),
    );
    t.equal(found?.spans[4499]?.preview, JSON.stringify(inOrder[4499]?.input_data));
  });

  void t.test('missing data and data of other users is not found', async (t) => {
    const opened = await open(t);
    const [one, other] = [await opened.addUser(), await opened.addUser()];
    const trace = aHeader();
    await opened.store.writer.traces({ tenant: one, items: [{ trace, spans: [] }] }, RECEIVED);
    t.strictSame((await traceSummary(opened.store, one, trace.trace_id))?.spans, []);
    t.equal(await traceSummary(opened.store, other, trace.trace_id), null);
    t.equal(await traceSummary(opened.store, one, randomUUID()), null);
  });
}

await onEveryTelemetry(t, checkSummaries);
