import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import type { Static } from 'typebox';
import type { Status } from '../../../src/component/status.js';
import { SecretBoxes } from '../../../src/auth/secret-boxes.js';
import type { SecretBox } from '../../../src/component/secret-box.js';
import type { Host } from '../../../src/component/host.js';
import type { SmtpSettings } from '../../../src/component/smtp.js';
import { generateSecret } from '../../../src/delivery/senders/webhook/signature.js';
import { AlertsExporter } from '../../../src/exporters/alerts/alerts-exporter.js';
import { alertsConfig, checkAlerts } from '../../../src/exporters/alerts/config.js';
import { alertsExporter } from '../../../src/exporters/alerts/factory.js';
import { reportStore } from '../../../src/exporters/alerts/alerts-exporter.js';
import { uuidV7 } from '../../../src/signal/ids.js';
import { alertSecretOwner } from '../../../src/storage/contracts/alerts.js';
import type { SqlControlStore } from '../../../src/storage/control/sql-control-store.js';
import { aUser } from '../../storage/duckdb/meta-records.js';
import { hostThatKeeps, TestStore } from '../../storage/duckdb/test-store.js';
import { aDecision, addRule } from '../../support/kept-rules.js';
import { componentSettings } from '../../support/component-settings.js';
import { startMails } from '../../support/mail-server.js';
import { firedEnvelope } from '../../support/placed-notices.js';
import { aTrace } from '../../support/run-records.js';
import { sectionConfig } from '../../support/section-config.js';
import { TickingClock } from '../../support/ticking-clock.js';
import { until } from '../../support/until.js';
import { AUTHORITY } from '../../support/webhook-certificates.js';
import { answerText, startReceiver } from '../../support/webhook-receiver.js';
import { VERIFIERS } from '../../support/webhook-verifiers.js';

const ALL = { offset: 0, limit: 10 };
const NOW = AbortSignal.abort();

const configOf = (yaml = ''): Static<typeof alertsConfig> => sectionConfig(alertsConfig, yaml);

const smtpAt = (port: number): SmtpSettings => ({
  ...{ host: '127.0.0.1', port, secure: false, requireTls: false, login: null },
  from: 'jackdaw@example.com',
});

/** The two stores used by the exporter. */
interface Stores {
  readonly opened: TestStore;
  readonly control: SqlControlStore;
  readonly secrets: SecretBox;
}

async function openStores(t: Test): Promise<Stores> {
  const opened = await TestStore.open(t);
  return {
    opened,
    secrets: new SecretBoxes({ key: Buffer.alloc(32, 'k').toString('base64') }).at(null),
    // Replaced when the stores are reopened.
    get control() {
      return opened.control;
    },
  };
}

function hostOf(stores: Stores, smtp: SmtpSettings | null = null): Host {
  return {
    ...hostThatKeeps(stores.opened.statuses),
    secretBox: () => stores.secrets,
    smtp,
    extension: (id, isWanted) => {
      const found: unknown = id === 'sqlite' ? stores.control : stores.opened.store;
      if (!isWanted(found)) throw new Error(`${id} is not what was wanted`);
      return found;
    },
  };
}

/** An exporter that may send to 127.0.0.1, where all names resolve. */
function newExporter(t: Test, { opened }: Stores, id = 'alerts') {
  const authority = join(dirname(opened.path), 'authority.pem');
  writeFileSync(authority, AUTHORITY);
  const settings = componentSettings(id);
  const config = configOf(`targets: { allow_cidrs: [127.0.0.1/32], ca_file: ${JSON.stringify(authority)} }`);
  const exporter = new AlertsExporter(
    { ...settings, clock: new TickingClock(t), config },
    { random: () => 0.5, resolve: async () => [{ address: '127.0.0.1', family: 4 }] },
  );
  t.teardown(() => exporter.shutdown(NOW));
  return { exporter, ...settings };
}

void t.test('uses defaults', async (t) => {
  t.strictSame(configOf(), {
    store: 'duckdb',
    control: 'sqlite',
    interval: '30s',
    window: '60m',
    min_samples: 1,
    timezone: 'UTC',
    targets: { allow_cidrs: [] },
  });
  t.strictSame(checkAlerts(configOf()), []);
  t.strictSame(checkAlerts(configOf('{ interval: 1s, timezone: America/St_Johns }')), []);
});

