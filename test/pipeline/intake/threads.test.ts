import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { ApiCaller } from '../../support/api-caller.js';
import { ChaosLoad } from '../../support/chaos-load.js';
import { runInProcess } from '../../support/cli.js';
import { startTestDaemon, type TestDaemon } from '../../support/daemon.js';
import { metricValues } from '../../support/engine.js';
import { aSpan as anOtlpSpan, jsonOf, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { anItem } from '../../support/trace-batch.js';
import { until } from '../../support/until.js';
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
processors:
  quota: { monthly_events: 200, count: [spans, log_records, metric_points] }
  filter: { spans: ['span.metadata.padding > 5'] }
service:
  pipelines: { traces: { processors: [validation, filter, quota, cost, service_map] } }
`;

const TOOLS = 4;
/** Two such requests are as much as one thread has ahead. */
const PADDING = 'x'.repeat(200 * 1024);

/** A tool's call whose execution failed, as Claude Code reports it: in two spans, the first of which is sent earlier. */
function toolSpan(tool: number, isPart: boolean): Sent {
  const [call, part] = [tool + 100, tool + 200];
  const own = isPart
    ? {
        spanId: Buffer.alloc(8, part),
        parentSpanId: Buffer.alloc(8, call),
        status: { code: 2, message: 'exit 1' },
      }
    : { spanId: Buffer.alloc(8, call) };
  const name = isPart ? 'claude_code.tool.execution' : 'claude_code.tool';
  const attributes = toKeyValues({ padding: PADDING });
  const spans = [anOtlpSpan(1, { ...own, traceId: Buffer.alloc(16, call), name, attributes })];
  const scope = { name: 'com.anthropic.claude_code.tracing' };
  const body = jsonOf({ resourceSpans: [{ scopeSpans: [{ scope, spans }] }] });
  return { path: '/v1/traces', type: JSON_TYPE, body };
}

/** Sends the spans of several calls, so that a call and its execution come to different threads. @returns the calls as stored */
async function toolCalls(daemon: TestDaemon, api: ApiCaller): Promise<readonly unknown[]> {
  const tools = Array.from({ length: TOOLS }, (_, tool) => tool);
  await Promise.all(tools.map(async (tool) => post(daemon, toolSpan(tool, true))));
  await Promise.all(tools.toReversed().map(async (tool) => post(daemon, toolSpan(tool, false))));
  return Promise.all(
    tools.map(async (tool) => {
      const id = Buffer.alloc(16, tool + 100).toString('hex');
      const uuid = id.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
      const { spans } = await api.get<{
        readonly spans: readonly { readonly name: string; readonly status: string }[];
      }>(`/dashboard/traces/${uuid}`);
      return spans.map(({ name, status }) => `${name} ${status}`).sort();
    }),
  );
}

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
  const daemon = await startTestDaemon(t, { overlay: `${OVERLAY}  intake: { threads: ${count} }` });
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
  const tools = await toolCalls(daemon, api);
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
  const warned = daemon.logs.filter((line) => line.includes('An expression failed')).length;
  const pricesRead = daemon.logs.filter((line) => line.includes('Prices read')).length;
  return {
    answers,
    tools,
    warned,
    pricesRead,
    counted,
    flow,
    usage,
    rejected: rejected.items.map((each) => ({ ...each, at: 0, trace_id: '' })),
  };
}

void t.test('answers, counts and stores the same in threads as on the main thread', async (t) => {
  const there = await outcome(t, 2);
  t.strictSame(there, await outcome(t, 0));
  t.strictSame(there.tools[0], ['claude_code.tool failed', 'claude_code.tool.execution failed']);
  t.equal(there.warned, 1, 'although the condition fails in both threads');
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

/** A log record of a model call in a run of a program. @param ids of the span that it was logged in */
function modelCall(request: string, ids?: { readonly traceId: string; readonly spanId: string }): Sent {
  const event = { 'event.name': 'claude_code.api_request', 'prompt.id': 'p', model: 'm', input_tokens: 1 };
  const attributes = toKeyValues({ ...event, request_id: request });
  const logRecords = [{ timeUnixNano: String(START), attributes, ...ids }];
  return {
    path: '/v1/logs',
    type: JSON_TYPE,
    body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
  };
}

void t.test('a tap shows what threads process, and a run continues meanwhile', async (t) => {
  const daemon = await startTestDaemon(t, { overlay: threads(2) });
  const traceId = '11112222333344445555666677778888';
  t.match(await post(daemon, modelCall('first', { traceId, spanId: '1122334455667788' })), / 200 /);
  let isOver = false;
  const edge = ['--pipeline', 'logs', '--from', 'receiver:otlp', '--limit', '1'];
  const tapped = runInProcess(['tap', ...edge, '--url', daemon.url, '--key', daemon.key]);
  void tapped.finally(() => (isOver = true));
  await until('an item is tapped', async () => {
    if (!isOver) await post(daemon, modelCall('second'));
    return isOver;
  });
  const { code, stdout } = await tapped;
  t.equal(code, 0);
  t.match(JSON.parse(stdout), {
    signal: 'logs',
    outcome: 'taken',
    item: { attributes: { request_id: 'second' } },
  });
  const run = await new ApiCaller(daemon.url, daemon.key).get<{ readonly spans: readonly object[] }>(
    '/dashboard/traces/11112222-3333-4444-5555-666677778888',
  );
  t.equal(run.spans.length, 2, 'of both events, although the second does not name the run');
});

void t.test('a new thread knows what the last one has learned', async (t) => {
  const workers = watchWorkers(t);
  const daemon = await startTestDaemon(t, { overlay: threads(1) });
  const api = new ApiCaller(daemon.url, daemon.key);
  const traceId = '11112222333344445555666677778888';
  await post(daemon, modelCall('first', { traceId, spanId: '1122334455667788' }));
  await post(daemon, toolSpan(1, true));
  for (const worker of intakeOf(workers)) await worker.terminate();
  const retried = async (sent: Sent) => {
    await until('a thread accepts it', async () => (await post(daemon, sent)).includes(' 200 '));
  };
  await retried(modelCall('second'));
  await retried(toolSpan(1, false));
  const spansOf = async (id: string) =>
    (await api.get<{ readonly spans: readonly { readonly status: string }[] }>(`/dashboard/traces/${id}`))
      .spans;
  t.equal((await spansOf('11112222-3333-4444-5555-666677778888')).length, 2);
  t.match(await spansOf('65656565-6565-6565-6565-656565656565'), [
    { status: 'failed' },
    { status: 'failed' },
  ]);
});

void t.test('new threads know what the replaced ones learn from their last requests', async (t) => {
  const overlay = threads(1, `processors: { filter: { logs: ['log.body == "none"'] } }`);
  const daemon = await startTestDaemon(t, {
    overlay: `${overlay.slice(0, -1)}, pipelines: { logs: { processors: [validation, filter] } } }`,
  });
  // Until these are processed, the thread does not know of the run, but its successor has started.
  const heavy: Sent = { path: '/v1/logs', type: JSON_TYPE, body: logs(10_000, 'some words '.repeat(20)) };
  const traceId = '11112222333344445555666677778888';
  const early = Array.from({ length: 8 }, async () => post(daemon, heavy));
  const waiting = async () =>
    Object.values(await metricValues(daemon.meter, 'jackdaw_intake_queue_requests'))[0] ?? 0;
  await until('several wait', async () => (await waiting()) >= 4);
  early.push(post(daemon, modelCall('first', { traceId, spanId: '1122334455667788' })));
  writeFileSync(
    join(daemon.directory, 'reload.yaml'),
    `processors: { filter: { logs: ['log.body == "other"'] } }`,
  );
  t.match(await daemon.daemon.reload(), { result: 'applied' });
  for (const answer of await Promise.all(early)) t.match(answer, / 200 /);
  t.match(await post(daemon, modelCall('second')), / 200 /);
  const { spans } = await new ApiCaller(daemon.url, daemon.key).get<{ readonly spans: readonly object[] }>(
    '/dashboard/traces/11112222-3333-4444-5555-666677778888',
  );
  t.equal(spans.length, 2);
});

void t.test('a reload exchanges threads, and no request fails or is lost', async (t) => {
  const workers = watchWorkers(t);
  const overlay = `
