import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { generateKey } from '../../src/auth/keys.js';
import { runProgram } from '../../src/cli/program.js';
import { startApi, type TestApi } from '../support/api.js';
import { memoryIo } from '../support/memory-io.js';
import { testFolder } from '../support/test-folder.js';
import { anItem } from '../support/trace-batch.js';

/** Runs `jackdaw …` in this process. */
async function jackdaw(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  const io = memoryIo(env);
  const code = await runProgram(args, io, []);
  return { code, out: io.outText(), err: io.errText() };
}

async function startWithCommand(t: Test) {
  const api = await startApi(t);
  const env = { JACKDAW_URL: api.url, JACKDAW_KEY: api.adminKey };
  return { api, env, run: (...args: string[]) => jackdaw(args, env) };
}

async function created<Body>(answer: Promise<{ code: number; out: string; err: string }>): Promise<Body> {
  const { code, out, err } = await answer;
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as Body;
}

void t.test('creates, changes and lists users by id or e-mail address', async (t) => {
  const { run } = await startWithCommand(t);
  const user = await created<{ id: string; email: string }>(
    run('users', 'create', '--email', 'anna@example.com', '--name', 'Anna', '--json'),
  );
  t.equal(user.email, 'anna@example.com');
  const table = await run('users', 'list');
  t.equal(table.code, 0);
  const [heading, ...rows] = table.out.split('\n');
  t.match(heading, /^ID +EMAIL +NAME +EVENTS A MONTH +STORED BYTES +DISABLED +CREATED$/);
  t.equal(rows.length, 2);
  t.match(rows[1], new RegExp(`^${user.id}  anna@example\\.com +Anna +- +- +- +20`));

  t.match(await run('users', 'update', 'anna@example.com', '--monthly-event-limit', '50'), {
    code: 0,
    out: /Anna +50/,
  });
  t.match(await run('users', 'update', user.id, '--stored-bytes-limit', '2KiB'), { out: /Anna +50 +2048/ });
  t.match(await run('users', 'update', user.id, '--name', 'Anna B.'), { code: 0, out: /Anna B\. +50/ });
  t.match(await run('users', 'update', user.id, '--disable'), { code: 0, out: /Anna B\. +50 +2048 +yes/ });
  t.match(await run('users', 'update', user.id, '--enable'), { code: 0, out: /Anna B\. +50 +2048 +- / });
  t.match(await run('users', 'update', user.id, '--enable', '--disable'), { err: /cannot be used with/ });
  t.match(await run('users', 'update', 'admin@localhost', '--disable'), {
    code: 1,
    err: /last key with the scope admin/,
  });
  t.match(await run('users', 'update', 'ben@example.com', '--name', 'Ben'), {
    code: 1,
    err: /There is no user "ben@example\.com"/,
  });
  t.match(await run('users', 'create', '--email', 'anna@example.com', '--name', 'A'), {
    code: 1,
    err: /The email is already taken/,
  });
  t.match(await run('users', 'create', '--email', 'nobody', '--name', 'A'), {
    code: 2,
    err: /^jackdaw: --email must be an e-mail address$/,
  });
});

void t.test('shows quota usage as text and JSON', async (t) => {
  const { api, run } = await startWithCommand(t);
  await api.send([anItem({ spans: 3 })]);
  const [heading, row] = (await run('usage')).out.split('\n');
  t.match(heading, /^MONTH +EVENTS +LIMIT +RESETS +STORED BYTES +STORAGE LIMIT$/);
  t.match(row, /^\d{4}-\d{2} +3 +- +\d{4}-\d{2}-01T00:00:00Z +[1-9]\d* +-$/);
  const { user } = await api.get<{ readonly user: { readonly id: string } }>('/me');
  await run('users', 'update', user.id, '--monthly-event-limit', '50');
  t.match(await created(run('usage', '--json')), { used: 3, limit: 50, stored_bytes: { limit: null } });
});

