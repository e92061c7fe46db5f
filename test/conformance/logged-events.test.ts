import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { uuidV7InOrder } from '../../src/signal/ids.js';
import type { JsonObject, JsonValue } from '../../src/signal/attributes.js';
import type { LogRecord } from '../../src/signal/log-record.js';
import type { StoredSpan, StoredTrace } from '../../src/storage/contracts/runs.js';
import { aLog } from '../support/log-records.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };

/** The name and body of an event of a span. */
type LoggedEvent = readonly [name: string, body: JsonValue];

let made = 0;

/** A record of a span event, by default later than all previous ones. */
function anEvent(traceId: string, spanId: string, name: string, changes: Partial<LogRecord> = {}): LogRecord {
  const number = ++made;
  return aLog({
    id: uuidV7InOrder(NOON / 1000 + number, 0),
    timestamp: NOON + number,
    trace_id: traceId,
    span_id: spanId,
    event_name: `gen_ai.${name}`,
    body: `${name} ${number}`,
    ...changes,
  });
}

/** The events of each span that has some; bodies as stored text. */
async function eventsOf(trace: StoredTrace | null): Promise<ReadonlyMap<string, readonly LoggedEvent[]>> {
  const found = new Map<string, readonly LoggedEvent[]>();
  for await (const page of trace?.spans ?? [])
    if (!(page instanceof Uint8Array)) for (const span of page) note(span);
  return found;

  function note({ span_id: id, events }: StoredSpan): void {
    if (events !== undefined) found.set(id, events.map(toLogged));
  }
}

const toLogged = ({ name, body }: { readonly name: string; readonly body: JsonValue }): LoggedEvent => [
  name,
  body,
];

const loggedOf = (...logs: readonly LogRecord[]): readonly LoggedEvent[] =>
  logs.map(({ event_name, attributes, body }) => [
    event_name ?? (attributes['event.name'] as string),
    typeof body === 'string' || body === null ? body : JSON.stringify(body),
  ]);

/** Checks that all reads of the spans agree. */
async function agree(
  t: Test,
  { store }: OpenedTelemetry,
  tenant: string,
  traceId: string,
  expected: ReadonlyMap<string, readonly LoggedEvent[]>,
  what: string,
): Promise<void> {
  t.strictSame(await eventsOf(await store.runs.read(tenant, traceId)), expected, `${what}, in the trace`);
  const details = await store.runs.read(tenant, traceId, { details: true });
  t.strictSame(await eventsOf(details), expected, `${what}, with details`);
  for (const [span, events] of expected)
    t.strictSame((await store.runs.readSpan(tenant, traceId, span))?.events?.map(toLogged), events, what);
}

