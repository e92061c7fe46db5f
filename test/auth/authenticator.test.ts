import t, { type Test } from 'tap';
import { bootstrap } from '../../src/auth/bootstrap.js';
import { describeKey, generateKey } from '../../src/auth/keys.js';
import { SCOPES, type Scope } from '../../src/component/identity.js';
import { uuidV7 } from '../../src/signal/ids.js';
import type { StoredKey } from '../../src/storage/contracts/accounts.js';
import { createAuthenticator } from '../support/authenticator.js';
import { HandClock } from '../support/hand-clock.js';
import { openControlStore } from '../support/control-store.js';
import { faultyAccounts } from '../support/faulty-accounts.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { refusal } from '../support/refusal.js';
import { aKey, aUser } from '../storage/duckdb/meta-records.js';
import { withAuthorization, withKey } from '../support/request-with-key.js';
import { until } from '../support/until.js';

async function setUp(t: Test) {
  const clock = new HandClock();
  const controlStore = await openControlStore(t, { clock });
  const { control, faults, calls } = faultyAccounts(controlStore);
  const { accounts } = control;
  const logger = new RecordingLogger();
  const config = { enabled: true, bootstrap_email: 'admin@localhost' };
  await bootstrap({ control, config, clock, logger });
  const authenticator = await createAuthenticator({ control, config, clock, logger });
  const [user] = await accounts.listUsers();
  const addKey = async (scopes: readonly Scope[], more: Partial<StoredKey> = {}) => {
    const text = generateKey();
    const key: StoredKey = {
      id: uuidV7(clock.now() / 1000),
      user_id: user?.id ?? '',
      name: 'test',
      ...describeKey(text),
      scopes,
      created_at: clock.now(),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      parent_id: null,
      ...more,
    };
    await accounts.createKey(key);
    await authenticator.refresh();
    return { id: key.id, text };
  };
  const touches = () => (calls.get('touchKeys') ?? []).map(([uses]) => uses);
  return { controlStore, accounts, control, faults, calls, touches, clock, logger, authenticator, addKey };
}

void t.test('every reason for a 401 gives one identical response', async (t) => {
  const { authenticator, accounts, clock, addKey } = await setUp(t);
  const revoked = await addKey(['read']);
  await accounts.revokeKey(revoked.id, clock.now());
  await authenticator.refresh();
  const expired = await addKey(['read'], { expires_at: clock.now() + 1_000_000 });
  const valid = await addKey(['read']);
  const user = aUser();
  await accounts.createUser(user);
  const ofDisabled = await addKey(['read'], { user_id: user.id });
  await accounts.updateUser(user.id, { disabled: true });
  await authenticator.refresh();
  clock.advance(1000);

  const refusals = [
    withAuthorization(undefined),
    withAuthorization(''),
    withAuthorization('Bearer'),
    withAuthorization('Bearer '),
    withAuthorization(`Basic ${valid.text}`),
    withAuthorization(valid.text),
    withAuthorization(`Bearer ${valid.text} ${valid.text}`),
    withKey(generateKey()),
    withKey(valid.text.slice(0, -1)),
    withKey(`${valid.text}A`),
    withKey(valid.text.toUpperCase()),
    withKey('jd_\u0000'),
    withKey('__proto__'),
    withKey(revoked.text),
    withKey(expired.text),
    withKey(ofDisabled.text),
  ].map((request) => refusal(() => authenticator.authenticate(request, 'read')));

  for (const { status, code, message, headers, errors } of refusals)
    t.strictSame(
      { status, code, message, headers, errors },
      {
        status: 401,
        code: 'unauthenticated',
        message: 'This needs a valid API key, sent as "Authorization: Bearer <API key>".',
        headers: { 'www-authenticate': 'Bearer' },
        errors: undefined,
      },
    );
  await authenticator.close();
});

void t.test('accepts the scheme in any case, as required by RFC 9110', async (t) => {
  const { authenticator, addKey } = await setUp(t);
  const { id, text } = await addKey(['read']);
  for (const scheme of ['Bearer', 'bearer', 'BEARER'])
    t.equal(authenticator.authenticate(withAuthorization(`${scheme}  ${text}`)).keyId, id);
  await authenticator.close();
});

void t.test('accepts %20 instead of the space, as clients send it from environment variables', async (t) => {
  const { authenticator, addKey } = await setUp(t);
  const { id, text } = await addKey(['read']);
  for (const header of [`Bearer%20${text}`, `bearer %20${text}%20`])
    t.equal(authenticator.authenticate(withAuthorization(header)).keyId, id);
  for (const header of [`Bearer%2${text}`, `Bearer%20`, `Bearer%20%20`, `Bearer%20${text}%20x`])
    t.match(
      refusal(() => authenticator.authenticate(withAuthorization(header))),
      { status: 401 },
    );
  await authenticator.close();
});