void t.test('a new key is alone on standard output, works, and is never listed', async (t) => {
  const { api, run } = await startWithCommand(t);
  await run('users', 'create', '--email', 'anna@example.com', '--name', 'Anna');
  const made = await run(
    'keys',
    'create',
    '--name',
    'ci',
    '--scopes',
    'read,write',
    '--user',
    'anna@example.com',
  );
  t.equal(made.code, 0);
  t.match(made.out, /^jd_[A-Za-z0-9_-]{43}$/, 'so that scripts can read it');
  t.match(made.err, /^Created key .* \(write, read\)\. Keep it now/);
  t.match(await api.get('/me', made.out), { user: { name: 'Anna' }, scopes: ['write', 'read'] });

  const list = await run('keys', 'list');
  t.match(list.out, `${made.out.slice(0, 11)}…`);
  t.notMatch(list.out, made.out);
  const ofAnna = await created<{ id: string; name: string }[]>(
    run('keys', 'list', '--user', 'anna@example.com', '--json'),
  );
  t.match(ofAnna, [{ name: 'ci' }]);
  t.equal(ofAnna.length, 1);

  t.match(await run('keys', 'revoke', ofAnna[0]?.id ?? ''), { code: 0, err: /^Revoked key/ });
  t.equal((await api.call('GET', '/me', { key: made.out })).status, 401);
  t.match(
    await run('keys', 'create', '--name', 'x', '--scopes', 'read', '--expires-at', '2020-01-01T00:00:00Z'),
    {
      code: 2,
      err: /^jackdaw: --expires-at must be in the future$/,
    },
  );
});

void t.test('revokes a key and, on request, its children', async (t) => {
  const { api, run } = await startWithCommand(t);
  const make = async (key: string, name: string, scopes = ['manage', 'read']) =>
    (await api.call('POST', '/me/keys', { key, json: { name, scopes } })).body as {
      readonly id: string;
      readonly key: string;
    };
  const parent = await make(api.adminKey, 'parent');
  const child = await make(parent.key, 'child');
  const grandchild = await make(child.key, 'grandchild');
  const status = async ({ key }: { readonly key: string }) => (await api.call('GET', '/me', { key })).status;
  t.match(await run('keys', 'revoke', parent.id), { code: 0, err: /^Revoked key \S+\.$/m });
  t.strictSame([await status(parent), await status(child)], [401, 200], 'only the parent without the option');
  const revoked = await run('keys', 'revoke', child.id, '--with-children');
  t.match(revoked, { code: 0, err: `Revoked key ${child.id} and the keys created with it.` });
  t.strictSame([await status(child), await status(grandchild)], [401, 401]);
  const first = await make(api.adminKey, 'first', ['admin']);
  const own = await make(first.key, 'own', ['admin']);
  const byOwn = await run('keys', 'revoke', first.id, '--with-children', '--key', own.key);
  t.match(byOwn, { code: 1, err: /add --force/ }, 'the key of the command is its child');
});

void t.test('revokes the key of the command only with --force', async (t) => {
  const { api, run } = await startWithCommand(t);
  const { key_id: own } = await api.get<{ key_id: string }>('/me');
  t.match(await run('keys', 'revoke', own), { code: 1, err: /add --force/ });
  t.equal((await api.call('GET', '/me')).status, 200);
  t.match(await run('keys', 'revoke', own, '--force'), { code: 1, err: /last key with the scope admin/ });
  await run('keys', 'create', '--name', 'another', '--scopes', 'admin');
  t.equal((await run('keys', 'revoke', own, '--force')).code, 0);
  t.match(await run('keys', 'list'), { code: 1, err: /does not accept the API key from JACKDAW_KEY/ });
});