function checkLoggedEvents(t: Test, open: OpenTelemetry): void {
  for (const first of ['spans', 'logs'] as const)
    void t.test(`${first} first: a span without a payload gets the events with its ids`, async (t) => {
      const opened = await open(t, { fileRows: 9 });
      const tenant = await opened.addUser();
      const trace = aHeader();
      const id = trace.trace_id;
      const spans = Array.from({ length: 4 }, (_, i) => aSpanRecord(id, { started_at: NOON + i }));
      const [one = '', other = '', bare = ''] = spans.map((span) => span.span_id);
      const question = anEvent(id, one, 'user.message', { body: { content: 'hi' } });
      const answer = anEvent(id, one, 'choice', {
        event_name: null,
        attributes: { 'event.name': 'gen_ai.choice', n: 1 },
      });
      const earlier = anEvent(id, one, 'system.message', { timestamp: NOON - 5, body: null });
      const details = anEvent(id, other, 'client.inference.operation.details', {
        body: null,
        attributes: { 'gen_ai.input.messages': '[]' },
      });
      const ordinary = [
        anEvent(id, bare, 'user.message', { event_name: 'user.message' }),
        anEvent(id, bare, 'user.message', { event_name: null }),
        anEvent(id, bare, 'evaluation.result'),
        aLog({ trace_id: id, body: 'of the trace' }),
        aLog({ trace_id: randomUUID(), span_id: bare, event_name: 'gen_ai.choice' }),
      ];
      const sendSpans = async () => {
        for (const span of spans)
          await opened.store.writer.traces({ tenant, items: [{ trace, spans: [span] }] }, RECEIVED);
      };
      const sendLogs = async () => {
        for (const log of [answer, ...ordinary, question, details, earlier])
          await opened.store.writer.logs({ tenant, items: [log] }, RECEIVED);
      };
      await (first === 'spans' ? sendSpans() : sendLogs());
      await (first === 'spans' ? sendLogs() : sendSpans());
      const expected = new Map([
        [one, loggedOf(earlier, question, answer)],
        [other, loggedOf(details)],
      ]);
      for (const state of ['at once', 'moved', 'after a restart']) {
        await agree(t, opened, tenant, id, expected, state);
        if (state === 'at once') await opened.settled();
        else await opened.reopen();
      }
    });

  void t.test('returns attributes as sent', async (t) => {
    const { store, addUser } = await open(t);
    const tenant = await addUser();
    const trace = aHeader();
    const span = aSpanRecord(trace.trace_id);
    const attributes: JsonObject = { 'gen_ai.output.messages': [{ big: 12345678901234567890n }], é: null };
    const log = anEvent(trace.trace_id, span.span_id, 'client.inference.operation.details', { attributes });
    await store.writer.traces({ tenant, items: [{ trace, spans: [span] }] }, RECEIVED);
    await store.writer.logs({ tenant, items: [log] }, RECEIVED);
    const [event] = (await store.runs.readSpan(tenant, trace.trace_id, span.span_id))?.events ?? [];
    t.strictSame(event?.attributes, attributes);
    t.equal(event?.timestamp, log.timestamp);
  });

  void t.test('a span with its own payload gets no events, a partial payload gets all', async (t) => {
    const { store, addUser } = await open(t);
    const tenant = await addUser();
    const trace = aHeader();
    const id = trace.trace_id;
    const own = { input_data: { a: 1 }, output_data: { b: 2 } };
    const [whole, half] = [aSpanRecord(id, own), aSpanRecord(id, { input_data: { a: 1 } })];
    await store.writer.traces({ tenant, items: [{ trace, spans: [whole, half] }] }, RECEIVED);
    const logs = [whole, half].map((span) => anEvent(id, span.span_id, 'choice'));
    await store.writer.logs({ tenant, items: logs }, RECEIVED);
    const expected = new Map([[half.span_id, loggedOf(...logs.slice(1))]]);
    t.strictSame(await eventsOf(await store.runs.read(tenant, id)), expected);
    t.equal((await store.runs.readSpan(tenant, id, whole.span_id))?.events, undefined);
  });

  void t.test('a failed span with its own payload gets its exception', async (t) => {
    const opened = await open(t, { fileRows: 9 });
    const tenant = await opened.addUser();
    const trace = aHeader();
    const id = trace.trace_id;
    const whole = { input_data: { a: 1 }, output_data: { b: 1 } };
    const [failed, fine] = [aSpanRecord(id, { ...whole, status: 'failed' }), aSpanRecord(id, whole)];
    const exceptions = [failed, fine].map(({ span_id }) =>
      anEvent(id, span_id, 'client.operation.exception'),
    );
    await opened.store.writer.traces({ tenant, items: [{ trace, spans: [failed, fine] }] }, RECEIVED);
    await opened.store.writer.logs({ tenant, items: exceptions }, RECEIVED);
    const expected = new Map([[failed.span_id, loggedOf(...exceptions.slice(0, 1))]]);
    await agree(t, opened, tenant, id, expected, 'hot');
    await opened.settled();
    await agree(t, opened, tenant, id, expected, 'moved');
  });

  void t.test('log records of another user with the same ids do not apply', async (t) => {
    const opened = await open(t);
    const [anna, ben] = [await opened.addUser(), await opened.addUser()];
    const trace = aHeader();
    const span = aSpanRecord(trace.trace_id);
    const [hers, his] = ['hers', 'his'].map((body) =>
      anEvent(trace.trace_id, span.span_id, 'choice', { body }),
    );
    const write = async (tenant: string, log: LogRecord | undefined) => {
      const items = [{ trace, spans: [span] }];
      await opened.store.writer.traces({ tenant, items: structuredClone(items) }, RECEIVED);
      if (log) await opened.store.writer.logs({ tenant, items: [log] }, RECEIVED);
    };
    await write(anna, undefined);
    await write(ben, his);
    const none = new Map();
    t.strictSame(
      await eventsOf(await opened.store.runs.read(anna, trace.trace_id)),
      none,
      "only the second user's event",
    );
    await opened.store.writer.logs({ tenant: anna, items: hers ? [hers] : [] }, RECEIVED);
    for (const state of ['at once', 'moved']) {
      for (const [tenant, log] of [
        [anna, hers],
        [ben, his],
      ] as const) {
        const expected = new Map([[span.span_id, loggedOf(...(log ? [log] : []))]]);
        await agree(t, opened, tenant, trace.trace_id, expected, state);
      }
      await opened.settled();
    }
  });

  void t.test('returns the newest of many events and splits pages for them', async (t) => {
    const opened = await open(t, { fileRows: 20_000 });
    const tenant = await opened.addUser();
    const trace = aHeader();
    const id = trace.trace_id;
    const spans = Array.from({ length: 12 }, (_, i) => aSpanRecord(id, { started_at: NOON + i }));
    await opened.store.writer.traces({ tenant, items: [{ trace, spans }] }, RECEIVED);
    const [talkative] = spans;
    const body = 'x'.repeat(200);
    for (const span of spans) {
      const count = span === talkative ? 5000 : 900;
      const items = Array.from({ length: count }, () => anEvent(id, span.span_id, 'user.message', { body }));
      await opened.store.writer.logs({ tenant, items }, RECEIVED);
      if (span === talkative) {
        const last = anEvent(id, span.span_id, 'choice', { body: 'the last' });
        await opened.store.writer.logs({ tenant, items: [last] }, RECEIVED);
      }
    }
    for (const state of ['at once', 'moved']) {
      const trace = await opened.store.runs.read(tenant, id);
      const found: (readonly [string, number])[] = [];
      let last: JsonValue = null;
      for await (const page of trace?.spans ?? []) {
        if (page instanceof Uint8Array) continue;
        for (const { span_id, events = [] } of page) {
          found.push([span_id, events.length]);
          if (span_id === talkative?.span_id) last = events.at(-1)?.body ?? null;
        }
      }
      const counts = spans.map(({ span_id }, i) => [span_id, i === 0 ? 1000 : 900]);
      t.strictSame(found, counts, `every span once, in order, ${state}`);
      t.equal(last, 'the last');
      await opened.settled();
    }
  });
}

void t.test('events received as log records', (t) => onEveryTelemetry(t, checkLoggedEvents));
