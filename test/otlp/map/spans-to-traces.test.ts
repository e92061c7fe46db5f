import t from 'tap';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import type { Span, SpanEvent } from '../../../src/otlp/wire/requests.js';
import { mapSpan, mapSpans, PARENT, SPAN_ID, TRACE_ID } from '../../support/mapped-span.js';
import { spansToTraces } from '../../../src/otlp/map/spans-to-traces.js';
import { aSpan, START, tracesOf } from '../../support/otlp-requests.js';
import { aSpanRecord } from '../../support/run-records.js';

const START_MICROS = Number(START) / 1000;

const event = (name: string, attributes: Parameters<typeof toKeyValues>[0]): SpanEvent => ({
  name,
  attributes: toKeyValues(attributes),
});

void t.test('maps ids, times, kind and source of a span without a convention', async (t) => {
  const { batch, rejected } = mapSpans({
    resourceSpans: [
      {
        resource: {
          attributes: toKeyValues({
            'service.name': 'shop',
            'telemetry.sdk.language': 'go',
            'telemetry.sdk.version': '1.2',
          }),
        },
        scopeSpans: [
          {
            scope: { name: 'lib', version: '3' },
            spans: [
              aSpan(1, {
                kind: 2,
                traceState: 'a=b',
                flags: 257,
                startTimeUnixNano: '1768478400000000789',
                endTimeUnixNano: '1768478401500001000',
                attributes: toKeyValues({ a: 1, 'b.c': ['x', null], d: { e: false } }),
                droppedAttributesCount: 2,
                events: [
                  {
                    timeUnixNano: '1768478400000000001',
                    name: 'tick',
                    attributes: [],
                    droppedAttributesCount: 1,
                  },
                ],
                droppedEventsCount: 3,
                links: [
                  {
                    traceId: Buffer.alloc(16, 2),
                    spanId: Buffer.alloc(8, 3),
                    traceState: 'c=d',
                    flags: 1,
                    attributes: toKeyValues({ why: 'retry' }),
                  },
                ],
                droppedLinksCount: 4,
                status: { code: 1 },
              }),
            ],
          },
        ],
      },
    ],
  });
  t.strictSame(rejected, []);
  t.strictSame(batch, {
    tenant: 'a user',
    items: [
      {
        trace: {
          trace_id: TRACE_ID,
          agent: 'shop',
          kind: 'other',
          status: 'completed',
          started_at: START_MICROS,
          ended_at: START_MICROS + 1_500_001,
          duration_ms: 1500.001,
          success: null,
          outcome: null,
          error_message: null,
          total_tokens: null,
          total_cost_usd: null,
          metadata: {
            resource: {
              'service.name': 'shop',
              'telemetry.sdk.language': 'go',
              'telemetry.sdk.version': '1.2',
            },
          },
          sdk_version: 'go/1.2',
          environment: null,
          release: null,
          agent_version: null,
          repository: null,
          sample_rate: null,
          follows_spans: true,
          idle_timeout_ms: 3_600_000,
          orphan_wait_ms: null,
        },
        spans: [
          aSpanRecord(TRACE_ID, {
            span_id: SPAN_ID,
            type: 'agent',
            name: 'span 1',
            status: 'completed',
            started_at: START_MICROS,
            ended_at: START_MICROS + 1_500_001,
            duration_ms: 1500.000_211,
            metadata: {
              a: 1,
              'b.c': ['x', null],
              d: { e: false },
              resource: {
                'service.name': 'shop',
                'telemetry.sdk.language': 'go',
                'telemetry.sdk.version': '1.2',
              },
              scope: { name: 'lib', version: '3' },
              events: [
                { name: 'tick', timestamp: '2026-01-15T12:00:00.000000001Z', dropped_attributes_count: 1 },
              ],
              links: [
                {
                  trace_id: '02'.repeat(16),
                  span_id: '03'.repeat(8),
                  trace_state: 'c=d',
                  flags: 1,
                  attributes: { why: 'retry' },
                },
              ],
              otel: {
                trace_id: '01'.repeat(16),
                span_id: '01'.repeat(8),
                kind: 'server',
                trace_state: 'a=b',
                flags: 257,
                status_code: 1,
                start_nanos: 789,
                dropped_attributes_count: 2,
                dropped_events_count: 3,
                dropped_links_count: 4,
              },
            },
            agent_hint: { source: 'service.name', name: 'shop' },
            map_hint: '@',
            run_kind: 'other',
          }),
        ],
      },
    ],
  });
});

