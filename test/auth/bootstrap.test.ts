import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { bootstrap } from '../../src/auth/bootstrap.js';
import { generateKey } from '../../src/auth/keys.js';
import { createAuthenticator, type AuthenticatorOptions } from '../support/authenticator.js';
import { HandClock } from '../support/hand-clock.js';
import { openControlStore } from '../support/control-store.js';
import { faultyAccounts } from '../support/faulty-accounts.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { refusal } from '../support/refusal.js';
import { withKey } from '../support/request-with-key.js';

const CONFIG = { enabled: true, bootstrap_email: 'root@example.com' };

function start(control: AuthenticatorOptions['control'], config: AuthenticatorOptions['config'] = CONFIG) {
  const logger = new RecordingLogger();
  const options = { control, config, clock: new HandClock(), logger };
  const starting = (async () => {
    const authenticator = await createAuthenticator(options);
    const initialKeyFile = await bootstrap(options);
    await authenticator.refresh();
    const { authenticate } = authenticator;
    return { authenticate, close: () => authenticator.close(), initialKeyFile };
  })();
  return { starting, logger };
}

void t.test('creates a user, an organization and a private key file in an empty store', async (t) => {
  const control = await openControlStore(t);
  const { starting, logger } = start(control);
  const authenticator = await starting;

  const path = join(control.directory ?? '', 'initial-api-key');
  t.equal(authenticator.initialKeyFile, path);
  t.equal((await stat(path)).mode & 0o777, 0o600);
  const key = (await readFile(path, 'utf8')).trim();
  t.match(key, /^jd_[A-Za-z0-9_-]{43}$/);

  const [user] = await control.accounts.listUsers();
  t.match(user, { name: 'admin', email: 'root@example.com', monthly_event_limit: null });
  t.match(await control.organizations.membershipsOf(user?.id ?? ''), [{ slug: 'default', role: 'admin' }]);
  const identity = authenticator.authenticate(withKey(key), 'admin');
  t.equal(identity.userId, user?.id);
  t.strictSame(identity.scopes, ['write', 'read', 'manage', 'delegate', 'feedback', 'admin']);

  t.notMatch(JSON.stringify(await control.accounts.listKeys()), key);
  t.notMatch(logger.lines.join('\n'), key, 'the key is not in the log');
  t.match(logger.lines.join('\n'), 'initial-api-key');
  t.strictSame(await keyFiles(control), ['initial-api-key'], 'no temporary file is left');
  await authenticator.close();
});

void t.test('a second start changes nothing', async (t) => {
  const control = await openControlStore(t);
  await (await start(control).starting).close();
  const path = join(control.directory ?? '', 'initial-api-key');
  const key = await readFile(path, 'utf8');
  const keys = await control.accounts.listKeys();

  const again = await start(control).starting;
  t.equal(again.initialKeyFile, null);
  t.equal(await readFile(path, 'utf8'), key);
  t.strictSame(await control.accounts.listKeys(), keys);
  t.equal((await control.accounts.listUsers()).length, 1);
  t.doesNotThrow(() => again.authenticate(withKey(key.trim()), 'read'));
  await again.close();
});

void t.test('the next start leaves a working key after a kill between file and transaction', async (t) => {
  const { control, faults } = faultyAccounts(await openControlStore(t));
  faults.set('bootstrap', new Error('killed'));
  await t.rejects(start(control).starting, { message: 'killed' });
  const path = join(control.directory ?? '', 'initial-api-key');
  const written = (await readFile(path, 'utf8')).trim();

  const authenticator = await start(control).starting;
  const key = (await readFile(path, 'utf8')).trim();
  t.equal(authenticator.authenticate(withKey(key)).keyId, (await control.accounts.listKeys())[0]?.id);
  t.equal(key, written, 'an existing file is not overwritten');
  await authenticator.close();
});

