import t, { type Test } from 'tap';
import { postgresExtension } from '../../../src/extensions/postgres/factory.js';
import { ControlExtension } from '../../../src/storage/control/control-extension.js';
import { openPostgres } from '../../../src/storage/control/postgres/open-postgres.js';
import { systemClock } from '../../../src/telemetry/system-clock.js';
import { conformance } from '../../../src/testing/index.js';
import { componentSettings } from '../../support/component-settings.js';
import { metricValues } from '../../support/engine.js';
import { FrozenNetwork } from '../../support/frozen-network.js';
import { PostgresServer } from '../../support/postgres.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { StatusHost } from '../../support/status-host.js';
import { until } from '../../support/until.js';
import { aKey, anOrganization, aUser } from '../duckdb/meta-records.js';

// @alone: the conformance kit checks all open handles of the process.

const UNAVAILABLE = { name: 'ConsumeError', code: 'storage_unavailable', retryable: true };

const server = await PostgresServer.start(t);
if (typeof server === 'string') t.plan(0, server);
else checkExtension(server);

async function start(t: Test, url: string) {
  const host = new StatusHost();
  const settings = componentSettings('postgres');
  const extension = new ControlExtension(settings, { engine: 'postgres', url, connections: 4 });
  t.teardown(() => extension.shutdown(AbortSignal.abort()));
  await extension.start(host.host);
  return { extension, host, logger: settings.logger, meter: settings.meter };
}

async function throughNetwork(t: Test, url: string): Promise<{ network: FrozenNetwork; through: string }> {
  const parsed = new URL(url);
  const network = await FrozenNetwork.open(t, Number(parsed.port));
  parsed.port = String(network.port);
  return { network, through: parsed.href };
}

function checkExtension(server: PostgresServer): void {
  void t.test('passes the conformance kit', async (t) => {
    const subject = {
      prepare: async () => ({ config: { url: await server.createDatabase() } }),
      unstartable: { config: { url: 'postgres://nobody@127.0.0.1:1/none' }, error: /cannot be opened/ },
    };
    for (const { name, run } of conformance(postgresExtension, subject)) await t.test(name, run);
  });

  void t.test('delivers hints between two processes within two seconds', async (t) => {
    const url = await server.createDatabase();
    const [one, two] = [await start(t, url), await start(t, url)];
    const size = async () =>
      (await metricValues(one.meter, 'jackdaw_control_store_bytes'))['jackdaw_control_store_bytes'] ?? 0;
    await until('the size of the database is a metric', async () => (await size()) > 1_000_000);
    t.equal(one.extension.directory, null);
    t.equal(await one.extension.identity(), await two.extension.identity());
    const user = aUser();
    const key = aKey(user);
    let hints = 0;
    two.extension.watch.watch('keys', () => {
      hints++;
    });
    await one.extension.accounts.bootstrap({ user, organization: anOrganization('ours'), key });
    await until('the first change is notified', () => hints > 0);
    t.match(await two.extension.accounts.findKey(key.digest), { key: { revoked_at: null } });
    hints = 0;
    await one.extension.accounts.createKey(aKey(user, { scopes: ['admin'] }));
    const from = performance.now();
    await until('the second change is notified', () => hints > 0);
    t.ok(performance.now() - from < 2000);
  });

  void t.test('names an unreachable server at startup without the password', async (t) => {
    const failed = start(t, 'postgres://me:hidden-word@127.0.0.1:1/ours?application_name=hidden-word');
    await t.rejects(failed, {
      name: 'ControlStoreError',
      message:
        'The control store ours at 127.0.0.1:1 cannot be opened: PostgreSQL is unreachable: ECONNREFUSED.',
    });
  });

  void t.test('fails calls and readiness while the server is down', async (t) => {
    const url = await server.createDatabase();
    const { extension, host, logger } = await start(t, url.replace('postgres@', 'postgres:hidden-word@'));
    await extension.accounts.createUser(aUser());
    t.strictSame(host.statuses, []);
    await server.stop();
    await t.rejects(extension.accounts.listUsers(), UNAVAILABLE);
    await until('the state is reported', () => host.last !== undefined);
    t.match(host.last, {
      level: 'recoverable',
      message: /^The control store is unavailable: .*ECONNREFUSED/,
    });
    await server.resume();
    await until('recovery is reported', () => host.last?.level === 'ok');
    t.equal((await extension.accounts.listUsers()).length, 1);
    t.equal(host.statuses.length, 2);
    t.match(logger.lines.join('\n'), 'The control store is available again.');
    t.notMatch([...logger.lines, JSON.stringify(host.statuses)].join('\n'), 'hidden-word');
  });

  void t.test('shuts down while the server is frozen', async (t) => {
    const { network, through } = await throughNetwork(t, await server.createDatabase());
    const { extension } = await start(t, through);
    await extension.accounts.createUser(aUser());
    network.freeze();
    const refused = t.rejects(extension.accounts.createUser(aUser()), UNAVAILABLE);
    await extension.shutdown(AbortSignal.abort());
    await refused;
  });

  void t.test('fails unanswered calls and reconnects', async (t) => {
    const { network, through } = await throughNetwork(t, await server.createDatabase());
    const logger = new RecordingLogger();
    // Timers run ten times as fast.
    const clock = {
      now: () => systemClock.now(),
      after: (ms: number, callback: () => void) => systemClock.after(ms / 10, callback),
    };
    const database = await openPostgres({ url: through, clock, logger, answerMs: 500 });
    t.teardown(() => {
      network.thaw();
      return database.close();
    });
    let hints = 0;
    database.watch.watch('keys', () => {
      hints++;
    });
    const read = () => database.read((db) => db.selectFrom('identity').selectAll().execute());
    t.strictSame(await read(), []);
    network.freeze();
    await t.rejects(read(), UNAVAILABLE);
    await t.rejects(
      database.transaction((tx) => tx.selectFrom('identity').selectAll().execute()),
      UNAVAILABLE,
    );
    network.thaw();
    t.strictSame(await read(), []);
    await until('it receives hints again', () => hints > 0);
  });
}