const BROKEN = { 'openinference.span.kind': 'TOOL', 'tool.status': 'error' };
const PYTHON_STACK = 'Traceback (most recent call last):\n\n  File "a.py", line 1, in f\n';

void t.test('maps status and error message', async (t) => {
  const exception = event('exception', {
    'exception.type': 'ValueError',
    'exception.message': 'no such city',
  });
  const timeout = event('exception', { 'exception.type': 'ReadTimeout', 'exception.message': 'after 5 s' });
  const cases: readonly (readonly [string, string | null, Partial<Span>, Parameters<typeof mapSpan>[0]?])[] =
    [
      ['completed', null, {}],
      ['completed', null, { status: { code: 1, message: 'fine' } }],
      ['completed', null, { events: [exception] }],
      [
        'failed',
        'ValueError: no such city',
        { status: { code: 2, message: 'refused' }, events: [exception] },
      ],
      [
        'failed',
        'refused',
        { status: { code: 2, message: 'refused' } },
        { 'http.response.status_code': 503 },
      ],
      ['failed', 'HTTP 503', { status: { code: 2 } }, { 'http.response.status_code': 503 }],
      ['failed', 'E', { status: { code: 2 } }, { 'http.response.status_code': 200, 'error.type': 'E' }],
      ['failed', 'said', { status: { code: 2 } }, { 'error.message': 'said', 'error.type': 'E' }],
      ['failed', null, { status: { code: 1 } }, { 'tool.status': 'error' }],
      ['failed', 'bang', { status: { code: 1 } }, { ...BROKEN, 'output.value': '[{"text": "bang"}]' }],
      ['failed', 'bang', { status: { code: 1 } }, { ...BROKEN, 'output.value': '{"error": "bang"}' }],
      ['completed', null, {}, { ...BROKEN, 'tool.status': 'success' }],
      ['failed', null, {}, { 'langfuse.observation.level': 'ERROR' }],
      ['failed', "ValueError('no')", { status: { code: 2, message: `ValueError('no')${PYTHON_STACK}` } }],
      ['failed', 'Error: no', { status: { code: 2, message: 'Error: no\n    at f (x.js:1:2)\n    at g' } }],
      ['failed', 'quota', { status: { code: 2, message: '{"error": {"code": 429, "message": "quota"}}' } }],
      ['failed', '{"error": {}}', { status: { code: 2, message: '{"error": {}}' } }],
      ['failed', 'two\nlines', { status: { code: 2, message: 'two\nlines' } }],
      ['failed', 'ValueError: no such city', { status: { code: 2 }, events: [timeout, exception] }],
      ['failed', 'E', { status: { code: 2 } }, { 'error.type': 'E' }],
      [
        'failed',
        'said',
        { status: { code: 2 } },
        { 'langfuse.observation.status_message': 'said', 'error.type': 'E' },
      ],
      ['failed', null, { status: { code: 2 } }],
      ['failed', 'x', { status: { code: 2, message: 'x' }, endTimeUnixNano: 0 }],
      ['timed_out', 'TimeoutError', { status: { code: 2 } }, { 'error.type': 'TimeoutError' }],
      ['timed_out', 'DEADLINE_EXCEEDED', {}, { 'error.type': 'DEADLINE_EXCEEDED' }],
      ['timed_out', 'ReadTimeout: after 5 s', { events: [exception, timeout] }],
      ['completed', null, { status: { code: 1 }, events: [timeout] }],
      ['running', null, { endTimeUnixNano: 0 }],
      ['running', null, { endTimeUnixNano: null }],
      ['running', null, {}, { 'logfire.span_type': 'pending_span' }],
    ];
  for (const [status, message, changes, attributes = {}] of cases) {
    const span = mapSpan(attributes, changes);
    t.strictSame([span.status, span.error_message], [status, message], JSON.stringify([changes, attributes]));
    t.equal(span.ended_at === null, status === 'running' || changes.endTimeUnixNano === 0);
  }
  t.equal(mapSpan({}, { status: { message: 'fine' } }).metadata?.['otel'] !== undefined, true);
  t.match(mapSpan({}, { status: { code: 1, message: 'fine' } }).metadata, {
    otel: { status_message: 'fine' },
  });
});

