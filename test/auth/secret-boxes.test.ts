import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import t from 'tap';
import { SecretBoxes } from '../../src/auth/secret-boxes.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { testFolder } from '../support/test-folder.js';

const OWNER = 'thing:1';

function aKey(): string {
  return randomBytes(32).toString('base64');
}

void t.test('sealed secrets open with the same key and differ each time', async (t) => {
  const key = aKey();
  const directory = testFolder(t);
  const box = new SecretBoxes({ key }).at(directory);
  const other = new SecretBoxes({ key }).at(directory);
  for (const secret of ['', 'whsec_x', ...ODD_TEXTS.map((text) => text.toWellFormed())]) {
    const sealed = await box.seal(secret, OWNER);
    t.equal(await other.open(sealed, OWNER), secret);
    t.match(sealed, /^v1:[A-Za-z0-9+/]+=*$/);
    if (secret.length > 3) t.notOk(sealed.includes(secret));
    t.not(await box.seal(secret, OWNER), sealed);
  }
  t.strictSame(await readdir(directory), [], 'a configured key is not written to disk');
});

void t.test('opens only for its owner and only unmodified', async (t) => {
  const box = new SecretBoxes({ key: aKey() }).at(testFolder(t));
  const sealed = await box.seal('secret', OWNER);
  await t.rejects(box.open(sealed, 'thing:2'));
  const bytes = Buffer.from(sealed.slice(3), 'base64');
  for (let i = 0; i < bytes.length; i++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(changed.readUInt8(i) ^ 1, i);
    await t.rejects(box.open(`v1:${changed.toString('base64')}`, OWNER), `byte ${i}`);
  }
  for (const broken of ['', 'v1:', 'v1:AAAA', sealed.slice(0, -8), sealed.slice(3), `v2:${sealed.slice(3)}`])
    await t.rejects(box.open(broken, OWNER), broken);
});

void t.test('creates a key once on first use, readable only by its owner', async (t) => {
  const directory = testFolder(t);
  const boxes = new SecretBoxes({});
  const file = join(directory, 'secrets-key');
  await t.rejects(boxes.at(directory).open('v1:AAAA', OWNER), {
    message: /is missing: put .*secrets-key back/,
  });
  t.strictSame(await readdir(directory), [], 'reading creates no key');
  const sealed = await Promise.all(['a', 'b', 'c'].map((text) => boxes.at(directory).seal(text, OWNER)));
  t.strictSame(await readdir(directory), ['secrets-key']);
  t.equal((await stat(file)).mode & 0o777, 0o600);
  const text = await readFile(file, 'utf8');
  t.match(text, /^[A-Za-z0-9+/]{43}=\n$/);

  const later = new SecretBoxes({}).at(directory);
  for (const [index, expected] of ['a', 'b', 'c'].entries())
    t.equal(await later.open(sealed[index] ?? '', OWNER), expected);
  await later.seal('more', OWNER);
  t.equal(await readFile(file, 'utf8'), text);
  const configured = new SecretBoxes({ key: text.trim() }).at(directory);
  t.equal(await configured.open(sealed[0] ?? '', OWNER), 'a', 'the file holds a valid secrets.key');
});

void t.test('an error about a wrong key names its location and remedy, but no key', async (t) => {
  const directory = testFolder(t);
  const made = await new SecretBoxes({}).at(directory).seal('secret', OWNER);
  const file = join(directory, 'secrets-key');
  const keys = [(await readFile(file, 'utf8')).trim(), aKey(), aKey()];
  const failures = [
    await failureOf(new SecretBoxes({ key: keys[1] ?? '' }).at(directory).open(made, OWNER)),
    await failureOf(
      new SecretBoxes({ key: keys[1] ?? '' }).at(join(directory, 'elsewhere')).open(made, OWNER),
    ),
  ];
  await writeFile(file, `${keys[2] ?? ''}\n`);
  failures.push(await failureOf(new SecretBoxes({}).at(directory).open(made, OWNER)));
  t.strictSame(
    failures.map(({ message }) => message),
    [
      `The store's secrets are encrypted with a different key than the one in secrets.key of the configuration: put the former key back; ${file} may hold it`,
      "The store's secrets are encrypted with a different key than the one in secrets.key of the configuration: put the former key back",
      `The store's secrets are encrypted with a different key than the one in ${file}: put the former key back`,
    ],
  );
  for (const failure of failures)
    for (const key of keys) t.notOk(`${String(failure.stack)} ${String(failure.cause)}`.includes(key));
});

void t.test('leaves a file without a key unchanged', async (t) => {
  const directory = t.testdir({ 'secrets-key': 'not a key\n' });
  const box = new SecretBoxes({}).at(directory);
  await t.rejects(box.seal('secret', OWNER), { message: /secrets-key does not hold the key/ });
  t.equal(await readFile(join(directory, 'secrets-key'), 'utf8'), 'not a key\n');
  const key = aKey();
  await writeFile(join(directory, 'secrets-key'), key);
  t.equal(await box.open(await box.seal('secret', OWNER), OWNER), 'secret', 'a repaired file is read');
});

void t.test('seals nothing if the key cannot be read or written', async (t) => {
  const directory = testFolder(t);
  await mkdir(join(directory, 'secrets-key'));
  await t.rejects(new SecretBoxes({}).at(directory).seal('secret', OWNER), {
    message: `Cannot read the key of the store's secrets: make ${join(directory, 'secrets-key')} readable`,
  });
  const nowhere = join(directory, 'nowhere');
  const box = new SecretBoxes({}).at(nowhere);
  await t.rejects(box.seal('secret', OWNER), {
    message: `The key of the store's secrets cannot be written to ${join(nowhere, 'secrets-key')}: make its directory writable`,
  });
  await mkdir(nowhere);
  t.equal(
    await box.open(await box.seal('secret', OWNER), OWNER),
    'secret',
    'it works once the directory exists',
  );
});

void t.test('requires a configured key without a directory', async (t) => {
  const box = new SecretBoxes({}).at(null);
  const missing = { message: /^secrets\.key is missing in the configuration/ };
  await t.rejects(box.seal('secret', OWNER), missing);
  await t.rejects(box.open('v1:AAAA', OWNER), missing);
  const key = aKey();
  const [one, two] = [new SecretBoxes({ key }).at(null), new SecretBoxes({ key }).at(testFolder(t))];
  t.equal(await two.open(await one.seal('secret', OWNER), OWNER), 'secret');
  await t.rejects(new SecretBoxes({ key: aKey() }).at(null).open(await one.seal('secret', OWNER), OWNER), {
    message: /a different key than the one in secrets\.key of the configuration: put the former key back$/,
  });
});

async function failureOf(work: Promise<unknown>): Promise<Error> {
  try {
    await work;
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it did not fail');
}