void t.test('the schema rejects invalid values', async (t) => {
  for (const yaml of ['interval: soon', 'min_samples: 0', 'min_samples: 1.5', 'targets: { allow: [] }'])
    t.throws(() => configOf(yaml), yaml);
  const removed = `webhook_signing_secret: ${generateSecret()}`;
  t.throws(
    () => configOf(removed),
    /Remove the key and get the secret with POST \/api\/v1\/me\/alert-secret/,
  );
});

void t.test('reports other invalid values with their position', async (t) => {
  for (const [yaml, path, message] of [
    ['interval: 999ms', '/interval', /must be at least 1s/],
    ['window: 0s', '/window', /must be greater than 0s/],
    ['window: 367d', '/window', /must not be longer than 366d/],
    ['timezone: Europe/Berlim', '/timezone', /"Europe\/Berlim" is not a time zone/],
    ['timezone: ""', '/timezone', /"" is not a time zone/],
    [
      'targets: { allow_cidrs: [10.0.0.0/8, 10.0.0.1] }',
      '/targets/allow_cidrs/1',
      /"10\.0\.0\.1" is not a range/,
    ],
  ] as const)
    t.match(checkAlerts(configOf(yaml)), [{ path, message }], yaml);
  t.strictSame(alertsExporter.resources?.(configOf('targets: { ca_file: ca.pem }')), [
    { kind: 'readable_file', path: 'ca.pem' },
  ]);
});

void t.test('accepts any batch and can be stopped unstarted', async (t) => {
  const exporter = alertsExporter.create({ ...componentSettings('alerts'), config: configOf() });
  const context = { receivedAt: 0 };
  t.strictSame(Object.keys(exporter.inputs), ['traces', 'metrics']);
  t.strictSame(await exporter.inputs.traces?.consume({ tenant: 'somebody', items: [] }, context), {
    accepted: 0,
    refused: [],
  });
  await exporter.shutdown?.(NOW);
  await exporter.shutdown?.(NOW);
});

void t.test('evaluates rules soon after the other exporters have a batch', async (t) => {
  const stores = await openStores(t);
  const userId = await stores.opened.addUser();
  const { exporter } = newExporter(t, stores);
  await exporter.start(hostOf(stores));
  const service = { agent_id: null, agent_name: null, target_service: 'planner', threshold: 0.5 };
  const rule = await addRule(stores.control, userId, service);
  const now = Date.now() * 1000;
  const items = [aTrace(0, { agent: 'planner', status: 'failed', started_at: now, ended_at: now })];
  const context = { receivedAt: now };
  // Does not wait for the store: the exporter sees the batch before the store has it.
  const answered = stores.opened.store.writer
    .traces({ tenant: userId, items: [...items] }, context)
    .then(() => undefined);
  const batch = { tenant: userId, items };
  await exporter.inputs.traces?.consume(batch, { ...context, answered });
  t.equal(batch.items.length, 1, 'the list is unchanged');
  await until(
    'it has fired',
    async () => ((await stores.control.alerts.read(userId, rule.alert.id))?.incident ?? null) !== null,
  );
  await exporter.shutdown(NOW);
});

void t.test('publishes its targets and evaluation settings while running', async (t) => {
  const stores = await openStores(t);
  const { exporter, meter, logger } = newExporter(t, stores);
  await exporter.start(hostOf(stores));
  const published = () => stores.control.settings.all(Date.now() * 1000);
  const alerting = { windowMs: 3_600_000, minSamples: 1, timezone: 'UTC' };
  t.strictSame(await published(), [{ targets: { allow_cidrs: ['127.0.0.1/32'] }, alerting, canMail: false }]);
  t.match(logger.lines.join('\n'), /No mail server is configured/);
  const second = newExporter(t, stores, 'alerts/second').exporter;
  await t.rejects(
    second.start(hostOf(stores)),
    /The alerts of "duckdb" are evaluated by exporter "alerts" already: use that exporter in all pipelines, or name another store/,
  );
  await second.shutdown(NOW);
  await until('the first evaluation', async () =>
    /alerts_evaluation_duration_seconds_count{exporter="alerts"} [1-9]/.test((await meter.print()).text),
  );
  await exporter.shutdown(AbortSignal.timeout(5000));
  t.strictSame(await published(), []);
  const { text } = await meter.print();
  for (const name of ['evaluated_rules_total', 'fired_total', 'resolved_total', 'evaluation_failures_total'])
    t.match(text, new RegExp(`jackdaw_alerts_${name}{exporter="alerts"} 0\n`), name);
  t.match(text, /jackdaw_alerts_notifications_total{exporter="alerts",channel="email",status="skipped"} 0\n/);
  const third = newExporter(t, stores, 'alerts/third').exporter;
  await third.start(hostOf(stores));
  await third.shutdown(NOW);
});