void t.test('rejects only invalid spans, with position and reason', async (t) => {
  const bad: readonly (readonly [Partial<Span>, RegExp])[] = [
    [{ traceId: null }, /traceId: must be 16 bytes/],
    [{ traceId: Buffer.alloc(16) }, /traceId: must be 16 bytes/],
    [{ traceId: Buffer.alloc(8, 1) }, /traceId: must be 16 bytes/],
    [{ spanId: undefined }, /spanId: must be 8 bytes/],
    [{ spanId: Buffer.alloc(8) }, /spanId: must be 8 bytes/],
    [{ spanId: Buffer.alloc(16, 1) }, /spanId: must be 8 bytes/],
    [{ parentSpanId: Buffer.alloc(7, 1) }, /parentSpanId: must be 8 bytes/],
    [{ startTimeUnixNano: null }, /startTimeUnixNano: is required/],
    [{ startTimeUnixNano: 0 }, /startTimeUnixNano: is required/],
    [{ startTimeUnixNano: '999' }, /startTimeUnixNano: is required/],
    [{ startTimeUnixNano: '18446744073709551615' }, /startTimeUnixNano: must be nanoseconds/],
    [{ startTimeUnixNano: 'soon' }, /startTimeUnixNano: must be nanoseconds/],
    [{ endTimeUnixNano: { low: -1, high: -1, unsigned: true } }, /endTimeUnixNano: must be nanoseconds/],
  ];
  const { batch, rejected } = mapSpans(
    tracesOf(aSpan(2), ...bad.map(([changes]) => aSpan(1, changes)), aSpan(3)),
  );
  t.equal(batch.items[0]?.spans.length, 2);
  t.equal(rejected.length, bad.length);
  bad.forEach(([, reason], i) => {
    const message = rejected[i] ?? '';
    t.match(message, reason);
    t.ok(message.startsWith(`/resourceSpans/0/scopeSpans/0/spans/${i + 1}/`), message);
  });
  t.strictSame(mapSpans({}), { batch: { tenant: 'a user', items: [] }, rejected: [] });
  t.strictSame(mapSpans({ resourceSpans: [{}, { scopeSpans: [{}] }] }).batch.items, []);
});

void t.test('moves an end before the start to the start and notes it', async (t) => {
  const span = mapSpan({}, { endTimeUnixNano: '1768478399000000001' });
  t.match(span, {
    ended_at: START_MICROS,
    duration_ms: 0,
    status: 'completed',
    metadata: { clock_skew: { ended_at: '2026-01-15T11:59:59.000000001Z' }, otel: { end_nanos: 1 } },
  });
  t.equal(mapSpan({}, { endTimeUnixNano: START }).metadata?.['clock_skew'], undefined);
});