processors: { filter: { logs: ['log.body == "none"'] } }
service:
  pipelines: { logs: { processors: [validation, filter] } }
  intake: { threads: 2 }`;
  const daemon = await startTestDaemon(t, { overlay });
  const api = new ApiCaller(daemon.url, daemon.key);
  let sent = 0;
  let isOver = false;
  const failures: string[] = [];
  const senders = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      sent++;
      const answer = await post(daemon, { path: '/v1/logs', type: JSON_TYPE, body: logs(1, 'kept') });
      if (!answer.includes(' 200 ')) failures.push(answer);
    }
  });
  const before = intakeOf(workers);
  for (const body of ['first', 'second', 'third']) {
    writeFileSync(
      join(daemon.directory, 'reload.yaml'),
      `processors: { filter: { logs: ['log.body == "${body} 0"'] } }`,
    );
    t.match(await daemon.daemon.reload(), {
      result: 'applied',
      changed: ['processor "filter" in pipeline "logs"'],
    });
    const dropped = { path: '/v1/logs', type: JSON_TYPE, body: logs(1, body) };
    t.match(await post(daemon, dropped), / 200 /);
  }
  isOver = true;
  await Promise.all(senders);
  t.strictSame(failures, []);
  const stored = await api.get<{ readonly count: number }>(
    '/dashboard/logs/search?start=2026-01-01T00:00:00Z',
  );
  t.equal(stored.count, sent);
  t.ok(
    before.every(({ threadId }) => threadId === -1),
    'the first threads have ended',
  );
  await until('the last ones run alone', () => intakeOf(workers).length === 2);
  t.match(await daemon.daemon.reload(), { result: 'unchanged' });
  const { pipelines } = await api.get<{ readonly pipelines: readonly object[] }>('/daemon');
  t.match(
    pipelines.find((pipeline) => 'name' in pipeline && pipeline.name === 'logs'),
    { threaded_receivers: ['otlp'] },
  );
});

void t.test('a request that waits for a thread is dropped when its client disconnects', async (t) => {
  const daemon = await startTestDaemon(t, { overlay: threads(1) });
  const heavy = { path: '/v1/logs', type: JSON_TYPE, body: logs(20_000, 'some words '.repeat(20)) };
  const busy = post(daemon, heavy);
  const valueOf = async (metric: string) => Object.values(await metricValues(daemon.meter, metric))[0];
  await until('the thread has it', async () => (await valueOf('jackdaw_otlp_requests_in_flight')) === 1);
  const client = new AbortController();
  const left = fetch(`${daemon.otlpUrl}/v1/logs`, {
    method: 'POST',
    headers: { 'content-type': JSON_TYPE, authorization: `Bearer ${daemon.key}` },
    body: logs(1, 'left'),
    signal: client.signal,
  });
  left.catch(() => undefined);
  await until('it waits', async () => (await valueOf('jackdaw_intake_queue_requests')) === 1);
  client.abort();
  t.match(await busy, / 200 /);
  t.match(await post(daemon, { path: '/v1/logs', type: JSON_TYPE, body: logs(1, 'later') }), / 200 /);
  const api = new ApiCaller(daemon.url, daemon.key);
  const found = async (query: string) =>
    (
      await api.get<{ readonly items: readonly unknown[] }>(
        `/dashboard/logs/search?query=${query}&start=2026-01-01T00:00:00Z`,
      )
    ).items.length;
  t.equal(await found('later'), 1);
  t.equal(await found('left'), 0);
});

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