void t.test('checks the scopes of a key, and a 403 names the missing scope', async (t) => {
  const { authenticator, addKey } = await setUp(t);
  for (const held of SCOPES) {
    const { text } = await addKey([held]);
    for (const needed of SCOPES) {
      const attempt = () => authenticator.authenticate(withKey(text), needed);
      const isGranted = held === needed || held === 'admin' || (held === 'write' && needed === 'feedback');
      if (isGranted) t.strictSame(attempt().scopes, [held]);
      else t.match(refusal(attempt), { status: 403, code: 'forbidden_scope', message: `"${needed}"` });
    }
    t.doesNotThrow(
      () => authenticator.authenticate(withKey(text)),
      'any key is valid if no scope is required',
    );
  }
  await authenticator.close();
});

void t.test('accepts a new key immediately and rejects a revoked or expired one', async (t) => {
  const { authenticator, accounts, clock, addKey } = await setUp(t);
  const revoked = await addKey(['read']);
  const expiring = await addKey(['read'], { expires_at: clock.now() + 60_000_000 });
  t.equal(authenticator.authenticate(withKey(revoked.text)).keyId, revoked.id);
  await accounts.revokeKey(revoked.id, clock.now());
  await authenticator.refresh();
  t.equal(refusal(() => authenticator.authenticate(withKey(revoked.text))).status, 401);

  clock.advance(59_999);
  t.equal(authenticator.authenticate(withKey(expiring.text)).keyId, expiring.id);
  clock.advance(1);
  t.equal(
    refusal(() => authenticator.authenticate(withKey(expiring.text))).status,
    401,
    'expired at the exact end',
  );
  await authenticator.close();
});

void t.test('accepts keys after a restart', async (t) => {
  const { authenticator, control, clock, logger, addKey } = await setUp(t);
  const { id, text } = await addKey(['write']);
  const revoked = await addKey(['write'], { revoked_at: clock.now() });
  await authenticator.close();
  const config = { enabled: true, bootstrap_email: 'admin@localhost' };
  const again = await createAuthenticator({ control, config, clock, logger });
  t.equal(again.authenticate(withKey(text), 'write').keyId, id);
  t.equal(refusal(() => again.authenticate(withKey(revoked.text))).status, 401);
  await again.close();
});

void t.test('writes key use at most once a minute, and once more on close', async (t) => {
  const { authenticator, accounts, touches, clock, addKey } = await setUp(t);
  const a = await addKey(['read']);
  const b = await addKey(['read']);
  const lastUse = async (id: string) =>
    (await accounts.listKeys()).find((key) => key.id === id)?.last_used_at ?? null;
  const first = clock.now();
  authenticator.authenticate(withKey(a.text));
  await until('the first use is written immediately', async () => (await lastUse(a.id)) === first);

  for (let i = 0; i < 100; i++) {
    clock.advance(100);
    authenticator.authenticate(withKey(a.text));
    authenticator.authenticate(withKey(b.text));
  }
  t.same([await lastUse(a.id), await lastUse(b.id)], [first, null], 'later uses are not written yet');
  const last = clock.now();
  clock.advance(50_000);
  await until('later uses are written after a minute', async () => (await lastUse(b.id)) === last);
  t.strictSame(touches(), [
    [{ id: a.id, at: first }],
    [
      { id: a.id, at: last },
      { id: b.id, at: last },
    ],
  ]);

  clock.advance(600_000);
  t.equal(touches().length, 2, 'nothing is written without use');
  authenticator.authenticate(withKey(a.text));
  authenticator.authenticate(withKey(b.text));
  await authenticator.close();
  t.equal(touches().flat().length, 5);
  t.equal(await lastUse(b.id), clock.now());
  await authenticator.close();
});

void t.test('retries a failed write of key use a minute later', async (t) => {
  const { authenticator, accounts, faults, touches, clock, logger, addKey } = await setUp(t);
  const { id, text } = await addKey(['read']);
  faults.set('touchKeys', new Error('disk full'));
  const at = clock.now();
  t.doesNotThrow(() => authenticator.authenticate(withKey(text)));
  await until('the failure is logged', () => /warn .*retrying.*disk full/.test(logger.lines.join('\n')));
  clock.advance(60_000);
  await until('it is written', async () =>
    (await accounts.listKeys()).some((key) => key.last_used_at === at),
  );
  t.strictSame(touches().at(-1), [{ id, at }]);
  await authenticator.close();
});

void t.test('changes by others apply after the hint, without a waiting caller', async (t) => {
  const { authenticator, accounts, addKey } = await setUp(t);
  const { id, text } = await addKey(['read']);
  await accounts.revokeKey(id, 1);
  await until('it is refused', () => isRefused(() => authenticator.authenticate(withKey(text))));
  await authenticator.close();
});