void t.test('replaces times more than a day after their arrival and notes them', async (t) => {
  const DAY = 86_400_000_000;
  const mapped = (receivedAt: number, changes: Partial<Span>) =>
    spansToTraces(tracesOf(aSpan(1, changes)), { tenant: 'a user', idleTimeoutMs: null, receivedAt }).batch
      .items[0];
  const nanos = (micros: number) => `${micros}001`;
  const end = { endTimeUnixNano: nanos(START_MICROS + DAY + 1) };
  t.equal(mapped(START_MICROS + 1, end)?.spans[0]?.ended_at, START_MICROS + DAY + 1, 'clocks differ');
  const late = mapped(START_MICROS, end);
  t.match(late?.spans[0], {
    ended_at: START_MICROS,
    duration_ms: 0,
    metadata: { clock_skew: { ended_at: '2026-01-16T12:00:00.000001001Z' } },
  });
  t.match(late?.trace, { ended_at: START_MICROS, duration_ms: 0 });
  const [before] = [START_MICROS - 2 * DAY];
  const both = mapped(before, { startTimeUnixNano: START, ...end })?.spans[0];
  t.match(both, { started_at: before, ended_at: before, duration_ms: 0 });
  t.same(both?.metadata?.['clock_skew'], {
    started_at: '2026-01-15T12:00:00Z',
    ended_at: '2026-01-16T12:00:00.000001001Z',
  });
});

void t.test('a span that is its own parent is a root, and says so', async (t) => {
  const span = mapSpan({}, { parentSpanId: Buffer.alloc(8, 1) });
  t.match(span, { parent_span_id: null, metadata: { self_parent: true } });
  t.equal(mapSpan({}).metadata?.['self_parent'], undefined);
});

void t.test('a span with a remote parent that is missing is the root of its run', async (t) => {
  const flags = { none: 0, local: 0x101, remote: 0x301, unknown: 0x200 };
  const statuses = Object.entries(flags).map(([name, bits]) => {
    const [run] = mapSpans(tracesOf(aSpan(1, { parentSpanId: PARENT, flags: bits }))).batch.items;
    return [name, run?.trace.status, run?.spans[0]?.parent_is_remote];
  });
  t.same(statuses, [
    ['none', 'running', null],
    ['local', 'running', null],
    ['remote', 'completed', true],
    ['unknown', 'running', null],
  ]);
  const root = { flags: 0x301, attributes: toKeyValues({ success: false, outcome: 'lost' }) };
  const [judged] = mapSpans(tracesOf(aSpan(1, { ...root, parentSpanId: PARENT }))).batch.items;
  t.match(judged?.trace, { success: false, outcome: 'lost' });
});

void t.test('creates one record per trace, and a further one for repeated spans', async (t) => {
  const other = Buffer.alloc(16, 7);
  const { batch } = mapSpans(
    tracesOf(
      aSpan(1, { endTimeUnixNano: 0 }),
      aSpan(2, { traceId: other }),
      aSpan(3),
      aSpan(1, { name: 'again' }),
    ),
  );
  t.strictSame(
    batch.items.map(({ trace, spans }) => [
      trace.trace_id.slice(0, 2),
      trace.status,
      spans.map(({ name }) => name),
    ]),
    [
      ['01', 'running', ['span 1', 'span 3']],
      ['01', 'completed', ['again']],
      ['07', 'completed', ['span 2']],
    ],
  );
});