void t.test(
  'creates no user if the key file cannot be written, and the error names the remedy',
  async (t) => {
    const controlStore = await openControlStore(t);
    const { control } = faultyAccounts(controlStore, join(controlStore.directory ?? '', 'missing'));
    await t.rejects(start(control).starting, { message: /missing.*make its directory writable/ });
    t.strictSame(await control.accounts.listUsers(), []);
  },
);

void t.test('uses a key file of another control store and refuses any other content', async (t) => {
  const first = await openControlStore(t);
  await (await start(first).starting).close();
  const key = await readFile(join(first.directory ?? '', 'initial-api-key'), 'utf8');

  const fresh = await openControlStore(t);
  const path = join(fresh.directory ?? '', 'initial-api-key');
  await writeFile(path, 'notes\n');
  await t.rejects(start(fresh).starting, { message: /holds no API key and is not overwritten: move/ });
  t.equal(await readFile(path, 'utf8'), 'notes\n');
  t.strictSame(await fresh.accounts.listUsers(), []);
  await writeFile(path, key);
  const again = await start(fresh).starting;
  t.equal(await readFile(path, 'utf8'), key);
  t.doesNotThrow(() => again.authenticate(withKey(key.trim()), 'admin'));
  await again.close();
});

void t.test('uses the configured key as the first key and writes no file', async (t) => {
  const control = await openControlStore(t);
  const key = generateKey();
  const { starting, logger } = start(control, { ...CONFIG, bootstrap_key: key });
  const authenticator = await starting;
  t.equal(authenticator.initialKeyFile, null);
  t.strictSame(await keyFiles(control), []);
  t.doesNotThrow(() => authenticator.authenticate(withKey(key), 'admin'));
  t.notMatch(logger.lines.join('\n'), key);
  await authenticator.close();
});

void t.test('refuses an invalid configured key without showing it', async (t) => {
  const control = await openControlStore(t);
  const { starting } = start(control, { ...CONFIG, bootstrap_key: 'hunter2' });
  await t.rejects(starting, { message: /^auth\.bootstrap_key is not an API key(?!.*hunter2)/ });
  t.strictSame(await control.accounts.listUsers(), []);
});

void t.test('ignores a key configured after the first start and logs it', async (t) => {
  const control = await openControlStore(t);
  await (await start(control).starting).close();
  const key = generateKey();
  const { starting, logger } = start(control, { ...CONFIG, bootstrap_key: key });
  const authenticator = await starting;
  t.equal(refusal(() => authenticator.authenticate(withKey(key))).status, 401);
  t.match(logger.lines.join('\n'), 'jackdaw keys create');
  t.notMatch(logger.lines.join('\n'), key);
  await authenticator.close();
});

void t.test('treats everyone as the first user with all scopes if authentication is off', async (t) => {
  const control = await openControlStore(t);
  const authenticator = await start(control, { ...CONFIG, enabled: false }).starting;
  const [user] = await control.accounts.listUsers();
  const expected = {
    userId: user?.id,
    keyId: null,
    scopes: ['write', 'read', 'manage', 'delegate', 'feedback', 'admin'],
  };
  t.match(authenticator.authenticate(withKey(undefined), 'admin'), expected);
  t.match(authenticator.authenticate(withKey('nonsense'), 'write'), expected);
  await authenticator.close();
});

void t.test('requires a configured key for a store without a directory', async (t) => {
  const { control } = faultyAccounts(await openControlStore(t), null);
  await t.rejects(start(control).starting, { message: /^auth\.bootstrap_key is missing: .*no directory/ });
  t.strictSame(await control.accounts.listUsers(), []);
  const key = generateKey();
  const authenticator = await start(control, { ...CONFIG, bootstrap_key: key }).starting;
  t.equal(authenticator.initialKeyFile, null);
  t.doesNotThrow(() => authenticator.authenticate(withKey(key), 'admin'));
  await authenticator.close();
  await (await start(control).starting).close();
});

/** The key files next to the store. */
async function keyFiles({ directory }: { readonly directory: string | null }): Promise<readonly string[]> {
  return (await readdir(directory ?? '')).filter((name) => !name.startsWith('control.db'));
}