void t.test('creates organizations and manages their members', async (t) => {
  const { api, run } = await startWithCommand(t);
  t.match(await run('orgs', 'create', '--slug', 'acme', '--name', 'Acme'), {
    code: 0,
    out: /^SLUG.*\nacme {2}Acme/,
  });
  t.match(await run('orgs', 'list'), { code: 0, out: /default.*\n.*acme/s });
  const anna = await api.createUser('anna@example.com', ['read']);
  const memberships = async () => (await api.get<{ memberships: unknown[] }>('/me', anna.key)).memberships;
  t.match(await run('orgs', 'members', 'add', 'acme', 'anna@example.com'), {
    code: 0,
    err: /is now member of acme/,
  });
  t.match(await memberships(), [{ slug: 'acme', role: 'member' }]);
  t.equal((await run('orgs', 'members', 'add', 'acme', anna.id, '--role', 'admin')).code, 0);
  t.match(await memberships(), [{ slug: 'acme', role: 'admin' }]);
  t.match(await run('orgs', 'members', 'add', 'acme', anna.id), { code: 0, err: /is now admin of acme/ });
  t.match(await memberships(), [{ slug: 'acme', role: 'admin' }], 'keeps the role without --role');
  t.match(await run('orgs', 'members', 'list', 'acme'), {
    code: 0,
    out: new RegExp(`^EMAIL +NAME +ROLE +ID\nanna@example.com .* admin +${anna.id}$`),
  });
  t.match(await run('orgs', 'members', 'list', 'nowhere'), { code: 1, err: /no such organization/ });
  t.equal((await run('orgs', 'members', 'remove', 'acme', anna.id)).code, 0);
  t.strictSame(await memberships(), []);
  t.match(await run('orgs', 'members', 'remove', 'acme', anna.id), {
    code: 1,
    err: /no such member: list them with/,
  });
  t.match(await run('orgs', 'members', 'add', 'nowhere', anna.id), { code: 1, err: /no such organization/ });
});

void t.test('removes terminal control characters from output', async (t) => {
  const { run } = await startWithCommand(t);
  await run('users', 'create', '--email', 'x@example.com', '--name', 'red \u001b[31m\nnext line');
  const { out } = await run('users', 'list');
  t.notMatch(out, '\u001b');
  t.equal(out.split('\n').length, 3);
});

void t.test('command line errors are reported before sending', async (t) => {
  const env = { JACKDAW_URL: 'http://127.0.0.1:1', JACKDAW_KEY: generateKey() };
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['users', 'create', '--name', 'x'], /required option '--email/],
    [['users', 'update', 'x', '--monthly-event-limit', '1.5'], /must be a whole number/],
    [['users', 'update', 'x', '--stored-bytes-limit', '1 GB'], /must be a size/],
    [
      ['keys', 'create', '--name', 'x', '--scopes', 'read,root'],
      /Scopes are write, read, manage, delegate, feedback, admin/,
    ],
    [['keys', 'create', '--name', 'x', '--scopes', ''], /Scopes are/],
    [['keys', 'revoke'], /missing required argument 'id'/],
    [['keys', 'revoke', 'x'], /is invalid for argument 'id'\. It must be an id/],
    [['users', 'list', '--url', 'localhost'], /"localhost" is not the address/],
    [['users', 'list', '--url', 'ftp://x'], /"ftp:\/\/x" is not the address/],
    [['users', 'list', '--key', 'jd_x'], /The API key from --key is malformed/],
    [['keys', 'lst'], /unknown command 'lst'/],
    [['orgs', 'members', 'add', 'a', 'b', '--role', 'owner'], /Allowed choices are admin, member/],
    [['users', 'list', '--jsn'], /unknown option '--jsn'/],
  ];
  for (const [args, message] of cases)
    t.match(await jackdaw(args, env), { code: 2, err: message }, args.join(' '));
});

