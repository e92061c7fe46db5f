import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { ApiCaller } from '../support/api-caller.js';
import { startTestDaemon } from '../support/daemon.js';
import { startMails } from '../support/mail-server.js';
import { testFolder } from '../support/test-folder.js';
import { anItem, type Item } from '../support/trace-batch.js';
import { until } from '../support/until.js';
import { AUTHORITY } from '../support/webhook-certificates.js';
import { answerText, startReceiver, type Receiver } from '../support/webhook-receiver.js';
import { VERIFIERS } from '../support/webhook-verifiers.js';

interface AlertEvents {
  readonly count: number;
  readonly items: readonly {
    readonly id: string;
    readonly notifications: readonly { readonly channel: string; readonly status: string }[];
  }[];
}

interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
}

const envelopesAt = ({ requests }: Receiver): readonly Envelope[] =>
  requests.map(({ body }) => JSON.parse(body.toString()) as Envelope);

function aRun(status: string, agent = 'planner'): Item {
  const now = new Date().toISOString();
  return anItem({ trace: { agent, status, success: undefined, started_at: now, ended_at: now } });
}

void t.test('an alert fires, notifies each channel once and respects its cooldown', async (t) => {
  const ownHook = await startReceiver(t, (socket) => socket.write(answerText('200 OK')));
  const orgHook = await startReceiver(t, (socket) => socket.write(answerText('200 OK')));
  const mails = await startMails(t);
  const directory = testFolder(t);
  const caFile = join(directory, 'authority.pem');
  writeFileSync(caFile, AUTHORITY);
  const targets = { allow_cidrs: ['127.0.0.1/32'], ca_file: caFile };
  const overlay = JSON.stringify({
    auth: { bootstrap_email: 'ops@example.org' },
    smtp: { host: '127.0.0.1', port: mails.port, from: 'Jackdaw <jackdaw@example.org>' },
    exporters: { webhook: { targets }, alerts: { interval: '1s', targets } },
  });
  const first = await startTestDaemon(t, { directory, overlay });
  const api = new ApiCaller(first.url, first.key);
  t.strictSame(await api.get('/me/alert-secret'), { exists: false, created_at: null });
  const rotated = await api.call('POST', '/me/alert-secret');
  t.equal(rotated.status, 200);
  const { secret, created_at } = rotated.body as { readonly secret: string; readonly created_at: string };
  t.strictSame(await api.get('/me/alert-secret'), { exists: true, created_at });
  const endpoint = await api.call('POST', '/org/default/webhooks/endpoints', {
    json: { url: `https://127.0.0.1:${orgHook.port}/`, event_types: ['alert.fired'] },
  });
  t.equal(endpoint.status, 201);
  await api.send([aRun('completed')]);
  const [agent] = await api.get<readonly { readonly id: string }[]>('/agents');
  const created = await api.call('POST', '/alerts', {
    json: {
      agent_id: agent?.id,
      type: 'failure_rate',
      threshold: 0.5,
      channel: 'both',
      webhook_url: `https://127.0.0.1:${ownHook.port}/alerts?token=private`,
    },
  });
  t.match(created, {
    status: 201,
    body: { agent_name: 'planner', cooldown_minutes: 60, last_fired_at: null },
  });
  const { id } = created.body as { readonly id: string };
  const events = (): Promise<AlertEvents> => api.get(`/alerts/${id}/events`);

  // Half of the runs failed, which equals the threshold and does not exceed it.
  await api.send([aRun('failed')]);
  const tried = await api.call('POST', `/alerts/${id}/test`);
  t.match(tried, { status: 200, body: { value: 0.5, threshold: 0.5, sample_count: 2, verdict: 'not_met' } });
  t.equal((await events()).count, 0);
  await api.send([aRun('timed_out')]);
  await until('it has fired', async () => (await events()).count === 1);
  await until('all events are emitted', async () =>
    (await events()).items.every(({ notifications }) =>
      notifications.every(({ status }) => status === 'sent'),
    ),
  );
  await until('the organization is notified', () => orgHook.requests.length === 1);

  const [event] = (await events()).items;
  t.match(event, { threshold: 0.5, resolved_at: null });
  t.same(new Set(event?.notifications.map(({ channel }) => channel)), new Set(['email', 'webhook']));
  const [own] = envelopesAt(ownHook);
  t.match(own, {
    id: event?.id,
    type: 'alert.fired',
    data: {
      alert_id: id,
      type: 'failure_rate',
      agent_id: agent?.id,
      agent_name: 'planner',
      target_service: null,
      threshold: 0.5,
      sample_count: 3,
      repeat: 0,
      conditions: [{ type: 'failure_rate', source: 'ai', threshold: 0.5, met: true }],
    },
  });
  t.match(envelopesAt(orgHook), [{ type: 'alert.fired', data: own?.data ?? {} }]);
  const [request] = ownHook.requests;
  for (const [name, verify] of VERIFIERS)
    t.doesNotThrow(
      () => verify({ headers: request?.headers ?? {}, body: request?.body.toString() ?? '' }, secret),
      name,
    );
  t.match(mails.received, [{ id: `<${event?.id ?? ''}.alert@example.org>`, to: ['ops@example.org'] }]);
  const alert = await api.get<{ readonly last_fired_at: string }>(`/alerts/${id}`);
  t.ok(alert.last_fired_at);

  // New evidence and a restart, but it is within the cooldown.
  await api.send([aRun('failed')]);
  t.strictSame((await first.daemon.shutdown()).errors, []);
  const second = await startTestDaemon(t, { directory, overlay, key: first.key });
  const again = new ApiCaller(second.url, second.key);
  await again.send([aRun('failed')]);
  await until('it was evaluated', async () =>
    /evaluated_rules_total{exporter="alerts"} [1-9]/.test(
      await (await fetch(`${second.metricsUrl}/metrics`)).text(),
    ),
  );
  t.match(await again.get(`/alerts/${id}/events`), { count: 1 });
  t.match(await again.call('POST', `/alerts/${id}/test`), {
    body: { value: 0.8, verdict: 'met', sample_count: 5 },
  });
  t.equal((await again.call('DELETE', `/alerts/${id}`)).status, 204);
  t.equal((await again.call('GET', `/alerts/${id}/events`)).status, 404);
  t.strictSame((await second.daemon.shutdown()).errors, []);
  t.equal(ownHook.requests.length, 1);
  t.equal(mails.received.length, 1);
  for (const logs of [first.logs, second.logs])
    for (const hidden of [secret, 'private']) t.notOk(logs.join('\n').includes(hidden), hidden);
});
