import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import {
  resolveNames,
  type Resolve,
  type ResolveOptions,
} from '../../../../src/delivery/senders/webhook/resolve-names.js';
import { startDnsServer, type DnsAnswer, type DnsServer } from '../../../support/dns-server.js';
import { HandClock } from '../../../support/hand-clock.js';
import { NOTHING } from '../../../support/faulty-answers.js';
import { startReceiver } from '../../../support/webhook-receiver.js';
import { CONNECT_TIMEOUT_MS, startSender } from '../../../support/webhook-sender.js';

const SLOW = 40;

/** `pair.test` has addresses of each family, `ipv4.test` and `ipv6.test` have one, `*.silent.test` gets no response. */
const ZONE: Readonly<Record<string, DnsAnswer>> = {
  'A pair.test': ['192.0.2.1', '192.0.2.2'],
  'AAAA pair.test': ['2001:db8::1'],
  'A ipv4.test': ['192.0.2.4'],
  'AAAA ipv4.test': [],
  'A ipv6.test': 'NXDOMAIN',
  'AAAA ipv6.test': ['2001:db8::6'],
  'A half.test': ['192.0.2.5'],
  'AAAA half.test': 'SERVFAIL',
  'A deaf.test': ['192.0.2.6'],
  'AAAA deaf.test': 'silence',
  'A empty.test': [],
  'AAAA empty.test': [],
  'A broken.test': [],
  'AAAA broken.test': 'SERVFAIL',
  'A hook.test': ['127.0.0.1'],
  'AAAA hook.test': [],
};

function answerOf(question: string): DnsAnswer {
  return ZONE[question] ?? (question.endsWith('silent.test') ? 'silence' : 'NXDOMAIN');
}

interface Place {
  readonly dns: DnsServer;
  readonly clock: HandClock;
  readonly hostsPath: string;
  readonly resolve: Resolve;
}

async function start(t: Test, hosts = '', options: Partial<ResolveOptions> = {}): Promise<Place> {
  const dns = await startDnsServer(t, answerOf);
  const clock = new HandClock();
  const hostsPath = join(t.testdir({ hosts }), 'hosts');
  const resolve = resolveNames({
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    clock,
    hostsPath,
    servers: [dns.address],
    families: () => [4, 6],
    ...options,
  });
  return { dns, clock, hostsPath, resolve };
}

async function addresses(
  resolve: Resolve,
  name: string,
  signal = new AbortController().signal,
): Promise<string[]> {
  return (await resolve(name, signal)).map(({ address, family }) => `${family} ${address}`);
}

void t.test('returns addresses of both families even if one lookup fails', async (t) => {
  const { resolve, dns, clock } = await start(t);
  t.strictSame(await addresses(resolve, 'Pair.TEST.'), ['4 192.0.2.1', '4 192.0.2.2', '6 2001:db8::1']);
  t.strictSame(await addresses(resolve, 'ipv4.test'), ['4 192.0.2.4']);
  t.strictSame(await addresses(resolve, 'ipv6.test'), ['6 2001:db8::6']);
  t.strictSame(await addresses(resolve, 'half.test'), ['4 192.0.2.5']);
  t.equal(dns.questions.includes('A pair.test'), true, 'the exact name, without search domains');

  const deaf = addresses(resolve, 'deaf.test');
  await dns.asked(dns.questions.length + 2);
  // The first response arrives first, since that of another name arrives after it.
  await addresses(resolve, 'ipv4.test');
  clock.advance(CONNECT_TIMEOUT_MS / 2);
  t.strictSame(await deaf, ['4 192.0.2.6']);
  t.equal(await dns.waiting(), 0);
});

void t.test('does not look up a family the machine lacks', async (t) => {
  const { resolve, dns } = await start(t, '', { families: () => [4] });
  t.strictSame(await addresses(resolve, 'pair.test'), ['4 192.0.2.1', '4 192.0.2.2']);
  t.strictSame(dns.questions, ['A pair.test']);
});

void t.test('reports names without addresses', async (t) => {
  const { resolve, dns } = await start(t);
  await t.rejects(addresses(resolve, 'none.test'), { code: 'ENOTFOUND' });
  await t.rejects(addresses(resolve, 'empty.test'), { code: 'ENODATA' });
  await t.rejects(addresses(resolve, 'broken.test'), { code: 'ESERVFAIL' }, 'the more severe error');
  t.equal(await dns.waiting(), 0);
});

void t.test('silent DNS times out', async (t) => {
  const { resolve, dns } = await start(t, '', { connectTimeoutMs: 1500 });
  await t.rejects(addresses(resolve, 'silent.test'), { code: 'ETIMEOUT' });
  t.equal(dns.questions.length, 4, 'each was queried twice');
});

void t.test('shares lookups of one name, independent of single callers', async (t) => {
  const { resolve, dns } = await start(t);
  await Promise.all(Array.from({ length: 5 }, () => addresses(resolve, 'hook.test')));
  t.strictSame([...dns.questions].sort(), ['A hook.test', 'AAAA hook.test']);

  const reason = new Error('the connect time is over');
  const [first, second] = [new AbortController(), new AbortController()];
  const firstEnd = t.rejects(addresses(resolve, 'silent.test', first.signal), reason);
  const secondEnd = t.rejects(addresses(resolve, 'silent.test', second.signal), reason);
  const other = t.rejects(addresses(resolve, 'other.silent.test', second.signal), reason);
  await dns.asked(6);
  first.abort(reason);
  await firstEnd;
  t.equal(await dns.waiting(), 2, 'the second still waits');
  t.strictSame(await addresses(resolve, 'ipv4.test'), ['4 192.0.2.4']);
  second.abort(reason);
  await Promise.all([secondEnd, other]);
  t.equal(await dns.waiting(), 0);

  const third = new AbortController();
  const thirdEnd = t.rejects(addresses(resolve, 'silent.test', third.signal), reason);
  await dns.asked(dns.questions.length + 2);
  t.equal(await dns.waiting(), 1, 'it is looked up again');
  third.abort(reason);
  await thirdEnd;
  await t.rejects(addresses(resolve, 'hook.test', AbortSignal.abort(reason)), reason);
});

