import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { startApi } from '../../support/api.js';
import { aSpan, jsonOf, START, tracesOf } from '../../support/otlp-requests.js';

/** Trace 1 with span ids 1 and 2. */
const TRACE = '01010101-0101-0101-0101-010101010101';
const [ROOT, CALL] = [1, 2].map(
  (number) => `01010101-0101-0101-${`0${number}`.repeat(2)}-${`0${number}`.repeat(6)}`,
);

interface Scored {
  readonly success?: boolean;
  readonly outcome?: string;
  readonly scores: readonly { readonly name: string; readonly span_id: string | null; readonly at: string }[];
}

const evaluation = (name: string, more: JsonObject = {}) =>
  toKeyValues({ 'gen_ai.evaluation.name': name, 'gen_ai.evaluation.score.value': 1, ...more });
const after = (seconds: number) => `${BigInt(START) + BigInt(seconds) * 1_000_000_000n}`;

const traces = tracesOf(
  aSpan(1, {
    traceId: Buffer.alloc(16, 1),
    parentSpanId: null,
    events: [
      {
        name: 'gen_ai.evaluation.result',
        timeUnixNano: after(1),
        attributes: evaluation('Relevance', { 'gen_ai.evaluation.explanation': 'On topic.' }),
      },
    ],
  }),
  aSpan(2, {
    traceId: Buffer.alloc(16, 1),
    parentSpanId: Buffer.alloc(8, 1),
    endTimeUnixNano: after(2),
    attributes: [
      ...toKeyValues({ 'gen_ai.operation.name': 'chat', 'gen_ai.response.id': 'resp-1' }),
      ...evaluation('Fluency', { 'gen_ai.evaluation.score.value': '0.25' }),
    ],
  }),
);
const logRecords = [
  {
    timeUnixNano: after(3),
    eventName: 'gen_ai.evaluation.result',
    traceId: Buffer.alloc(16, 1),
    spanId: Buffer.alloc(8, 1),
    attributes: evaluation('success', {
      'gen_ai.evaluation.score.value': 0,
      'gen_ai.evaluation.score.label': 'fail',
    }),
  },
  {
    timeUnixNano: after(4),
    attributes: evaluation('Tone', {
      'event.name': 'gen_ai.evaluation.result',
      'gen_ai.response.id': 'resp-1',
    }),
  },
];

for (const order of [
  ['traces', 'logs'],
  ['logs', 'traces'],
] as const)
  void t.test(`${order[0]} first: evaluations by OTLP are scores of runs and spans`, async (t) => {
    const api = await startApi(t);
    const requests = { traces, logs: { resourceLogs: [{ scopeLogs: [{ logRecords }] }] } };
    // A client that got no answer repeats everything.
    for (const signal of [...order, ...order]) {
      const headers = { 'content-type': 'application/json' };
      const body = jsonOf(requests[signal]);
      const { status } = await api.call('POST', `/otlp/v1/${signal}`, { body, headers, key: api.adminKey });
      t.equal(status, 200);
    }
    const expected = [
      { name: 'Relevance', span_id: ROOT, value: 1, label: null, comment: 'On topic.', source: 'otlp' },
      { name: 'Fluency', span_id: CALL, value: 0.25, response_id: 'resp-1' },
      { name: 'success', span_id: ROOT, value: 0, label: 'fail', comment: null, error_type: null },
      { name: 'Tone', span_id: CALL, value: 1, response_id: 'resp-1' },
    ];
    for (const path of ['', '?include=metadata', '/spans']) {
      const run = await api.get<Scored>(`/dashboard/traces/${TRACE}${path}`);
      t.match(run, { success: false, outcome: 'fail', scores: expected }, path);
      t.equal(run.scores.length, expected.length);
      t.equal(
        run.scores[0]?.at,
        new Date(Number(BigInt(after(1)) / 1_000_000n)).toISOString().replace('.000', ''),
      );
    }
    const span = await api.get<Scored>(`/dashboard/traces/${TRACE}/spans/${String(CALL)}?max_bytes=1024`);
    t.strictSame(
      span.scores.map(({ name }) => name),
      ['Fluency', 'Tone'],
    );
  });
