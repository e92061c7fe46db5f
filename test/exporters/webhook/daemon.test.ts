import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { testFolder } from '../../support/test-folder.js';
import { anItem } from '../../support/trace-batch.js';
import { until } from '../../support/until.js';
import { AUTHORITY } from '../../support/webhook-certificates.js';
import { answerText, startReceiver, type Receiver } from '../../support/webhook-receiver.js';
import { VERIFIERS } from '../../support/webhook-verifiers.js';

const ENDPOINTS = '/org/default/webhooks/endpoints';

interface Endpoint {
  readonly id: string;
  readonly secret: string;
}

interface Envelope {
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const eventsAt = ({ requests }: Receiver): readonly Envelope[] =>
  requests.map(({ body }) => JSON.parse(body.toString()) as Envelope);

void t.test('delivers failed runs, pauses a broken endpoint and notifies the others', async (t) => {
  const good = await startReceiver(t, (socket) => socket.write(answerText('200 OK')));
  const bad = await startReceiver(t, (socket) => socket.write(answerText('500 Broken')));
  const directory = testFolder(t);
  const caFile = join(directory, 'authority.pem');
  writeFileSync(caFile, AUTHORITY);
  const targets = { allow_cidrs: ['127.0.0.1/32'], ca_file: caFile };
  const webhook = { targets, breaker_threshold: 3, max_concurrency_per_endpoint: 1, retry_schedule: ['1h'] };
  const overlay = JSON.stringify({ exporters: { webhook } });
  const { url, key, daemon, logs, metricsUrl } = await startTestDaemon(t, { directory, overlay });
  const api = new ApiCaller(url, key);
  const create = async ({ port }: Receiver, event_types: readonly string[]): Promise<Endpoint> => {
    const json = { url: `https://127.0.0.1:${port}/`, event_types };
    const created = await api.call('POST', ENDPOINTS, { json });
    t.equal(created.status, 201);
    return created.body as Endpoint;
  };
  const kept = await create(good, ['trace.failed', 'webhook.endpoint.disabled']);
  const broken = await create(bad, ['trace.failed']);

  const runs = Array.from({ length: 5 }, () => anItem({ trace: { agent: 'reader', status: 'failed' } }));
  for (const run of runs) await api.send([run]);
  await until('all came, and the notice', () => good.requests.length === 6);
  const events = eventsAt(good);
  t.same(
    new Set(events.filter(({ type }) => type === 'trace.failed').map(({ data }) => data['trace_id'])),
    new Set(runs.map(({ trace }) => trace.trace_id)),
  );
  const notice = events.find(({ type }) => type === 'webhook.endpoint.disabled');
  t.match(notice?.data, { endpoint_id: broken.id, consecutive_failures: 3 });
  const [request] = good.requests;
  for (const [name, verify] of VERIFIERS)
    t.doesNotThrow(
      () => verify({ headers: request?.headers ?? {}, body: request?.body.toString() ?? '' }, kept.secret),
      name,
    );

  const endpoints = await api.get<readonly object[]>(ENDPOINTS);
  t.match(endpoints, [
    { id: broken.id, is_active: false, consecutive_failures: 3 },
    { id: kept.id, is_active: true, consecutive_failures: 0 },
  ]);
  t.equal(bad.requests.length, 3);
  const metrics = await (await fetch(`${metricsUrl}/metrics`)).text();
  t.match(metrics, /jackdaw_webhook_attempts_total{exporter="webhook",result="refused"} 3\n/);
  t.match(metrics, /jackdaw_webhook_endpoints_paused_total{exporter="webhook"} 1\n/);

  t.strictSame((await daemon.shutdown()).errors, []);
  for (const secret of [kept.secret, broken.secret]) t.notOk(logs.join('\n').includes(secret));
});
