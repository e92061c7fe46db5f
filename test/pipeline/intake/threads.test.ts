import type { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { ApiCaller } from '../../support/api-caller.js';
import { ChaosLoad } from '../../support/chaos-load.js';
import { startTestDaemon, type TestDaemon } from '../../support/daemon.js';
import { metricValues } from '../../support/engine.js';
import { aSpan as anOtlpSpan, jsonOf, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { anItem } from '../../support/trace-batch.js';
import { watchWorkers } from '../../support/watch-workers.js';
import { checkStoredOnce } from '../../chaos/stored-once.js';

/** Kills of threads; `npm run test:chaos` sets more. */
const KILLS = Number(process.env['JACKDAW_TEST_KILLS'] ?? 5);
const ITEMS = 2000;

// Killed threads take some time to start again.
t.setTimeout(0);

const START = 1_768_478_400_000_000_000n;

interface Sent {
  readonly path: string;
  readonly type: string;
  readonly body: string | Uint8Array;
}

const JSON_TYPE = 'application/json';
const PROTOBUF = 'application/x-protobuf';

function logs(count: number, text = 'line'): string {
  const logRecords = Array.from({ length: count }, (_, number) => ({
    timeUnixNano: String(START + BigInt(number)),
    body: { stringValue: `${text} ${number}` },
  }));
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
}

const bad = anOtlpSpan(2, { spanId: Buffer.alloc(3) });
/** Above the monthly limit. */
const TOO_MANY: Sent = { path: '/v1/logs', type: JSON_TYPE, body: logs(300) };
const REQUESTS: readonly Sent[] = [
  { path: '/v1/traces', type: JSON_TYPE, body: jsonOf(tracesOf(anOtlpSpan(1), bad)) },
  { path: '/v1/traces', type: PROTOBUF, body: new Uint8Array(protobufOf('traces', tracesOf(anOtlpSpan(3)))) },
  { path: '/v1/traces', type: JSON_TYPE, body: '{"resourceSpans":3}' },
  { path: '/v1/traces', type: JSON_TYPE, body: '{' },
  { path: '/v1/traces', type: PROTOBUF, body: Uint8Array.of(10, 255, 255, 1) },
  { path: '/v1/logs', type: JSON_TYPE, body: logs(3) },
  // Refused before it reaches the store, because the usage is known.
  TOO_MANY,
  { path: '/v1/logs', type: JSON_TYPE, body: logs(50_001) },
  {
    path: '/v1/metrics',
    type: JSON_TYPE,
    body: JSON.stringify({
      resourceMetrics: [
        {
          scopeMetrics: [
            {
              metrics: [
                { name: 'a', gauge: { dataPoints: [{ timeUnixNano: String(START), asDouble: 1 }] } },
                { name: '', gauge: { dataPoints: [{ timeUnixNano: String(START), asDouble: 1 }] } },
              ],
            },
          ],
        },
      ],
    }),
  },
];

const OVERLAY = `
processors: { quota: { monthly_events: 200, count: [spans, log_records, metric_points] } }
`;

function threads(count: number, more = ''): string {
  return `${more}\nservice: { intake: { threads: ${count}, max_task_time: 10s } }`;
}

async function post(daemon: TestDaemon, { path, type, body }: Sent): Promise<string> {
  const response = await fetch(`${daemon.otlpUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': type, authorization: `Bearer ${daemon.key}` },
    body,
  });
  const text = Buffer.from(await response.arrayBuffer()).toString('latin1');
  const quota = response.headers.get('x-quota-remaining') ?? '';
  return `${path} ${response.status} ${quota} ${text}`.replace(/"\d+s"/, 'DELAY');
}

/** Sends everything to a daemon. @returns the answers, and what it counts and stores */
async function outcome(t: Test, count: number) {
  const daemon = await startTestDaemon(t, { overlay: threads(count, OVERLAY) });
  const api = new ApiCaller(daemon.url, daemon.key);
  const answers: string[] = [];
  for (const sent of REQUESTS) answers.push(await post(daemon, sent));
  const users = await api.get<readonly { readonly id: string }[]>('/admin/users');
  await api.call('PATCH', `/admin/users/${users[0]?.id ?? ''}`, { json: { monthly_event_limit: 1000 } });
  answers.push(await post(daemon, TOO_MANY));
  const item = anItem({ spans: 2 });
  const invalid = anItem({ trace: { agent: 3 } });
  const batch = await fetch(`${daemon.url}/api/v1/traces/batch`, {
    method: 'POST',
    headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${daemon.key}` },
    body: JSON.stringify({ traces: [item, invalid] }),
  });
  answers.push(`${batch.status} ${(await batch.text()).replaceAll(/[0-9a-f-]{36}/g, 'ID')}`);
  const { text } = await daemon.meter.print();
  const counted = text
    .split('\n')
    .filter((line) => /^jackdaw_(receiver|processor|exporter|otlp|trace_batch|cost)_\w+_total/.test(line))
    // Series of zero exist in one of them earlier than in the other.
    .filter((line) => !line.endsWith(' 0'))
    .sort();
  const { edges } = await api.get<{ readonly edges: readonly { readonly p99_ms: unknown }[] }>('/daemon');
  const usage = await api.get<object>('/usage');
  const rejected = await api.get<{ readonly items: readonly { readonly at?: unknown }[] }>(
    '/dashboard/rejections',
  );
  const flow = edges.map((edge) => ({ ...edge, p99_ms: 0 }));
  return {
    answers,
    counted,
    flow,
    usage,
    rejected: rejected.items.map((each) => ({ ...each, at: 0, trace_id: '' })),
  };
}