void t.test('polls for changes within half a minute if a hint is lost', async (t) => {
  const { controlStore, clock, logger, calls, control } = await setUp(t);
  const deaf = { ...control, watch: { watch: () => () => undefined } };
  const config = { enabled: true, bootstrap_email: 'admin@localhost' };
  const authenticator = await createAuthenticator({ control: deaf, config, clock, logger });
  const asked = () => (calls.get('followKeys') ?? []).length;
  const [user] = await controlStore.accounts.listUsers();
  const text = generateKey();
  const key = { ...aKey(user ?? aUser()), ...describeKey(text) };
  await controlStore.accounts.createKey(key);
  t.equal(refusal(() => authenticator.authenticate(withKey(text))).status, 401);
  const before = asked();
  clock.advance(30_000);
  await until('the key is accepted', () => !isRefused(() => authenticator.authenticate(withKey(text))));
  t.ok(asked() - before <= 2);
  await controlStore.accounts.updateUser(user?.id ?? '', { name: 'x' });
  t.match(calls.get('followKeys')?.at(-1), [/./], 'not for all keys');
  await authenticator.close();
});

void t.test('known keys stay valid while changes cannot be read, and reads are retried', async (t) => {
  const { authenticator, accounts, faults, clock, logger, addKey } = await setUp(t);
  const { id, text } = await addKey(['read']);
  faults.set('followKeys', new Error('gone'));
  await accounts.revokeKey(id, clock.now());
  await authenticator.refresh();
  t.match(logger.lines.join('\n'), /warn .*known keys remain valid.*gone/, 'waiting callers continue');
  await until('it is refused', () => {
    clock.advance(500);
    return isRefused(() => authenticator.authenticate(withKey(text)));
  });
  await authenticator.close();
});

void t.test('a thousand concurrent changes cost a few queries', async (t) => {
  const { authenticator, accounts, calls, addKey } = await setUp(t);
  const keys = [];
  for (let i = 0; i < 20; i++) keys.push(await addKey(['read']));
  await authenticator.refresh();
  const before = (calls.get('followKeys') ?? []).length;
  const waits = keys.map(async ({ id }) => {
    await accounts.revokeKey(id, 1);
  });
  await Promise.all(waits);
  await Promise.all(Array.from({ length: 1000 }, () => authenticator.refresh()));
  t.ok((calls.get('followKeys') ?? []).length - before <= keys.length + 2);
  for (const { text } of keys) t.equal(refusal(() => authenticator.authenticate(withKey(text))).status, 401);
  await authenticator.close();
});

void t.test('rejects keys of a disabled user immediately and after a restart until re-enabled', async (t) => {
  const { authenticator, accounts, control, clock, logger, addKey } = await setUp(t);
  const user = aUser();
  await accounts.createUser(user);
  const { id, text } = await addKey(['write'], { user_id: user.id });
  t.equal(authenticator.authenticate(withKey(text)).keyId, id);
  await accounts.updateUser(user.id, { disabled: true });
  await authenticator.refresh();
  t.equal(refusal(() => authenticator.authenticate(withKey(text))).status, 401);
  await authenticator.close();
  const config = { enabled: true, bootstrap_email: 'admin@localhost' };
  const again = await createAuthenticator({ control, config, clock, logger });
  t.equal(refusal(() => again.authenticate(withKey(text))).status, 401);
  await accounts.updateUser(user.id, { disabled: false });
  await again.refresh();
  t.equal(again.authenticate(withKey(text)).keyId, id);
  await again.close();
});

void t.test('logs rejected keys with reason and address, rate-limited and without the key', async (t) => {
  const { authenticator, accounts, clock, logger, addKey } = await setUp(t);
  const revoked = await addKey(['read']);
  await accounts.revokeKey(revoked.id, clock.now());
  await authenticator.refresh();
  const expired = await addKey(['read'], { expires_at: clock.now() });
  const reader = await addKey(['read']);
  const from = (request: ReturnType<typeof withKey>) => ({ ...request, remoteAddress: '192.0.2.7' });
  const unknown = generateKey();
  for (const key of [revoked.text, expired.text, unknown, 'jd_oops'])
    refusal(() => authenticator.authenticate(from(withKey(key))));
  refusal(() => authenticator.authenticate(from(withKey(reader.text)), 'admin'));
  refusal(() => authenticator.authenticate(from(withAuthorization(undefined))));
  const lines = () => logger.lines.filter((line) => line.includes('audit="key.refused"'));
  t.strictSame(
    lines().map((line) => /reason=.*/.exec(line)?.[0]),
    [
      // Revoked and expired keys are not in memory.
      ...Array<string>(3).fill('reason="unknown" key_id=null address="192.0.2.7"'),
      'reason="malformed" key_id=null address="192.0.2.7"',
      `reason="lacks_scope" key_id="${reader.id}" address="192.0.2.7" scope="admin"`,
    ],
    'a request without a key is not logged',
  );
  for (let i = 0; i < 1000; i++) refusal(() => authenticator.authenticate(withKey(unknown)));
  t.equal(lines().length, 20);
  clock.advance(60_000);
  t.match(lines().slice(20), [/count=985$/]);
  refusal(() => authenticator.authenticate(withKey(unknown)));
  t.equal(lines().length, 22, 'the next minute begins');
  for (const text of [unknown, revoked.text, 'jd_oops']) t.notMatch(logger.lines.join(), text);
  await authenticator.close();
});

function isRefused(attempt: () => unknown): boolean {
  try {
    attempt();
    return false;
  } catch {
    return true;
  }
}