void t.test('the header takes success, outcome, session, user and tags from the root', async (t) => {
  const headerOf = (attributes: Parameters<typeof toKeyValues>[0], changes: Partial<Span> = {}) => {
    const root = aSpan(1, { attributes: toKeyValues(attributes), ...changes });
    const child = aSpan(2, {
      parentSpanId: Buffer.alloc(8, 1),
      attributes: toKeyValues({ success: false, outcome: 'of a step', 'session.id': 'of a step' }),
    });
    const { trace } = mapSpans(tracesOf(child, root)).batch.items[0] ?? {};
    return trace;
  };
  const evaluation = { 'gen_ai.evaluation.name': 'Success' };
  const cases: readonly (readonly [
    boolean | null,
    string | null,
    Parameters<typeof headerOf>[0],
    Partial<Span>?,
  ])[] = [
    [null, null, {}],
    [null, null, {}, { status: { code: 2 } }],
    [true, null, { success: true }],
    [false, 'refused', { success: 'False', outcome: 'refused' }],
    [true, null, { success: 1 }],
    [null, null, { success: 'maybe', outcome: ' ' }],
    [true, null, { ...evaluation, 'gen_ai.evaluation.score.value': 1 }],
    [false, 'fail', { ...evaluation, 'gen_ai.evaluation.score.label': 'fail' }],
    [null, null, { 'gen_ai.evaluation.name': 'relevance', 'gen_ai.evaluation.score.value': 1 }],
    [
      true,
      'pass',
      {},
      {
        events: [
          event('gen_ai.evaluation.result', { ...evaluation, 'gen_ai.evaluation.score.label': 'pass' }),
        ],
      },
    ],
  ];
  for (const [success, outcome, attributes, changes] of cases) {
    const trace = headerOf(attributes, changes);
    t.strictSame([trace?.success, trace?.outcome], [success, outcome], JSON.stringify([attributes, changes]));
  }
  t.strictSame(headerOf({ 'session.id': 's', 'user.id': 'u', 'tag.tags': ['a'] })?.metadata, {
    resource: {},
    session_id: 's',
    user_id: 'u',
    tags: ['a'],
  });
  const orphan = mapSpans(
    tracesOf(
      aSpan(1, { parentSpanId: PARENT, attributes: toKeyValues({ success: true, 'session.id': 's' }) }),
    ),
  );
  t.match(orphan.batch.items[0]?.trace, {
    status: 'running',
    ended_at: null,
    success: null,
    metadata: { session_id: 's' },
  });
});

void t.test('the topmost spans of a resource have its environment and release', async (t) => {
  const ofResource = (attributes: Parameters<typeof toKeyValues>[0], ...spans: Span[]) => ({
    resource: { attributes: toKeyValues(attributes) },
    scopeSpans: [{ scope: { name: 'lib' }, spans }],
  });
  const below = (n: number, parent: number, attributes = {}) =>
    aSpan(n, {
      traceId: Buffer.alloc(16, 1),
      parentSpanId: Buffer.alloc(8, parent),
      attributes: toKeyValues(attributes),
    });
  const { batch } = mapSpans({
    resourceSpans: [
      // The gateway's spans come last first, as they end.
      ofResource(
        { 'service.name': 'gateway', 'service.version': '3' },
        below(2, 1),
        aSpan(1, { attributes: toKeyValues({ 'vcs.ref.head.revision': 'abc' }) }),
      ),
      ofResource(
        { 'service.name': 'agent', 'service.version': 7, 'deployment.environment': ' live ', env: 'other' },
        below(4, 3),
        below(3, 2, { 'gen_ai.agent.version': 'a', 'deployment.environment.name': 'canary' }),
      ),
    ],
  });
  const [{ trace, spans } = { trace: undefined, spans: [] }] = batch.items;
  const versions = spans.map(({ context }) => [
    context?.environment,
    context?.release,
    context?.agent_version,
  ]);
  const none = [undefined, undefined, undefined];
  t.strictSame(versions, [none, [null, 'abc', null], none, ['canary', '7', 'a']]);
  t.match(trace, { environment: 'canary', release: 'abc', agent_version: 'a' });
});

void t.test('the version of an SDK is no release', async (t) => {
  const releaseOf = (resource: Parameters<typeof toKeyValues>[0]) => {
    const scopeSpans = [{ scope: { name: 'lib' }, spans: [aSpan(1)] }];
    const request = { resourceSpans: [{ resource: { attributes: toKeyValues(resource) }, scopeSpans }] };
    return mapSpans(request).batch.items[0]?.trace.release;
  };
  const mastra = { 'telemetry.sdk.name': '@mastra/otel-exporter', 'service.version': '1.71.0' };
  t.equal(releaseOf(mastra), null);
  t.equal(releaseOf({ ...mastra, 'vercel.sha': 'abc' }), 'abc');
  t.equal(releaseOf({ 'service.name': 'laminar-tracer-resource', 'service.version': '0.8' }), null);
  t.equal(releaseOf({ 'service.name': 'shop', 'service.version': '0.8' }), '0.8');
  t.equal(releaseOf({ 'service.version': '', 'langfuse.release': 'r1' }), 'r1');
});