void t.test('localhost is this machine, regardless of DNS and the hosts file', async (t) => {
  const { resolve, dns } = await start(t, '192.0.2.9 localhost\n');
  for (const name of ['localhost', 'LOCALHOST.', 'a.b.localhost'])
    t.strictSame(await addresses(resolve, name), ['4 127.0.0.1', '6 ::1'], name);
  await t.rejects(addresses(resolve, 'nolocalhost'), { code: 'ENOTFOUND' });
  t.strictSame([...dns.questions].sort(), ['A nolocalhost', 'AAAA nolocalhost']);
});

void t.test('the hosts file takes precedence over DNS', async (t) => {
  const { resolve, dns } = await start(
    t,
    [
      '# 192.0.2.90 comment.test',
      '192.0.2.10\thook.test  Second.Test # third.test\r',
      '  2001:db8::10 hook.test',
      '192.0.2.10 hook.test',
      '192.0.2.300 ipv4.test',
      'fe80::1%lo ipv4.test',
      'ipv4.test 192.0.2.11',
      '192.0.2.12 a/b.test',
      '192.0.2.13',
    ].join('\n'),
  );
  t.strictSame(await addresses(resolve, 'hook.test'), ['4 192.0.2.10', '6 2001:db8::10']);
  t.strictSame(await addresses(resolve, 'second.test'), ['4 192.0.2.10']);
  t.strictSame(dns.questions, []);
  for (const name of ['third.test', 'comment.test'])
    await t.rejects(addresses(resolve, name), { code: 'ENOTFOUND' });
  t.strictSame(await addresses(resolve, 'ipv4.test'), ['4 192.0.2.4'], 'lines without entries');
});

void t.test('follows changes and removal of the hosts file', async (t) => {
  const { resolve, clock, hostsPath } = await start(t, '192.0.2.10 hook.test');
  const write = (text: string, seconds: number): void => {
    writeFileSync(hostsPath, text);
    utimesSync(hostsPath, seconds, seconds);
  };
  t.strictSame(await addresses(resolve, 'hook.test'), ['4 192.0.2.10']);
  write('192.0.2.11 hook.test', 1000);
  t.strictSame(await addresses(resolve, 'hook.test'), ['4 192.0.2.10'], 'within the same second');
  clock.advance(1000);
  t.strictSame(await addresses(resolve, 'hook.test'), ['4 192.0.2.11']);
  rmSync(hostsPath);
  clock.advance(1000);
  t.strictSame(await addresses(resolve, 'ipv4.test'), ['4 192.0.2.4']);
  await t.rejects(addresses(resolve, 'second.test'), { code: 'ENOTFOUND' });
  write('192.0.2.12 second.test', 1000);
  clock.advance(1000);
  t.strictSame(await addresses(resolve, 'second.test'), ['4 192.0.2.12']);
});

void t.test('slow lookups do not delay connections of others', async (t) => {
  const { resolve, dns, clock } = await start(t);
  const receiver = await startReceiver(t);
  const { send } = await startSender(t, { resolve, clock });
  const slow = Array.from({ length: SLOW }, (_, at) => send(`https://${at}.silent.test/`));
  await dns.asked(2 * SLOW);
  t.match(await send(receiver.url), { succeeded: true });
  t.equal(await dns.waiting(), SLOW, 'the others still wait');
  clock.advance(CONNECT_TIMEOUT_MS);
  for (const result of await Promise.all(slow))
    t.match(result, { ...NOTHING, error: `No connection within ${CONNECT_TIMEOUT_MS} ms` });
  t.equal(await dns.waiting(), 0, 'nothing is left behind');
});

void t.test('closing a sender ends its lookups', async (t) => {
  const { resolve, dns } = await start(t);
  const { send, sender } = await startSender(t, { resolve });
  const attempt = send('https://silent.test/');
  await dns.asked(2);
  await sender.close();
  t.match(await attempt, { succeeded: false, statusCode: null });
  t.equal(await dns.waiting(), 0);
});

void t.test('tenant-visible errors explain a failed lookup', async (t) => {
  const closed = '127.0.0.1:9';
  for (const [name, expected, options] of [
    ['none.test', '', {}],
    ['broken.test', ': DNS could not answer', {}],
    ['hook.test', ': DNS could not answer', { servers: [closed] }],
    ['silent.test', ': DNS did not answer in time', { connectTimeoutMs: 1000 }],
  ] as const) {
    const { resolve, dns } = await start(t, '', options);
    const { send } = await startSender(t, { resolve });
    const { kind, error, detail } = await send(`https://${name}/`);
    t.equal(kind, 'failed');
    t.equal(error, `The host name ${name} cannot be resolved${expected}`);
    t.match(detail, `no address was found for ${name}: Error: query`);
    t.notMatch(`${error ?? ''}${detail ?? ''}`, dns.address);
  }
});
