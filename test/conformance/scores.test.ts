import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { callKey } from '../../src/signal/call-key.js';
import { EVALUATION_EVENT, scoreIn, type ScoreRecord } from '../../src/signal/score.js';
import type { JsonObject } from '../../src/signal/attributes.js';
import type { LogRecord } from '../../src/signal/log-record.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import { invariant } from '../../src/signal/checked.js';
import { formatTime } from '../../src/signal/time.js';
import { aLog } from '../support/log-records.js';
import { neverDiffers, same } from '../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../support/run-records.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON + 1 };

/** The attributes of an evaluation. */
function evaluation(name: string, more: JsonObject = {}): JsonObject {
  return { 'gen_ai.evaluation.name': name, 'gen_ai.evaluation.score.value': 0.5, ...more };
}

function ofSpan(traceId: string, spanId: string, attributes: JsonObject, at = NOON): ScoreRecord {
  return invariant(scoreIn(attributes, { trace_id: traceId, span_id: spanId, at }), 'score');
}

function logged(attributes: JsonObject, changes: Partial<LogRecord> = {}): LogRecord {
  return aLog({ timestamp: NOON, event_name: EVALUATION_EVENT, body: null, attributes, ...changes });
}

/** A call with the id of its response. */
function aCall(traceId: string, response: string, changes: object = {}) {
  const key = callKey({ scope: 'test', model: null, provider: null, response });
  return aSpanRecord(traceId, { call: { provider: null, usage: null, cost: null, key }, ...changes });
}

/** What the scores of a run say, without their ids. */
async function scoresOf({ store }: OpenedTelemetry, tenant: string, traceId: string) {
  const scores = await store.runs.scores(tenant, traceId);
  return scores.map((score) => Object.fromEntries(Object.entries(score).filter(([name]) => name !== 'id')));
}

const NONE = {
  ...{ response_id: null, label: null, comment: null, error_type: null, source: 'otlp' },
  ...{ session_id: null, metadata: null },
} as const;

