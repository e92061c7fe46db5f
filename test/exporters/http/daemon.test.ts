import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { startJsonEndpoint, type JsonEndpoint } from '../../support/json-endpoint.js';
import { metricValues } from '../../support/engine.js';
import { testFolder } from '../../support/test-folder.js';
import { anItem } from '../../support/trace-batch.js';

/** A daemon that sends events to an endpoint with two exporters and different bodies; one queues on disk. */
async function startSending(t: Test, endpoint: JsonEndpoint, directory: string, key?: string) {
  const daemon = await startTestDaemon(t, {
    directory,
    ...(key !== undefined && { key }),
    overlay: `
receivers:
  outbox: { types: [trace.failed, agent.created] }
processors:
  filter/failed: { events: ['event.type != "trace.failed"'] }
exporters:
  http/failed:
    url: ${endpoint.url}/failed/\${{ event.data.agent_name }}
    headers: { authorization: Bearer k, idempotency-key: '\${{ event.id }}' }
    body: { text: 'Failed: \${{ event.data.agent_name }}', why: '\${{ event.data.error_message }}', at: '\${{ event.timestamp }}' }
    targets: { allow_cidrs: [127.0.0.0/8] }
    retry: { initial_interval: 5ms, max_interval: 20ms }
    queue: { type: disk, directory: ${join(directory, 'queue')}, batch: { max_wait: 0s } }
  http/all:
    url: ${endpoint.url}/all
    format: json_array
    envelope: { events: '\${{ items }}' }
    body: '\${{ event.type }}'
    targets: { allow_cidrs: [127.0.0.0/8] }
    retry: { initial_interval: 5ms, max_interval: 20ms }
    queue: { batch: { max_wait: 0s } }
service:
  pipelines:
    events: { receivers: [outbox], processors: [filter/failed], exporters: [http/failed] }
    events/all: { receivers: [outbox], exporters: [http/all] }
`,
  });
  return { ...daemon, api: new ApiCaller(daemon.url, daemon.key) };
}

const failedRun = (agent: string, why: string) =>
  anItem({ trace: { agent, status: 'failed', error_message: why } });

/** The accepted bodies of a path, which the endpoint echoes. */
function bodiesAt(endpoint: JsonEndpoint, path: string): readonly Readonly<Record<string, unknown>>[] {
  return endpoint.requests
    .filter(({ line }) => line === `POST ${path}`)
    .map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>);
}

void t.test('events arrive as the templates define, despite receiver failures', async (t) => {
  const endpoint = await startJsonEndpoint(t);
  const failures = new Map<string, number>();
  // Each path fails twice in different ways before it succeeds.
  endpoint.answer = ({ line }) => {
    const count = failures.get(line) ?? 0;
    failures.set(line, count + 1);
    return { status: [503, 429][count] ?? 204 };
  };
  const { api, meter, daemon } = await startSending(t, endpoint, testFolder(t));
  await api.send([failedRun('support', 'no "answer"'), anItem({ trace: { agent: 'writer' } })]);
  const all = () =>
    bodiesAt(endpoint, '/all')
      .slice(2)
      .flatMap(({ events }) => events as readonly string[]);
  while (bodiesAt(endpoint, '/failed/support').length < 3 || all().length < 3)
    await endpoint.received(endpoint.requests.length + 1);

  const bodies = bodiesAt(endpoint, '/failed/support');
  t.equal(bodies.length, 3, 'retried until accepted, then never again');
  for (const body of bodies)
    t.match(body, { text: 'Failed: support', why: 'no "answer"', at: /^20\d\d-.*Z$/ });
  t.same(new Set(bodies.map(({ at }) => at)).size, 1);
  const keys = endpoint.requests
    .filter(({ line }) => line.includes('/failed/'))
    .map(({ headers }) => [headers.authorization, headers['idempotency-key']]);
  t.equal(new Set(keys.map(String)).size, 1, 'each attempt names the same event');
  t.match(keys[0], ['Bearer k', /^[0-9a-f-]{36}$/]);
  t.strictSame(
    all().toSorted(),
    ['agent.created', 'agent.created', 'trace.failed'],
    'the pipeline without the filter has all',
  );
  // All responses have arrived once the exporters have stopped.
  await daemon.shutdown();
  t.match(await metricValues(meter, 'jackdaw_http_exporter_requests_total'), {
    'jackdaw_http_exporter_requests_total{exporter="http/failed",result="refused"}': 2,
    'jackdaw_http_exporter_requests_total{exporter="http/failed",result="success"}': 1,
  });
});

void t.test('events queued on disk while the receiver is down arrive after a restart', async (t) => {
  const endpoint = await startJsonEndpoint(t);
  // Batches queued in memory are accepted, so that the stop does not wait.
  endpoint.answer = ({ line }) => ({ status: line.includes('/failed/') ? 500 : 200 });
  const directory = testFolder(t);
  const first = await startSending(t, endpoint, directory);
  await first.api.send([failedRun('support', 'a'), failedRun('writer', 'b')]);
  while (
    bodiesAt(endpoint, '/failed/support').length === 0 ||
    bodiesAt(endpoint, '/failed/writer').length === 0
  )
    await endpoint.received(endpoint.requests.length + 1);
  await first.daemon.shutdown();

  endpoint.answer = () => ({ status: 200 });
  const before = endpoint.requests.length;
  await startSending(t, endpoint, directory, first.key);
  await endpoint.received(before + 2);
  const after = endpoint.requests.slice(before).filter(({ line }) => line.includes('/failed/'));
  t.strictSame(after.map(({ line }) => line).toSorted(), ['POST /failed/support', 'POST /failed/writer']);
});
