import { readdirSync } from 'node:fs';
import { MessageChannel } from 'node:worker_threads';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { isControlConnector, isControlStore } from '../../../src/storage/contracts/control-store.js';
import { ControlExtension } from '../../../src/storage/control/control-extension.js';
import { connectControl } from '../../../src/storage/control/control-client.js';
import type { FactConnector } from '../../../src/storage/shared/outbox-port.js';
import { componentSettings } from '../../support/component-settings.js';
import { metricValues } from '../../support/engine.js';
import { RecordedIntake, ListedFacts } from '../../support/listed-facts.js';
import { StatusHost } from '../../support/status-host.js';
import { testFolder } from '../../support/test-folder.js';
import { until } from '../../support/until.js';
import { anEndpoint, aKey, anOrganization, aUser } from '../duckdb/meta-records.js';

const UNAVAILABLE = { name: 'ConsumeError', code: 'storage_unavailable', retryable: true };
const inTime = new AbortController().signal;

async function start(t: Test, directory = testFolder(t)) {
  const host = new StatusHost();
  const settings = componentSettings('sqlite');
  const path = join(directory, 'control.db');
  const extension = new ControlExtension(settings, { engine: 'sqlite', path });
  await extension.start(host.host);
  t.teardown(() => extension.shutdown(inTime));
  return { extension, host, directory, path, logger: settings.logger, meter: settings.meter };
}

async function addEndpoint({ accounts, endpoints }: ControlExtension): Promise<void> {
  const [user, organization] = [aUser(), anOrganization('ours')];
  await accounts.bootstrap({ user, organization, key: aKey(user) });
  await endpoints.create(organization.slug, anEndpoint());
}

void t.test('delivers hints before the causing call resolves', async (t) => {
  const { extension } = await start(t);
  let hints = 0;
  extension.watch.watch('endpoints', () => {
    hints++;
  });
  await addEndpoint(extension);
  t.ok(hints > 0);
});

void t.test('reports its size as a metric while open', async (t) => {
  const { extension, meter } = await start(t);
  const size = async () =>
    (await metricValues(meter, 'jackdaw_control_store_bytes'))['jackdaw_control_store_bytes'];
  await until('the size is measured', async () => ((await size()) ?? 0) > 4096);
  await extension.shutdown(inTime);
  t.equal(await size(), undefined);
});

void t.test('serves calls while open and leaves one file after shutdown', async (t) => {
  const { extension, directory, path } = await start(t);
  t.ok(isControlStore(extension));
  t.ok(isControlConnector(extension));
  t.equal(extension.directory, directory);
  const identity = await extension.identity();
  await addEndpoint(extension);
  await extension.shutdown(inTime);
  t.strictSame(readdirSync(directory), ['control.db']);
  await t.rejects(extension.accounts.listUsers(), UNAVAILABLE);
  await t.rejects(extension.connect(), UNAVAILABLE);

  const again = await start(t, directory);
  t.equal(await again.extension.identity(), identity);
  t.equal((await again.extension.endpoints.listAll()).length, 1);
  const settings = componentSettings('sqlite');
  const other = new ControlExtension(settings, { engine: 'sqlite', path });
  await t.rejects(other.start(again.host.host), {
    name: 'ControlStoreError',
    message: /control\.db is in use by another process/,
  });
});

void t.test('completes pending calls before shutdown', async (t) => {
  const { extension } = await start(t);
  const writes = Array.from({ length: 50 }, (_, i) => extension.leases.take(`name ${String(i)}`, 'a', 1000));
  const stopped = extension.shutdown(inTime);
  for (const lease of await Promise.all(writes)) t.match(lease, { token: 1 });
  await stopped;
});

// Ended during a statement of SQLite, the thread would abort the process.
void t.test('closes the file although the deadline has passed', async (t) => {
  const directory = testFolder(t);
  for (let i = 0; i < 5; i++) {
    const { extension } = await start(t, directory);
    await extension.shutdown(AbortSignal.abort());
    t.strictSame(readdirSync(directory), ['control.db']);
  }
});

void t.test('connects clients over a port until the thread ends', async (t) => {
  const { extension, directory } = await start(t);
  const control = await connectControl(await extension.connect());
  t.equal(control.directory, directory);
  let hints = 0;
  control.watch.watch('endpoints', () => {
    hints++;
  });
  await addEndpoint(extension);
  await until('the hint arrives', () => hints > 0);
  t.equal((await control.endpoints.listAll()).length, 1);
  await extension.shutdown(inTime);
  await t.rejects(control.endpoints.listAll(), UNAVAILABLE);
});

void t.test('answers invalid messages with an error and continues', async (t) => {
  const { extension, host } = await start(t);
  const port = await extension.connect();
  const answers: unknown[] = [];
  port.on('message', (messages: readonly unknown[]) => answers.push(...messages));
  const call = { kind: 'call', id: 7, method: 'identity', args: [], mayBeAbandoned: false, isUrgent: true };
  const odd = [
    null,
    'identity',
    1,
    {},
    [null],
    [{ ...call, args: null }],
    [{ ...call, method: 3 }],
    [[call]],
  ];
  for (const message of odd) port.postMessage(message);
  await until('each message is answered', () => answers.length === odd.length);
  const refused = (id: number) => ({ kind: 'error', id, error: { name: 'TypeError' } });
  t.match(answers, [0, 0, 0, 0, 0, 7, 7, 0].map(refused));
  answers.length = 0;
  port.postMessage([{ ...call, method: 'constructor' }]);
  port.postMessage([{ ...call, method: 'leases.take', args: [] }, call]);
  await until('these are answered too', () => answers.length === 3);
  t.match(answers.map((answer) => (answer as { readonly kind: string }).kind).sort(), [
    'error',
    'error',
    'value',
  ]);
  t.ok(await extension.identity());
  t.equal(host.last, undefined);
  port.close();
});

void t.test('reports an unexpected thread exit as fatal and rejects pending calls', async (t) => {
  const { extension, host, logger, directory } = await start(t);
  await addEndpoint(extension);
  // A fact source that sends an invalid message.
  const { port1, port2 } = new MessageChannel();
  const source: FactConnector = {
    name: 'odd',
    readFacts: (...args) => new ListedFacts().readFacts(...args),
    connectFacts: async () => port2,
  };
  await extension.takeFacts(source, new RecordedIntake());
  port1.postMessage(null);
  await until('the thread ended', () => host.last !== undefined);
  t.match(host.statuses, [{ level: 'fatal', message: /control thread ended; see the log/ }]);
  t.match(logger.lines.join('\n'), 'The control thread ended.');
  await t.rejects(extension.accounts.listUsers(), UNAVAILABLE);
  await extension.shutdown(inTime);
  const again = await start(t, directory);
  t.equal((await again.extension.endpoints.listAll()).length, 1, 'acknowledged data is stored');
});
