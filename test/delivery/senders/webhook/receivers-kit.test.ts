import { spawn, spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { attemptHeaders } from '../../../../src/delivery/senders/webhook/attempt-headers.js';
import { generateSecret } from '../../../../src/delivery/senders/webhook/signature.js';
import { send } from '../../../support/http-listener.js';
import { projectFolder, readProjectFile } from '../../../support/project-file.js';
import { testFolder } from '../../../support/test-folder.js';

const KIT = join(projectFolder(), 'plugins/webhook-receiver');

/** A request and whether a receiver must accept it. */
interface Case {
  readonly name: string;
  readonly body: Buffer;
  readonly signature: string;
  readonly secret: string;
  /** The receiver's clock, in seconds since 1970. */
  readonly now: number;
  readonly valid: boolean;
}

const NOW = 1_795_206_404;
const SECRET = generateSecret();
const BODY = Buffer.from(
  '{"id":"01950000-0000-7000-8000-000000000002","data":{"name":"日本 \u2028 😀","n":1.0}}',
);

function sign(body: Buffer, time: string | number = NOW, secret = SECRET): string {
  return createHmac('sha256', secret).update(`${time}.`).update(body).digest('hex');
}

const GOOD = sign(BODY);

const { vectors } = JSON.parse(readProjectFile('plugins/webhook-receiver/signatures.json')) as {
  readonly vectors: readonly {
    readonly name: string;
    readonly secret: string;
    readonly received_at: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
    readonly valid: boolean;
  }[];
};

const fromVectors = vectors.map(({ name, secret, received_at, headers, body, valid }): Case => ({
  name,
  body: Buffer.from(body),
  signature: headers['X-Service-Signature'] ?? '',
  secret,
  now: received_at,
  valid,
}));

/** Other cases: the original except for the named change. */
const others = [
  { name: 'unmodified', valid: true },
  { name: 'received 300 s early', now: NOW - 300, valid: true },
  { name: 'received 301 s early', now: NOW - 301 },
  { name: 'received 301 s late', now: NOW + 301 },
  { name: 'an extended body', body: Buffer.concat([BODY, Buffer.from('\n')]) },
  { name: 'a truncated body', body: BODY.subarray(0, -1) },
  { name: 'no body', body: Buffer.alloc(0) },
  {
    name: 'a signed empty body',
    body: Buffer.alloc(0),
    signature: `t=${NOW},v1=${sign(Buffer.alloc(0))}`,
    valid: true,
  },
  {
    name: 'invalid UTF-8',
    body: Buffer.from([0xff, 0, 0x0a, 0xfe]),
    signature: `t=${NOW},v1=${sign(Buffer.from([0xff, 0, 0x0a, 0xfe]))}`,
    valid: true,
  },
  { name: 'another secret', secret: generateSecret() },
  { name: 'a truncated secret', secret: SECRET.slice(0, -1) },
  {
    name: 'an empty secret and a signature with it',
    secret: '',
    signature: `t=${NOW},v1=${sign(BODY, NOW, '')}`,
  },
  { name: 'no header', signature: '' },
  { name: 'no signature', signature: `t=${NOW}` },
  { name: 'an empty signature', signature: `t=${NOW},v1=` },
  { name: 'a shorter signature', signature: `t=${NOW},v1=${GOOD.slice(0, -2)}` },
  { name: 'a longer signature', signature: `t=${NOW},v1=${GOOD}00` },
  {
    name: 'another signature',
    signature: `t=${NOW},v1=${GOOD.replace(/^./, (digit) => (digit === '0' ? '1' : '0'))}`,
  },
  { name: 'another version', signature: `t=${NOW},v0=${GOOD}` },
  { name: 'an additional unknown version', signature: `t=${NOW},v2=x,v1=${GOOD},v0=y`, valid: true },
  {
    name: 'an additional wrong signature',
    signature: `t=${NOW},v1=${'0'.repeat(64)},v1=${GOOD}`,
    valid: true,
  },
  { name: 'no time', signature: `v1=${GOOD}` },
  { name: 'an empty time', signature: `t=,v1=${sign(BODY, '')}` },
  { name: 'a non-numeric time', signature: `t=now,v1=${sign(BODY, 'now')}` },
  { name: 'a negative time', signature: `t=-1,v1=${sign(BODY, '-1')}`, now: 0 },
  {
    name: 'a time beyond the number range',
    signature: `t=${'9'.repeat(5000)},v1=${sign(BODY, '9'.repeat(5000))}`,
  },
  { name: 'two times', signature: `t=${NOW - 400},t=${NOW},v1=${GOOD}` },
  { name: 'a non-ASCII header', signature: `t=${NOW},v1=ä,v1=日本` },
  { name: 'a pattern', signature: `t=${NOW},v1=*` },
].map((other): Case => ({
  body: BODY,
  signature: `t=${NOW},v1=${GOOD}`,
  secret: SECRET,
  now: NOW,
  valid: false,
  ...other,
}));

const cases = [...fromVectors, ...others];

/** A skip reason if this machine lacks a program. */
function unless(program: string, argument: string): false | string {
  return spawnSync(program, [argument]).status === 0 ? false : `${program} is not installed here`;
}

void t.test('Node', async (t) => {
  const { verify } = (await import(pathToFileURL(join(KIT, 'verify.mjs')).href)) as {
    readonly verify: (body: Buffer, signature: string | undefined, secret: string, now?: number) => boolean;
  };
  for (const { name, body, signature, secret, now, valid } of cases)
    t.equal(verify(body, signature, secret, now), valid, name);
  t.equal(verify(BODY, undefined, SECRET, NOW), false, 'a missing header');
  const current = Math.floor(Date.now() / 1000);
  t.equal(verify(BODY, `t=${current},v1=${sign(BODY, current)}`, SECRET), true, 'with its own clock');
  t.equal(verify(BODY, `t=${NOW - 1e9},v1=${sign(BODY, NOW - 1e9)}`, SECRET), false);
});

const PYTHON = `
import base64, json, sys, time
sys.path.insert(0, sys.argv[1])
from verify import verify
cases = json.load(sys.stdin)
print(json.dumps([verify(base64.b64decode(c["body"]), c["signature"], c["secret"], c["now"]) for c in cases]))
`;

void t.test('Python', { skip: unless('python3', '--version') }, async (t) => {
  const sent = [
    ...cases.map((each) => ({ ...each, body: each.body.toString('base64') })),
    { body: '', signature: null, secret: SECRET, now: null },
  ];
  // Prevents compiled files next to the kit.
  const { stdout, stderr } = spawnSync('python3', ['-B', '-c', PYTHON, KIT], { input: JSON.stringify(sent) });
  t.equal(stderr.toString(), '');
  const results = JSON.parse(stdout.toString()) as readonly boolean[];
  for (const [index, { name, valid }] of cases.entries()) t.equal(results[index], valid, name);
  t.equal(results.at(-1), false, 'a missing header');
});

void t.test('shell', { skip: unless('openssl', 'version') }, async (t) => {
  const run = ({ body, signature, secret, now }: Case, path = process.env['PATH'] ?? '') =>
    spawnSync('sh', [join(KIT, 'verify.sh'), signature, String(now)], {
      input: body,
      env: { PATH: path, WEBHOOK_SECRET: secret },
    });
  for (const each of cases) {
    const { status, stdout } = run(each);
    if (each.valid) t.equal(status, 0, each.name);
    else t.ok(status !== null && status > 0, each.name);
    t.equal(stdout.toString(), '');
  }
  const folder = testFolder(t);
  writeFileSync(join(folder, 'openssl'), '#!/bin/sh\ncat >/dev/null\nexit 1\n', { mode: 0o755 });
  const empty = others.find(({ name }) => name === 'an empty signature');
  if (!empty) throw new Error('the case is there');
  const broken = run(empty, `${folder}${delimiter}${process.env['PATH'] ?? ''}`);
  t.equal(broken.status, 2, 'a failing openssl accepts nothing');
  t.match(broken.stderr.toString(), 'openssl made no signature');
});

void t.test(
  'the receiver responds immediately, accepts each event once and refuses unsigned ones',
  async (t) => {
    const child = spawn(process.execPath, [join(KIT, 'receiver.mjs')], {
      env: { WEBHOOK_SECRET: SECRET, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    t.teardown(() => child.kill());
    let printed = '';
    const port = await new Promise<string>((resolve, reject) => {
      child.once('close', () => {
        reject(new Error('the receiver ended'));
      });
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        printed += text;
        const [, found] = /^listening on (\d+)$/m.exec(printed) ?? [];
        if (found !== undefined) resolve(found);
      });
    });
    const post = async (body: Buffer, secret = SECRET): Promise<number> => {
      const attempt = { eventId: 'e', eventType: 'webhook.test', deliveryId: 'd', attempt: 1, body, secret };
      const headers = attemptHeaders(attempt, Date.now() * 1000, '1.2.3');
      return (await send(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })).status;
    };
    const event = (id: string) =>
      Buffer.from(JSON.stringify({ id, type: 'webhook.test', data: { a: '日本' } }));
    t.equal(await post(event('one')), 204);
    t.equal(await post(event('one')), 204, 'a repeat also succeeds');
    t.equal(await post(event('two'), generateSecret()), 401);
    t.equal(await post(Buffer.from('no JSON')), 400);
    t.equal(await post(Buffer.alloc(1024 * 1024 + 1)), 413);
    t.equal((await send(`http://127.0.0.1:${port}/`)).status, 401);
    t.equal(await post(event('three')), 204);
    // It responds before it works: the line of the last event may come after its response.
    while (!printed.includes('webhook.test three')) await once(child.stdout, 'data');
    const ended = once(child, 'close');
    child.kill();
    await ended;
    t.strictSame(printed.match(/^webhook\.test \w+/gm), ['webhook.test one', 'webhook.test three']);
  },
);