void t.test('finds the first key next to the configured store', async (t) => {
  const api = await startApi(t);
  const folder = testFolder(t);
  mkdirSync(join(folder, 'store'));
  writeFileSync(join(folder, 'store', 'initial-api-key'), api.adminKey);
  const config = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const path = JSON.stringify(join(folder, 'store', 'x.db'));
  const env = { JACKDAW_URL: api.url, STORE: join(folder, 'store', 'x.db') };
  const list = async (...args: string[]) => await jackdaw(['users', 'list', ...args], env);
  for (const text of [
    `extensions: { sqlite: { path: ${path} } }`,
    'extensions: { sqlite: { path: "${env:STORE}" } }',
    `extensions: { sqlite: { path: /elsewhere/x }, sqlite/main: { path: ${path} }, query: { control: sqlite/main } }`,
  ])
    t.match(await list('--config', config('one.yaml', text)), { code: 0, out: /admin@localhost/ }, text);
  const other = config('other.yaml', 'extensions: { sqlite: { path: /elsewhere/x } }');
  t.match(await list('--config', other), { code: 1, err: /the daemon's \/elsewhere\/initial-api-key/ });
  const shared = config('shared.yaml', 'extensions: { query: { control: postgres } }');
  t.match(await list('--config', shared), { code: 1, err: /No API key: .*is not in a file/ });
  t.match(await list('--config', config('broken.yaml', '{')), { code: 78, err: /broken\.yaml:1/ });
  t.equal((await list('--config', other, '--config', join(folder, 'one.yaml'))).code, 0, 'later files win');

  // Without JACKDAW_URL the configuration gives the address; a wildcard address means this machine.
  const { port } = new URL(api.url);
  for (const endpoint of [`127.0.0.1:${port}`, `0.0.0.0:${port}`, `localhost:${port}`]) {
    const text = `extensions: { sqlite: { path: ${path} }, query: { endpoint: "${endpoint}" } }`;
    const listed = await jackdaw(['users', 'list', '--config', config('there.yaml', text)], {});
    t.match(listed, { code: 0, out: /admin@localhost/ }, endpoint);
  }
  const nowhere = 'extensions: { query: { endpoint: "[::1]:1", tls: { cert_file: a, key_file: b } } }';
  const key = ['--key', api.adminKey];
  t.match(await jackdaw(['users', 'list', ...key, '--config', config('nowhere.yaml', nowhere)], {}), {
    code: 1,
    err: /No daemon answers at https:\/\/\[::1\]:1 /,
  });
});

void t.test('reports each reason why the daemon cannot be called', async (t) => {
  const api: TestApi = await startApi(t);
  const reader = (await api.createKey(['read'])).key;
  const stranger = createServer((_, response) => response.end('<html>hello</html>'));
  await new Promise<void>((resolve) => stranger.listen(0, '127.0.0.1', resolve));
  t.teardown(() => stranger.close());
  const strangerUrl = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  const key = api.adminKey;
  // The project folder may contain a key after `npm start`.
  const config = join(t.testdir(), 'elsewhere.yaml');
  writeFileSync(
    config,
    `extensions: { sqlite: { path: ${JSON.stringify(join(t.testdirName, 'control.db'))} } }`,
  );
  const cases: readonly (readonly [readonly string[], NodeJS.ProcessEnv, RegExp])[] = [
    [
      [],
      { JACKDAW_URL: 'http://127.0.0.1:1', JACKDAW_KEY: key },
      /No daemon answers at http:\/\/127\.0\.0\.1:1 .*jackdaw run/,
    ],
    [['--url', strangerUrl], { JACKDAW_KEY: key }, /did not answer like a Jackdaw daemon/],
    [['--config', config], { JACKDAW_URL: api.url }, /No API key: set JACKDAW_KEY.*initial-api-key/],
    [[], { JACKDAW_URL: api.url, JACKDAW_KEY: 'secret\nvalue' }, /The API key from JACKDAW_KEY is malformed/],
    [['--key', generateKey()], { JACKDAW_URL: api.url }, /does not accept the API key from --key/],
    [[], { JACKDAW_URL: api.url, JACKDAW_KEY: reader }, /lacks the scope "admin"/],
  ];
  for (const [args, env, message] of cases) {
    const { code, out, err } = await jackdaw(['users', 'list', ...args], env);
    t.equal(code, 1);
    t.match(err, message);
    t.equal(out, '');
    t.notMatch(err, key.slice(3, 20), 'no key shown');
    t.notMatch(err, 'secret');
  }
});
