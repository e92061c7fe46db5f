import { randomUUID } from 'node:crypto';
import fc, { type Arbitrary } from 'fast-check';
import t from 'tap';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { RUN_STATUSES, SPAN_TYPES } from '../../../src/signal/span.js';
import { startTestDaemon } from '../../support/daemon.js';
import { SEED } from '../../support/property.js';
import { TraceModel, toItem, type SentRun, type SentSpan } from '../../support/trace-model.js';
import { TracesClient } from '../../support/traces-client.js';

/** Few ids, so that traces, spans and users collide often. */
const TRACES = 3;
const SPANS = 6;
const USERS = 2;
const START_MS = Date.UTC(2026, 10, 3, 8, 15, 30, 250);

const maybe = <T>(arbitrary: Arbitrary<T>): Arbitrary<T | null> => fc.option(arbitrary, { freq: 2 });
const message = {
  status: fc.constantFrom(...RUN_STATUSES),
  durationMs: maybe(fc.nat(5000)),
  error_message: maybe(fc.string({ unit: 'grapheme', maxLength: 20 })),
  total_tokens: maybe(fc.nat(1_000_000)),
  costNanos: maybe(fc.nat(2_000_000_000)),
};
const payload: Arbitrary<JsonObject> = fc.dictionary(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.jsonValue({ depthSize: 'small', stringUnit: 'grapheme' }).map((value) => normalised(value)),
  { maxKeys: 3 },
);

const spanPlan = fc.record({
  ...message,
  span: fc.nat(SPANS - 1),
  // The parent is that many numbers below, so that no cycle arises; it may never arrive.
  parent: maybe(fc.nat(1)),
  type: fc.constantFrom(...SPAN_TYPES),
  name: fc.constantFrom('plan', 'answer', 'search'),
  model: maybe(fc.constantFrom('model-one', 'model-two')),
  input_tokens: maybe(fc.nat(1000)),
  output_tokens: maybe(fc.nat(1000)),
  input_data: maybe(payload),
  output_data: maybe(payload),
});

const FLAWS: Readonly<Record<string, { readonly error: RegExp; readonly make: (item: Item) => void }>> = {
  agent: { error: /^\/trace\/agent: /, make: ({ trace }) => (trace['agent'] = ' ') },
  time: { error: /^\/trace\/started_at: /, make: ({ trace }) => (trace['started_at'] = '2026-11-03') },
  end: {
    error: /^\/trace\/ended_at: /,
    make: ({ trace }) => (trace['ended_at'] = '2026-11-03T08:15:30.249Z'),
  },
  tokens: { error: /^\/trace\/total_tokens: /, make: ({ trace }) => (trace['total_tokens'] = -1) },
  foreign: {
    error: /^\/spans\/\d+\/trace_id: /,
    make: ({ trace, spans }) => spans.push(bareSpan({ trace_id: randomUUID() }, trace)),
  },
  twice: {
    error: /^\/spans\/\d+\/span_id: occurs twice/,
    make: ({ trace, spans }) => {
      const span = bareSpan({}, trace);
      spans.push(span, { ...span });
    },
  },
  type: {
    error: /^\/spans\/\d+\/type: /,
    make: ({ trace, spans }) => spans.push(bareSpan({ type: 'function' }, trace)),
  },
};

type Item = ReturnType<typeof toItem>;

const runPlan = fc.record({
  ...message,
  trace: fc.nat(TRACES - 1),
  agent: fc.constantFrom('researcher', 'writer'),
  success: maybe(fc.boolean()),
  outcome: maybe(fc.constantFrom('resolved', 'gave up')),
  metadata: maybe(payload),
  spans: fc.uniqueArray(spanPlan, { maxLength: SPANS, size: 'max', selector: ({ span }) => span }),
  flaw: fc.oneof(
    { weight: 4, arbitrary: fc.constant(null) },
    { weight: 1, arbitrary: fc.constantFrom(...Object.keys(FLAWS)) },
  ),
});

const requests = fc.array(
  fc.record({
    user: fc.nat(USERS - 1),
    runs: fc.array(runPlan, { minLength: 1, maxLength: 4, size: 'max' }),
  }),
  { minLength: 1, maxLength: 8, size: 'max' },
);

type RunPlan = typeof runPlan extends Arbitrary<infer Plan> ? Plan : never;