void t.test('scores are in events and attributes of spans', (t) => {
  const NAME = 'gen_ai.evaluation.name';
  const VALUE = 'gen_ai.evaluation.score.value';
  const LABEL = 'gen_ai.evaluation.score.label';
  const result = (attributes: JsonObject) => event('gen_ai.evaluation.result', attributes);
  const cases: readonly (readonly [JsonObject, Partial<Span>, readonly object[] | null])[] = [
    [{ [NAME]: 'Tone' }, {}, null],
    [{ [VALUE]: 1, [LABEL]: 'pass' }, {}, null],
    [{ [NAME]: 'Tone', [VALUE]: 0.25 }, {}, [{ name: 'Tone', value: 0.25, label: null, comment: null }]],
    [{ [NAME]: ' Tone ', [VALUE]: ' -1.5e1 ' }, {}, [{ name: 'Tone', value: -15, label: null }]],
    [{ [NAME]: 'Tone', [VALUE]: true }, {}, [{ value: 1 }]],
    [{ [NAME]: 'Tone', [VALUE]: 'polite' }, {}, [{ value: null, label: 'polite' }]],
    [{ [NAME]: 'Tone', [VALUE]: '0x10', [LABEL]: 'good' }, {}, [{ value: null, label: 'good' }]],
    [{ [NAME]: 'Tone', [VALUE]: NaN }, {}, null],
    [
      { [NAME]: 'Tone', [VALUE]: 1, 'gen_ai.evaluation.explanation': 'Kind.', 'gen_ai.response.id': 'r-1' },
      {},
      [{ comment: 'Kind.', response_id: 'r-1', error_type: null }],
    ],
    // An error of the span is that of the evaluation only if there is no result.
    [{ [NAME]: 'Tone', [VALUE]: 1, 'error.type': 'timeout' }, {}, [{ error_type: null }]],
    [{ [NAME]: 'Tone', 'error.type': 'timeout' }, {}, [{ value: null, error_type: 'timeout' }]],
    [
      { [NAME]: 'Tone', [VALUE]: 1 },
      {
        events: [
          result({ [NAME]: 'Fluency', [VALUE]: 0 }),
          result({ [VALUE]: 3 }),
          event('other', { [NAME]: 'x' }),
        ],
      },
      [{ name: 'Tone' }, { name: 'Fluency', value: 0 }],
    ],
    [
      {},
      { events: Array.from({ length: 101 }, (_, i) => result({ [NAME]: 'Tone', [VALUE]: i })) },
      Array.from({ length: 100 }, (_, i) => ({ value: i })),
    ],
  ];
  const spanOf = (attributes: JsonObject, changes: Partial<Span>) =>
    mapSpans(tracesOf(aSpan(1, { attributes: toKeyValues(attributes), ...changes }))).batch.items[0]
      ?.spans[0];
  const scoresOf = (...args: Parameters<typeof spanOf>) => spanOf(...args)?.scores;
  for (const [attributes, changes, expected] of cases) {
    const scores = scoresOf(attributes, changes);
    const what = JSON.stringify(attributes);
    if (expected === null) t.equal(scores, null, what);
    else {
      t.match(scores, expected, what);
      t.equal(scores?.length, expected.length, what);
    }
  }
  // Some tracers send events as spans.
  const sent = spanOf(
    { [NAME]: 'Tone', [VALUE]: 1 },
    { name: 'gen_ai.evaluation.result', parentSpanId: PARENT },
  );
  t.equal(sent?.scores?.[0]?.span_id, sent?.parent_span_id, 'of the parent');
  const [first, second] = [1, 1].map(() => scoresOf({ [NAME]: 'Tone', [VALUE]: 1 }, {})?.[0]?.id);
  t.equal(first, second, 'a repeat has the same id');
  t.end();
});
