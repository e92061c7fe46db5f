import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { startApi, type TestApi } from '../../support/api.js';
import { aSpan, jsonOf, START, tracesOf } from '../../support/otlp-requests.js';

/** Trace 1 with span ids 1 and 2. */
const TRACE = '01010101-0101-0101-0101-010101010101';
const [CALL, WHOLE] = [1, 2].map(
  (number) => `01010101-0101-0101-${`0${number}`.repeat(2)}-${`0${number}`.repeat(6)}`,
);

interface Shown {
  readonly span_id: string;
  readonly input_data: JsonObject | null;
  readonly output_data: JsonObject | null;
}

const REQUESTS = {
  /** The second span has its own input. */
  traces: tracesOf(
    ...[1, 2].map((number) =>
      aSpan(number, {
        traceId: Buffer.alloc(16, 1),
        parentSpanId: null,
        name: 'chat gpt-4o-mini',
        attributes: toKeyValues({
          'gen_ai.operation.name': 'chat',
          ...(number === 2 && {
            'gen_ai.input.messages': [{ role: 'user', parts: [{ type: 'text', content: 'own' }] }],
          }),
        }),
      }),
    ),
  ),
  logs: {
    resourceLogs: [
      {
        scopeLogs: [
          {
            logRecords: [1, 2].flatMap((span) =>
              [
                [
                  'gen_ai.choice',
                  { index: 0, finish_reason: 'stop', message: { content: 'It is sunny.' } },
                  2,
                ],
                ['gen_ai.user.message', { content: 'Weather?' }, 1],
              ].map(([name, body, nanos]) => ({
                timeUnixNano: `${BigInt(START) + BigInt(Number(nanos) * 1_000_000)}`,
                traceId: Buffer.alloc(16, 1),
                spanId: Buffer.alloc(8, span),
                attributes: toKeyValues({ 'event.name': name as string }),
                body: { kvlistValue: { values: toKeyValues(body as JsonObject) } },
              })),
            ),
          },
        ],
      },
    ],
  },
} as const;

async function send(api: TestApi, signal: 'traces' | 'logs', key: string): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const body = jsonOf(REQUESTS[signal]);
  const { status } = await api.call('POST', `/otlp/v1/${signal}`, { body, headers, key });
  if (status !== 200) throw new Error(`the request was answered with ${status}`);
}

const asked = (content: string) => ({ messages: [{ role: 'user', content }] });
const ANSWER = { messages: [{ role: 'assistant', content: 'It is sunny.', finish_reason: 'stop' }] };

for (const order of [
  ['traces', 'logs'],
  ['logs', 'traces'],
] as const)
  void t.test(`${order[0]} first: log records provide input and output of spans`, async (t) => {
    const api = await startApi(t);
    const key = api.adminKey;
    for (const signal of order) await send(api, signal, key);
    const expected = new Map([
      [CALL, [asked('Weather?'), ANSWER]],
      [WHOLE, [asked('own'), ANSWER]],
    ]);
    const payloads = (spans: readonly Shown[]) =>
      new Map(spans.map(({ span_id, input_data, output_data }) => [span_id, [input_data, output_data]]));
    for (const include of ['', '?include=metadata']) {
      const { spans } = await api.get<{ spans: Shown[] }>(`/dashboard/traces/${TRACE}${include}`);
      t.strictSame(payloads(spans), expected, include);
    }
    for (const [id = '', payload] of expected) {
      const span = await api.get<Shown>(`/dashboard/traces/${TRACE}/spans/${id}`);
      t.strictSame([span.input_data, span.output_data], payload, 'single span');
    }
    const found = await api.get<{ items: { event_name: string; attributes: JsonObject }[] }>(
      `/dashboard/logs/search?trace_id=${TRACE}&details=true`,
    );
    t.strictSame(
      found.items.map(({ event_name }) => event_name).sort(),
      ['gen_ai.choice', 'gen_ai.choice', 'gen_ai.user.message', 'gen_ai.user.message'],
      'they remain log records',
    );
  });

void t.test('log records of another user are ignored', async (t) => {
  const api = await startApi(t);
  const { key: other } = await api.createUser('other@example.com', ['read', 'write']);
  await send(api, 'traces', api.adminKey);
  await send(api, 'logs', other);
  const span = await api.get<Shown>(`/dashboard/traces/${TRACE}/spans/${CALL ?? ''}`);
  t.strictSame([span.input_data, span.output_data], [null, null]);
});