void t.test('answers, counts and stores the same in threads as on the main thread', async (t) => {
  const there = await outcome(t, 2);
  t.strictSame(there, await outcome(t, 0));
  t.match(
    there.answers.filter((answer) => answer.startsWith('/v1/logs')),
    [/ 200 /, / 429 /, / 413 /, / 200 /],
  );
});

type Outcomes = Readonly<Record<'offered' | 'accepted' | 'refused' | 'failed', number>>;

/** Checks that every item that was offered has an outcome, on edges and in metrics. */
async function checkOutcomes(t: Test, { meter }: TestDaemon, api: ApiCaller): Promise<void> {
  const { edges } = await api.get<{ readonly edges: readonly Outcomes[] }>('/daemon');
  for (const { offered, accepted, refused, failed } of edges) t.equal(accepted + refused + failed, offered);
  const { offered = {}, ...outcomes } = Object.fromEntries(
    await Promise.all(
      ['offered', 'accepted', 'refused', 'failed'].map(async (outcome) => {
        const counted = await Promise.all(
          ['receiver', 'processor', 'exporter'].map((kind) =>
            metricValues(meter, `jackdaw_${kind}_${outcome}_`),
          ),
        );
        const entries = counted.flatMap((values) => Object.entries(values));
        return [
          outcome,
          Object.fromEntries(entries.map(([key, value]) => [key.replace(outcome, ''), value])),
        ];
      }),
    ),
  ) as Readonly<Record<string, Readonly<Record<string, number>>>>;
  t.ok(Object.keys(offered).length > 0);
  for (const [key, count] of Object.entries(offered))
    t.equal(
      Object.values(outcomes).reduce((sum, values) => sum + (values[key] ?? 0), 0),
      count,
      key,
    );
}

/** The running intake threads. */
function intakeOf(workers: readonly Worker[]): readonly Worker[] {
  return workers.filter(
    ({ threadId, resourceLimits }) => threadId > 0 && resourceLimits?.maxOldGenerationSizeMb === 1024,
  );
}

void t.test('a request that takes too long is refused, and the next one finds a new thread', async (t) => {
  const overlay = 'service: { intake: { threads: 1, max_task_time: 300ms } }';
  const daemon = await startTestDaemon(t, { overlay });
  const heavy = await post(daemon, {
    path: '/v1/logs',
    type: JSON_TYPE,
    body: logs(45_000, 'some words '.repeat(60)),
  });
  t.match(heavy, / 400 .*takes too much time or memory; send smaller batches/);
  let next = '';
  // The new thread may be busy with its start.
  for (let i = 0; i < 20 && !next.includes(' 200 '); i++)
    next = await post(daemon, { path: '/v1/logs', type: JSON_TYPE, body: logs(3) });
  t.match(next, / 200 /);
  t.ok(Object.keys(await metricValues(daemon.meter, 'jackdaw_intake_ended_threads_total')).length > 0);
  t.match(daemon.logs.join('\n'), /An intake thread ended and is replaced.*time/);
});

/** Log records, with an event from which a run is made: they are passed on once the run is stored. */
function logsWithRun(text: string): string {
  const event = { 'event.name': 'claude_code.api_request', 'prompt.id': 'p', model: 'm', input_tokens: 1 };
  const record = (more: object) => ({ timeUnixNano: String(START), ...more });
  const logRecords = [record({ attributes: toKeyValues(event) }), record({ body: { stringValue: text } })];
  return JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] });
}

void t.test('a request whose second step takes too long is refused', async (t) => {
  const redacts = Array.from({ length: 40 }, (_, index) => `redact/${index}`);
  const overlay = `
processors: { ${redacts.map((id) => `${id}: { builtin: [email, phone] }`).join(', ')} }
service:
  intake: { threads: 1, max_task_time: 300ms }
  pipelines: { logs: { processors: [${redacts.join(', ')}] } }`;
  const daemon = await startTestDaemon(t, { overlay });
  const text = 'call 555-123-4567 or write to a.b@example.com, '.repeat(40_000);
  const heavy = await post(daemon, { path: '/v1/logs', type: JSON_TYPE, body: logsWithRun(text) });
  t.match(heavy, / 400 .*takes too much time or memory/);
});

void t.test(
  'nothing acknowledged is lost, and everything is stored once, when threads are killed',
  async (t) => {
    const workers = watchWorkers(t);
    const daemon = await startTestDaemon(t, { overlay: threads(2, 'auth: { enabled: false }') });
    // Without names, a repeat of a request that was refused although it is stored would store it twice.
    const load = new ChaosLoad(() => daemon.otlpUrl, ITEMS, 10, false);
    for (let kill = 1; kill <= KILLS; kill++) {
      await Promise.race([load.reached((kill * ITEMS * 3) / (KILLS + 1)), load.done]);
      const running = intakeOf(workers);
      t.ok(running.length > 0);
      await running[kill % running.length]?.terminate();
    }
    await load.done;
    const api = new ApiCaller(daemon.url, daemon.key);
    await checkStoredOnce(t, api, load, ITEMS);
    await checkOutcomes(t, daemon, api);
  },
);