void t.test('responses match a simple model for any requests', async (t) => {
  const { url, key } = await startTestDaemon(t);
  const admin = new TracesClient(url, key);
  const check = async (sent: readonly { readonly user: number; readonly runs: readonly RunPlan[] }[]) => {
    const traceIds = Array.from({ length: TRACES }, () => randomUUID());
    const spanIds = Array.from({ length: SPANS }, () => randomUUID());
    const users = await Promise.all(
      Array.from({ length: USERS }, async () => ({
        client: new TracesClient(url, await admin.createUser()),
        model: new TraceModel(),
      })),
    );
    for (const { user, runs } of sent) {
      const sender = users[user];
      if (!sender) throw new Error('no such user');
      const errors: { readonly trace_id: string; readonly error: RegExp }[] = [];
      const items = runs.map((plan) => {
        const run = toRun(plan, traceIds, spanIds);
        const item = toItem(run);
        const flaw = plan.flaw === null ? undefined : FLAWS[plan.flaw];
        flaw?.make(item);
        if (flaw) errors.push({ trace_id: run.trace.trace_id, error: flaw.error });
        else sender.model.accept(run);
        return item;
      });
      const reply = await sender.client.sendTraces(items);
      same(reply.accepted, items.length - errors.length);
      same(reply.rejected, errors.length);
      same(
        reply.errors.map(({ trace_id }) => trace_id),
        errors.map(({ trace_id }) => trace_id),
      );
      reply.errors.forEach(({ error }, index) => {
        if (!errors[index]?.error.test(error))
          throw new Error(`"${error}" for ${String(errors[index]?.error)}`);
      });
    }
    for (const { client, model } of users) {
      for (const id of traceIds) same(await client.readTrace(id), model.show(id));
      const list = (await client.read('/api/v1/dashboard/traces')) as { readonly count: number };
      same(list.count, model.traceCount);
    }
  };
  const found = await fc.check(fc.asyncProperty(requests, check), {
    seed: SEED,
    numRuns: 30,
    interruptAfterTimeLimit: 20_000,
  });
  t.notOk(found.failed, found.failed ? (fc.defaultReportMessage(found) ?? 'it fails') : 'it holds');

  /** Like `strictSame` but throws, so that counterexamples can be shrunk. */
  function same(actual: unknown, expected: unknown): void {
    const [one, other] = [sorted(actual), sorted(expected)];
    if (one !== other) throw new Error(`the daemon says\n${one}\nand the model\n${other}`);
  }
});

function toRun(plan: RunPlan, traceIds: readonly string[], spanIds: readonly string[]): SentRun {
  const { trace, spans, durationMs, agent, status, success, outcome, metadata } = plan;
  const { error_message, total_tokens, costNanos } = plan;
  const startMs = START_MS + trace * 1000;
  return {
    trace: {
      agent,
      status,
      success,
      outcome,
      metadata,
      error_message,
      total_tokens,
      costNanos,
      trace_id: traceIds[trace] ?? '',
      startMs,
      endMs: durationMs === null ? null : startMs + durationMs,
    },
    spans: spans.map(({ span, parent, durationMs, ...rest }): SentSpan => {
      const startMs = START_MS + (span % 3) * 7;
      return {
        ...rest,
        span_id: spanIds[span] ?? '',
        parent_span_id: parent === null ? null : (spanIds[span - 1 - parent] ?? null),
        startMs,
        endMs: durationMs === null ? null : startMs + durationMs,
      };
    }),
  };
}

function bareSpan(changes: JsonObject, trace: JsonObject): JsonObject {
  const started_at = '2026-11-03T08:15:30Z';
  const whole = {
    span_id: randomUUID(),
    trace_id: trace['trace_id'] ?? '',
    type: 'tool',
    name: 'x',
    started_at,
  };
  return { ...whole, ...changes };
}

/** A value as parsed from JSON: without -0. */
function normalised(value: unknown): JsonObject[string] {
  return JSON.parse(JSON.stringify(value)) as JsonObject[string];
}

/** JSON text with sorted fields of the returned objects; payloads keep their order. */
function sorted(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return JSON.stringify(value, null, 1);
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(
    Object.fromEntries(
      fields.map(([name, field]: [string, unknown]) => [
        name,
        name === 'spans' ? (field as object[]).map((span) => JSON.parse(sorted(span)) as unknown) : field,
      ]),
    ),
    null,
    1,
  );
}
