import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generateKey } from '../../src/auth/keys.js';
import { ApiCaller } from '../support/api-caller.js';
import { runInProcess } from '../support/cli.js';
import { startTestDaemon } from '../support/daemon.js';
import { postgresOverlay } from '../support/postgres-config.js';
import { PostgresServer } from '../support/postgres.js';
import { testFolder } from '../support/test-folder.js';
import { until } from '../support/until.js';

/** Changes by one daemon apply to the others within this time. */
const BOUND_MS = 2000;

const server = await PostgresServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test(
  'key changes on one daemon apply to another over the same PostgreSQL within two seconds',
  { skip },
  async (t) => {
    if (typeof server === 'string') return;
    const postgres = await server.createDatabase();
    const key = generateKey();
    const folder = testFolder(t);
    const start = async (name: string) => {
      const { url } = await startTestDaemon(t, { directory: `${folder}/${name}`, key, postgres });
      return new ApiCaller(url, key);
    };
    const one = await start('one');
    const two = await start('two');
    const statusOf = async (api: ApiCaller, key: string) => (await api.call('GET', '/me', { key })).status;
    const holds = async (what: string, key: string, status: number): Promise<void> => {
      t.equal(await statusOf(one, key), status, `${what}: immediately on the same daemon`);
      const since = performance.now();
      await until(what, async () => (await statusOf(two, key)) === status);
      const ms = performance.now() - since;
      t.ok(ms < BOUND_MS, `${what}: after ${ms.toFixed()} ms`);
    };

    const user = await one.createUser('ann@example.org', ['write']);
    await holds('the first key of a new user', user.key, 200);
    t.match(await two.get('/admin/users'), [{}, { id: user.id }], 'one set of users');
    const made = await one.createKey(['read'], { user_id: user.id });
    await holds('a new key', made.key, 200);
    await one.call('PATCH', `/admin/users/${user.id}`, { json: { disabled: true } });
    await holds('a disabled user', made.key, 401);
    await one.call('PATCH', `/admin/users/${user.id}`, { json: { disabled: false } });
    await holds('an enabled user', made.key, 200);
    await one.call('DELETE', `/admin/keys/${made.id}`);
    await holds('a revoked key', made.key, 401);

    const config = join(folder, 'postgres.yaml');
    writeFileSync(config, postgresOverlay(postgres));
    const offline = await runInProcess(['keys', 'create', '--offline', '--config', config]);
    t.match(offline, { code: 0, stdout: /^jd_/ });
    const admin = offline.stdout.trim();
    await until('a key made beside them', async () => (await statusOf(one, admin)) === 200);
    t.match(await two.get('/me', admin), { scopes: ['admin'] });
  },
);