function checkScores(t: Test, open: OpenTelemetry): void {
  void t.test('a session has the scores that name nothing else, each in its newest form', async (t) => {
    const opened = await open(t, { fileRows: 9 });
    const [tenant, other] = [await opened.addUser(), await opened.addUser()];
    const id = randomUUID();
    const named = { 'session.id': " it's 7 ", 'jackdaw.score.id': id.toUpperCase() };
    const metadata = { by: ['x', 2] };
    const write = async (items: readonly LogRecord[]): Promise<void> => {
      await opened.store.writer.logs({ tenant, items: [...items] }, RECEIVED);
    };
    const bare = { trace_id: null, span_id: null };
    await write([
      logged(evaluation('Solved', named), bare),
      logged(evaluation('Tone', { 'gen_ai.conversation.id': "it's 7" }), { ...bare, timestamp: NOON + 1 }),
      logged(evaluation('Solved', { ...named, 'jackdaw.score.id': randomUUID() }), {
        trace_id: randomUUID(),
      }),
      logged(evaluation('Solved', { 'session.id': "it's 7", 'gen_ai.response.id': 'resp-9' }), bare),
      logged(evaluation('Solved', { 'session.id': 'other' }), bare),
    ]);
    const last = {
      'gen_ai.evaluation.score.value': 1,
      'jackdaw.score.source': 'user',
      'jackdaw.score.metadata': metadata,
    };
    await write([logged(evaluation('Solved', { ...named, ...last }), bare)]);
    for (const state of ['at once', 'moved', 'after a restart']) {
      t.match(
        await opened.store.sessions.scores(tenant, "it's 7 "),
        [
          { id, name: 'Solved', value: 1, source: 'user', session_id: "it's 7", metadata },
          { name: 'Tone', value: 0.5, source: 'otlp', metadata: null },
        ],
        state,
      );
      t.equal((await opened.store.sessions.scores(tenant, "it's 7")).length, 2);
      t.same(await opened.store.sessions.scores(other, "it's 7"), []);
      await opened.settled();
      if (state === 'moved') await opened.reopen();
    }
  });

  for (const first of ['spans', 'logs'] as const)
    void t.test(`${first} first: a run shows the scores of every form, each once`, async (t) => {
      const opened = await open(t, { fileRows: 9 });
      const tenant = await opened.addUser();
      const other = await opened.addUser();
      const trace = aHeader();
      const id = trace.trace_id;
      const root = aSpanRecord(id, { type: 'agent' });
      const call = aCall(id, 'resp-1', { parent_span_id: root.span_id, started_at: NOON + 1 });
      const explained = evaluation('Relevance', {
        'gen_ai.evaluation.score.label': 'relevant',
        'gen_ai.evaluation.explanation': "It's on topic.",
      });
      root.scores = [ofSpan(id, root.span_id, explained)];
      const item: TraceRecord = { trace, spans: [root, call] };
      const logs = [
        logged(evaluation('Fluency'), { trace_id: id, span_id: call.span_id, timestamp: NOON + 2 }),
        logged(evaluation('Helpful', { 'gen_ai.evaluation.score.value': '-1e1' }), {
          trace_id: id,
          span_id: null,
          timestamp: NOON + 3,
        }),
        logged(evaluation('Tone', { 'gen_ai.response.id': 'resp-1' }), { timestamp: NOON + 4 }),
        logged(
          { 'gen_ai.evaluation.name': 'Safe', 'gen_ai.response.id': 'resp-1', 'error.type': 'timeout' },
          { timestamp: NOON + 5, event_name: null },
        ),
        // Of other runs, or none.
        logged(evaluation('Tone', { 'gen_ai.response.id': 'resp-2' })),
        logged(evaluation('Fluency'), { trace_id: randomUUID(), span_id: randomUUID() }),
        logged(evaluation('Fluency')),
        logged({}, { trace_id: id, span_id: root.span_id }),
        aLog({ trace_id: id, attributes: evaluation('Fluency') }),
      ];
      invariant(logs[3], 'record').attributes['event.name'] = EVALUATION_EVENT;
      const { writer } = opened.store;
      const sendSpans = async () => await writer.traces({ tenant, items: [item] }, RECEIVED);
      const sendLogs = async () => {
        for (const log of logs) await writer.logs({ tenant, items: [log] }, RECEIVED);
      };
      await (first === 'spans' ? sendSpans() : sendLogs());
      await (first === 'spans' ? sendLogs() : sendSpans());
      // Repeats of clients, and a score that arrives both as an event and as a record.
      await writer.traces({ tenant, items: [item] }, RECEIVED);
      await writer.logs(
        { tenant, items: logs.slice(0, 3).map((log) => ({ ...log, id: randomUUID() })) },
        RECEIVED,
      );
      await writer.logs(
        { tenant, items: [logged(explained, { trace_id: id, span_id: root.span_id })] },
        RECEIVED,
      );
      const ofCall = { ...NONE, span_id: call.span_id, value: 0.5 };
      const expected = [
        {
          ...NONE,
          span_id: root.span_id,
          name: 'Relevance',
          value: 0.5,
          label: 'relevant',
          comment: "It's on topic.",
          at: NOON,
        },
        { ...ofCall, name: 'Fluency', at: NOON + 2 },
        { ...ofCall, span_id: null, name: 'Helpful', value: -10, at: NOON + 3 },
        { ...ofCall, name: 'Tone', response_id: 'resp-1', at: NOON + 4 },
        { ...ofCall, name: 'Safe', value: null, error_type: 'timeout', response_id: 'resp-1', at: NOON + 5 },
      ];
      for (const state of ['at once', 'moved', 'after a restart']) {
        t.strictSame(await scoresOf(opened, tenant, id), expected, state);
        t.strictSame(
          await scoresOf(opened, tenant, id.toUpperCase()),
          expected,
          'whatever the case of its id',
        );
        t.strictSame(await scoresOf(opened, other, id), [], 'nothing of other users');
        if (state === 'at once') await opened.settled();
        else await opened.reopen();
      }
    });

  void t.test('a response that several spans report is that of the one that counts', async (t) => {
    const opened = await open(t);
    const tenant = await opened.addUser();
    const trace = aHeader();
    const wrapper = aCall(trace.trace_id, 'resp-3', { ended_at: NOON + 9 });
    const call = aSpanRecord(trace.trace_id, {
      ...aCall(trace.trace_id, 'resp-3', { ended_at: NOON + 8, started_at: NOON + 1 }),
      parent_span_id: wrapper.span_id,
      input_tokens: 5,
      output_tokens: 2,
    });
    const key = callKey({ scope: 'other', model: null, provider: null, response: 'resp-3' });
    call.call = { provider: null, usage: null, cost: null, key };
    await opened.store.writer.traces({ tenant, items: [{ trace, spans: [wrapper, call] }] }, RECEIVED);
    const log = logged(evaluation('Tone', { 'gen_ai.response.id': 'resp-3' }));
    await opened.store.writer.logs({ tenant, items: [log] }, RECEIVED);
    const [score] = await scoresOf(opened, tenant, trace.trace_id);
    t.equal(score?.span_id, call.span_id);
  });

  void t.test('a score named success decides about the run of its root', async (t) => {
    const opened = await open(t, { fileRows: 9 });
    const tenant = await opened.addUser();
    const trace = () => aHeader({ follows_spans: true, status: 'running' });
    type Send = (of: { trace: ReturnType<typeof aHeader>; root: string; child: string }) => Promise<unknown>;
    const spans =
      (...which: readonly ('root' | 'child')[]): Send =>
      async ({ trace, root, child }) => {
        const all = which.map((one) =>
          aSpanRecord(trace.trace_id, {
            span_id: one === 'root' ? root : child,
            parent_span_id: one === 'root' ? null : root,
            ended_at: NOON + 1,
          }),
        );
        await opened.store.writer.traces({ tenant, items: [{ trace, spans: all }] }, RECEIVED);
      };
    const remote =
      (success: boolean | null): Send =>
      async ({ trace, root, child }) => {
        const span = {
          span_id: child,
          parent_span_id: root,
          parent_is_remote: true,
          ended_at: NOON + 1,
        } as const;
        const outcome = success === null ? null : 'good';
        const item = { trace: { ...trace, success, outcome }, spans: [aSpanRecord(trace.trace_id, span)] };
        await opened.store.writer.traces({ tenant, items: [item] }, RECEIVED);
      };
    const rootSays: Send = async ({ trace, root }) => {
      const header = { ...trace, success: false, outcome: 'bad' };
      const span = aSpanRecord(trace.trace_id, { span_id: root, ended_at: NOON + 1 });
      await opened.store.writer.traces({ tenant, items: [{ trace: header, spans: [span] }] }, RECEIVED);
    };
    const reportedBySpan: Send = async ({ trace, root, child }) => {
      const attributes = { 'gen_ai.evaluation.name': 'success', ...fails };
      const span = aSpanRecord(trace.trace_id, { span_id: child, parent_span_id: root, ended_at: NOON + 1 });
      span.scores = [ofSpan(trace.trace_id, root, attributes)];
      await opened.store.writer.traces({ tenant, items: [{ trace, spans: [span] }] }, RECEIVED);
    };
    const verdict =
      (of: 'root' | 'child' | 'run', attributes: JsonObject): Send =>
      async ({ trace, root, child }) => {
        const span_id = of === 'run' ? null : of === 'root' ? root : child;
        const log = logged(
          { 'gen_ai.evaluation.name': 'Success', ...attributes },
          { trace_id: trace.trace_id, span_id },
        );
        await opened.store.writer.logs({ tenant, items: [log] }, RECEIVED);
      };
    const restart: Send = async () => {
      await opened.reopen();
    };
    const patch: Send = async ({ trace }) =>
      await opened.store.runs.setOutcome(tenant, trace.trace_id, { success: true });
    const fails = { 'gen_ai.evaluation.score.value': 0, 'gen_ai.evaluation.score.label': 'fail' };
    const passes = { 'gen_ai.evaluation.score.label': 'pass' };
    const cases: readonly (readonly [string, readonly Send[], boolean | null, string | null])[] = [
      ['after the run', [spans('root', 'child'), verdict('root', fails)], false, 'fail'],
      ['before the run', [verdict('root', passes), spans('root', 'child')], true, 'pass'],
      ['before the root', [spans('child'), verdict('root', fails), spans('root')], false, 'fail'],
      ['before a restart', [verdict('root', fails), restart, spans('child'), spans('root')], false, 'fail'],
      ['of the run', [verdict('run', fails), spans('child'), spans('root')], false, 'fail'],
      ['of a child', [spans('root', 'child'), verdict('child', fails), spans('root')], null, null],
      [
        'that says nothing',
        [spans('root'), verdict('root', { 'gen_ai.evaluation.score.value': 0.5 })],
        null,
        null,
      ],
      [
        'the last of equal times',
        [verdict('root', fails), spans('root'), verdict('root', passes)],
        true,
        'pass',
      ],
      ['that the run contradicts', [remote(null), verdict('root', passes), rootSays], false, 'bad'],
      ['an outcome of the user wins', [spans('root'), patch, verdict('root', fails)], true, null],
      ['also later', [verdict('root', fails), spans('root'), patch], true, 'fail'],
      ['replaces a provisional one', [remote(true), spans('root'), verdict('root', fails)], false, 'fail'],
      ['first, too', [verdict('root', fails), remote(true), spans('root')], false, 'fail'],
      ['of a remote span is provisional', [remote(null), verdict('child', passes), rootSays], false, 'bad'],
      ['and stays without another', [verdict('child', passes), remote(null), spans('root')], true, 'pass'],
      ['reported by a span', [spans('root'), reportedBySpan], false, 'fail'],
      ['reported before its root', [reportedBySpan, spans('root')], false, 'fail'],
    ];
    for (const [what, sends, success, outcome] of cases) {
      const of = { trace: trace(), root: randomUUID(), child: randomUUID() };
      for (const send of sends) await send(of);
      for (const state of ['at once', 'after a restart']) {
        const run = await opened.store.runs.read(tenant, of.trace.trace_id);
        t.strictSame([run?.success, run?.outcome], [success, outcome], `${what}, ${state}`);
        if (state === 'at once' && what.startsWith('before')) await opened.reopen();
      }
    }
  });

  void t.test('the newest verdict counts, in any order, with repeats and corrections', async (t) => {
    const opened = await open(t, { fileRows: 9 });
    const tenant = await opened.addUser();
    const orders = fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7], { minLength: 8 });
    await neverDiffers(
      t,
      { runs: 12, ms: 20_000 },
      [orders, fc.nat(7), fc.boolean()],
      async (order, repeated, restarts) => {
        const trace = aHeader({ follows_spans: true, status: 'running' });
        const { trace_id } = trace;
        const root = aSpanRecord(trace_id, { ended_at: NOON + 1 });
        const child = aSpanRecord(trace_id, { parent_span_id: root.span_id, ended_at: NOON + 1 });
        const ids = { corrected: randomUUID(), other: randomUUID(), child: randomUUID(), run: randomUUID() };
        const current = new Map<string, { readonly value: number; readonly at: number }>();
        let receivedAt = NOON;
        const judge = async (of: keyof typeof ids, value: number, at: number, span_id: string | null) => {
          const attributes = {
            'gen_ai.evaluation.name': 'success',
            'gen_ai.evaluation.score.value': value,
            'gen_ai.evaluation.score.label': `at ${at}`,
            'jackdaw.score.id': ids[of],
          };
          const items = [logged(attributes, { trace_id, span_id, timestamp: NOON + at })];
          await opened.store.writer.logs({ tenant, items }, { receivedAt: ++receivedAt });
          if (of !== 'child') current.set(of, { value, at });
        };
        const send = async (span: typeof root) =>
          await opened.store.writer.traces({ tenant, items: [{ trace, spans: [span] }] }, RECEIVED);
        const steps = [
          async () => send(root),
          async () => send(child),
          async () => judge('run', 0, 2, null),
          async () => judge('corrected', 1, 4, root.span_id),
          async () => judge('corrected', 0, 1, root.span_id),
          async () => judge('other', 1, 3, root.span_id),
          async () => judge('child', 0, 9, child.span_id),
          async () => (restarts ? opened.reopen() : undefined),
        ];
        for (const step of [...order, repeated]) await steps[step]?.();
        const run = await opened.store.runs.read(tenant, trace_id);
        const [newest] = [...current.values()].sort((one, other) => other.at - one.at);
        same([run?.success, run?.outcome], [newest?.value === 1, `at ${newest?.at}`]);
      },
    );
  });

  void t.test('of scores with one id in one request, the last counts in every read', async (t) => {
    const opened = await open(t, { fileRows: 9 });
    const tenant = await opened.addUser();
    const trace = aHeader();
    const { trace_id } = trace;
    const root = aSpanRecord(trace_id);
    const ids = { success: randomUUID(), Tone: randomUUID() };
    const form = (name: keyof typeof ids, value: number) =>
      evaluation(name, { 'gen_ai.evaluation.score.value': value, 'jackdaw.score.id': ids[name] });
    root.scores = [1, 0.25].map((value, i) => ofSpan(trace_id, root.span_id, form('Tone', value), NOON - i));
    await opened.store.writer.traces({ tenant, items: [{ trace, spans: [root] }] }, RECEIVED);
    const items = [1, 0].map((value, i) =>
      logged(form('success', value), { trace_id, span_id: null, timestamp: NOON - i }),
    );
    await opened.store.writer.logs({ tenant, items }, RECEIVED);
    for (const state of ['at once', 'after a restart']) {
      const scores = await opened.store.runs.scores(tenant, trace_id);
      t.same(Object.fromEntries(scores.map(({ name, value }) => [name, value])), { Tone: 0.25, success: 0 });
      t.equal((await opened.store.runs.read(tenant, trace_id))?.success, false, state);
      const listed = await opened.store.scores.ofRuns(tenant, [trace_id]);
      t.match(listed, [
        { name: 'Tone', scores: 1, mean: 0.25 },
        { name: 'success', scores: 1, mean: 0 },
      ]);
      if (state === 'at once') await opened.reopen();
    }
  });

  void t.test('a stored score is an event, once for each content', async (t) => {
    const opened = await open(t);
    const [tenant, other] = [await opened.addUser(), await opened.addUser()];
    const { events } = opened.control;
    const start = await events.open('test');
    const [traceId, id] = [randomUUID(), randomUUID()];
    const named = { 'jackdaw.score.id': id, 'jackdaw.score.source': 'user' };
    const send = async (attributes: JsonObject, changes: Partial<LogRecord> = {}, of = tenant) => {
      const log = logged(evaluation('Tone', { ...named, ...attributes }), { trace_id: traceId, ...changes });
      await opened.store.writer.logs({ tenant: of, items: [log] }, RECEIVED);
    };
    await send({}, { trace_id: randomUUID() });
    t.same((await events.read(start, { events: 9, bytes: 1e6 })).events, [], 'nobody wants it yet');
    await events.want('test', ['score.created'], opened.clock.now() + 60e6);

    const explained = { 'gen_ai.evaluation.explanation': 'x'.repeat(5000) };
    await send({});
    await send({}, { timestamp: NOON + 9 });
    await opened.reopen();
    await send({});
    await send({ 'gen_ai.evaluation.score.value': 1, ...explained });
    await send({}, {}, other);
    const span = aSpanRecord(traceId);
    span.scores = [ofSpan(traceId, span.span_id, evaluation('Fluency'))];
    const item = { trace: aHeader({ trace_id: traceId }), spans: [span] };
    for (let i = 0; i < 2; i++) await opened.store.writer.traces({ tenant, items: [item] }, RECEIVED);

    const read = await opened.control.events.read(start, { events: 9, bytes: 1e6 });
    const at = formatTime(NOON);
    const judged = { trace_id: traceId, span_id: null, response_id: null, session_id: null };
    const first = {
      id,
      name: 'Tone',
      value: 0.5,
      label: null,
      comment: null,
      error_type: null,
      source: 'user',
    };
    const found = read.events.map(({ tenant, event }) => {
      const { data } = JSON.parse(event.body) as { readonly data: unknown };
      return [tenant, event.type, data];
    });
    t.match(found, [
      [tenant, 'score.created', { ...first, ...judged, at }],
      [tenant, 'score.created', { ...first, value: 1, comment: /^x{4000,4096}/ }],
      [other, 'score.created', { ...first, ...judged }],
      [
        tenant,
        'score.created',
        { name: 'Fluency', source: 'otlp', trace_id: traceId, span_id: span.span_id },
      ],
    ]);
    t.equal(found.length, 4, 'no event for a repeat');
  });

  void t.test('a record without a time counts once, whenever it is repeated', async (t) => {
    const { store, addUser } = await open(t);
    const tenant = await addUser();
    const traceId = randomUUID();
    for (const receivedAt of [NOON, NOON + 7]) {
      const log = logged(evaluation('Tone'), { trace_id: traceId, timestamp: receivedAt, observed_at: null });
      await store.writer.logs({ tenant, items: [log] }, { receivedAt });
    }
    t.equal((await store.runs.scores(tenant, traceId)).length, 1);
  });
}

await onEveryTelemetry(t, checkScores);
