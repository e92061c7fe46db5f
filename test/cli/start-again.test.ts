import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from 'tap';
import { freePort } from '../support/free-port.js';
import { runInProcess } from '../support/cli.js';
import { runCli, spawnDaemon } from '../support/process.js';
import { testFolder } from '../support/test-folder.js';

/** The configuration files written by `spawnDaemon`, as options. */
function configOptions(folder: string, directory = folder): string[] {
  const files = readdirSync(folder).filter((name) => /^config-\d+\.yaml$/.test(name));
  return files.sort().flatMap((name) => ['--config', join(directory, name)]);
}

void t.test('validate ignores the ports and locks of its own running daemon', async (t) => {
  const directory = testFolder(t);
  const port = await freePort();
  const health = (endpoint: string) =>
    `extensions: { health: { endpoint: "${endpoint}" } }\nexporters: { otlp_http: { endpoint: "http://127.0.0.1:1", queue: { type: disk, directory: ${directory}/queue } } }
service: { pipelines: { logs: { receivers: [otlp], processors: [validation], exporters: [storage, otlp_http] } } }`;
  const daemon = await spawnDaemon(t, { directory, overlay: health(`127.0.0.1:${port}`) });
  const own = configOptions(directory);
  t.match(await runInProcess(['validate', ...own]), { code: 0, stdout: /valid\n$/ });

  const copies = join(testFolder(t), 'copies');
  mkdirSync(copies);
  for (const name of readdirSync(directory).filter((file) => file.startsWith('config-')))
    copyFileSync(join(directory, name), join(copies, name));
  const copied = configOptions(directory, copies);
  const other = await runInProcess(['validate', ...copied]);
  t.equal(other.code, 78);
  for (const file of ['control.db', 'duckdb', 'lock'])
    t.match(
      other.stderr,
      new RegExp(
        `${file} is in use by process ${daemon.child.pid}, which runs ${directory}/config-0.yaml, .*; stop it`,
      ),
    );
  t.match(other.stderr, new RegExp(`port ${port} is taken`));
  t.match(await runInProcess(['validate', '--no-probe', ...copied]), { code: 0 });
  t.match(await runInProcess(['keys', 'create', '--offline', ...own]), {
    code: 1,
    stdout: '',
    stderr: new RegExp(`control\\.db is in use by the daemon with PID ${daemon.child.pid}: stop it first`),
  });

  const stranger = createServer().listen(0, '127.0.0.1');
  t.teardown(() => stranger.close());
  await once(stranger, 'listening');
  const taken = (stranger.address() as { readonly port: number }).port;
  const last = own.at(-1) ?? '';
  writeFileSync(last, health(`127.0.0.1:${taken}`));
  const edited = await runInProcess(['validate', ...own]);
  t.match(edited, {
    code: 78,
    stderr: new RegExp(`health\\.endpoint: port ${taken} is taken[^]*has 1 error\n`),
  });

  await daemon.stop('SIGKILL');
  t.match(await runInProcess(['validate', ...copied]), { code: 0 }, 'a killed daemon holds nothing');
});

void t.test('a failed start creates neither a user nor a key; a lost key is replaced offline', async (t) => {
  const directory = testFolder(t);
  const first = await spawnDaemon(t, { directory, generatesKey: true });
  const keyFile = join(directory, 'initial-api-key');
  const firstKey = readFileSync(keyFile, 'utf8').trim();
  await first.stop();
  const config = configOptions(directory);
  const away = join(testFolder(t), 'away');
  mkdirSync(away);
  const control = readdirSync(directory).filter((name) => /control\.db|initial-api-key/.test(name));
  for (const name of control) renameSync(join(directory, name), join(away, name));
  const failed = await runCli(['run', ...config], { cwd: directory });
  t.equal(failed.code, 1);
  t.notOk(existsSync(keyFile), 'no key file');
  const create = (...more: string[]) => runInProcess(['keys', 'create', '--offline', ...more, ...config]);
  t.match(await create(), { code: 1, stderr: /has no users yet: start the daemon/ });
  for (const name of control) renameSync(join(away, name), join(directory, name));

  t.match(await create('--user', 'x@example.com'), { code: 1, stderr: /There is no user "x@example\.com"/ });
  t.match(await create('--scopes', 'read'), { code: 2, stderr: /cannot be used with/ });
  const made = await create();
  t.match(made, {
    code: 0,
    stdout: /^jd_\S{43}\n$/,
    stderr: /Key for admin \(admin@localhost\)\.\nCreated key/,
  });
  const again = await spawnDaemon(t, { directory, generatesKey: true });
  const get = async (path: string, key: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${key}` };
    return await (await fetch(`${again.url}/api/v1${path}`, { headers })).json();
  };
  t.match(await get('/me', firstKey), { user: { name: 'admin' } });
  const key = made.stdout.trim();
  t.match(await get('/me', key), { user: { name: 'admin' }, scopes: ['admin'] });
  t.match(await get('/admin/audit?action=key.created', key), {
    items: [{ action: 'key.created', user_id: null, address: 'offline', fields: { scopes: ['admin'] } }],
  });
});