void t.test('an unusable CA file stops the start without side effects', async (t) => {
  const stores = await openStores(t);
  const file = join(dirname(stores.opened.path), 'empty.pem');
  writeFileSync(file, '');
  const config = configOf(`targets: { ca_file: ${JSON.stringify(file)} }`);
  const exporter = new AlertsExporter({ ...componentSettings('alerts/other'), config });
  await t.rejects(exporter.start(hostOf(stores)), /empty\.pem \(targets\.ca_file\) contains no certificate/);
  await exporter.shutdown(NOW);
  const next = newExporter(t, stores).exporter;
  await next.start(hostOf(stores));
  await next.shutdown(NOW);
});

void t.test('the store is healthy if evaluation and notices report so', async (t) => {
  const statuses: Status[] = [];
  const report = reportStore(hostThatKeeps(statuses));
  const [evaluation, notices] = [report('evaluation'), report('notices')];
  evaluation(true);
  notices(true);
  evaluation(false);
  notices(false);
  t.strictSame(
    statuses.map(({ level }) => level),
    ['degraded', 'degraded', 'degraded', 'ok'],
  );
});

void t.test('notices pending or interrupted at a stop are sent unchanged by the next start', async (t) => {
  let isBroken = true;
  const receiver = await startReceiver(t, (socket) => {
    if (!isBroken) socket.end(answerText('200 OK'));
  });
  const ids: string[] = [];
  const mails = await startMails(t, {
    onMailFrom: (_address, _session, done) => {
      ids.push('asked');
      if (!isBroken) done();
    },
  });
  const stores = await openStores(t);
  const { opened, control } = stores;
  const user = aUser({ email: 'somebody@example.org' });
  const userId = user.id;
  await control.accounts.createUser(user);
  const webhook_url = `${receiver.url}/`;
  const service = { agent_id: null, agent_name: null, target_service: 'db:postgres' };
  const rule = await addRule(control, userId, { ...service, channel: 'both', webhook_url });
  const first = newExporter(t, stores).exporter;
  await first.start(hostOf(stores, smtpAt(mails.port)));
  const firedAt = Date.now() * 1000;
  const eventId = uuidV7(firedAt / 1000);
  const { data } = JSON.parse(firedEnvelope(eventId, service)) as { data: object };
  const [written] = await control.alerts.recordFirings([aDecision(rule, { firedAt, eventId, data })]);
  t.equal(written, true);
  await until('both are under way', () => ids.length > 0 && receiver.requests.length > 0);
  await first.shutdown(NOW);
  const notices = async () =>
    (await stores.control.alerts.listFirings(userId, rule.alert.id, ALL))?.items[0]?.notifications;
  t.match(await notices(), [
    { channel: 'email', status: 'pending', attempts: [] },
    { channel: 'webhook', status: 'pending', attempts: [] },
  ]);

  isBroken = false;
  await opened.reopen();
  const second = newExporter(t, stores).exporter;
  await second.start(hostOf(stores, smtpAt(mails.port)));
  await until('both are sent', async () =>
    ((await notices()) ?? []).every(({ status }) => status === 'sent'),
  );
  t.match(await notices(), [
    { channel: 'email', detail: null, attempts: [{ attempt_number: 1, status_code: 250 }] },
    { channel: 'webhook', detail: null, attempts: [{ attempt_number: 1, status_code: 200 }] },
  ]);
  t.strictSame(
    mails.received.map(({ id, to }) => [id, to]),
    [[`<${eventId}.alert@example.com>`, ['somebody@example.org']]],
  );
  const stored = await stores.control.alertSecrets.find(userId);
  t.ok(stored, 'created a secret for a user without one');
  const secret = await stores.secrets.open(stored?.sealed_secret ?? '', alertSecretOwner(userId));
  for (const { headers, body } of receiver.requests)
    for (const [name, verify] of VERIFIERS)
      t.doesNotThrow(() => verify({ headers, body: body.toString() }, secret), name);
  t.strictSame(new Set(receiver.requests.map(({ headers }) => headers['webhook-id'])), new Set([eventId]));
  await second.shutdown(AbortSignal.timeout(5000));
});
