import { setDefaultAutoSelectFamily } from 'node:net';
import t, { type Test } from 'tap';
import { AddressPolicy } from '../../../../src/delivery/senders/webhook/address-policy.js';
import { HOSTILE_HOSTS } from '../../../support/hostile-addresses.js';
import { startReceiver, type Receiver } from '../../../support/webhook-receiver.js';
import { startSender } from '../../../support/webhook-sender.js';

const REFUSED = {
  kind: 'blocked',
  succeeded: false,
  statusCode: null,
  responseBody: '',
  error: 'The destination address is not allowed',
  isGone: false,
  retryAfterMs: null,
};
const HOSTILE_ADDRESSES = HOSTILE_HOSTS.map((host) =>
  new URL(`https://${host}`).hostname.replace(/^\[|\]$/g, ''),
);

/** Listeners on one port of both loopback addresses, so that every connection to this machine is counted. */
async function listenEverywhere(t: Test): Promise<readonly Receiver[]> {
  const ipv4 = await startReceiver(t);
  return [ipv4, await startReceiver(t, undefined, { address: '::1', port: ipv4.port })];
}

function assertUntouched(t: Test, receivers: readonly Receiver[]): void {
  for (const { traffic } of receivers) t.strictSame(traffic, { connections: 0, bytes: 0 });
}

void t.test('refuses literal addresses in any form without a packet', async (t) => {
  const receivers = await listenEverywhere(t);
  const { send, lookups } = await startSender(t, { policy: new AddressPolicy() });
  for (const host of HOSTILE_HOSTS)
    t.match(await send(`https://${host}:${receivers[0]?.port ?? 0}/hook`), REFUSED, host);
  t.strictSame(lookups, [], 'nothing to look up');
  assertUntouched(t, receivers);
});

void t.test('refuses names of such addresses without a packet', async (t) => {
  const receivers = await listenEverywhere(t);
  let address = '';
  const { send, lookups } = await startSender(t, { policy: new AddressPolicy(), names: () => [address] });
  for (address of HOSTILE_ADDRESSES) {
    const result = await send(`https://hook.test:${receivers[0]?.port ?? 0}/hook`);
    t.match(result, REFUSED, address);
    t.match(result.detail, address, 'the operator sees the address');
  }
  t.equal(lookups.length, HOSTILE_ADDRESSES.length);
  assertUntouched(t, receivers);
});

void t.test('refuses localhost resolved by the system', async (t) => {
  const receivers = await listenEverywhere(t);
  const { send } = await startSender(t, { policy: new AddressPolicy(), resolve: undefined });
  t.match(await send(`https://localhost:${receivers[0]?.port ?? 0}/`), REFUSED);
  assertUntouched(t, receivers);
});

void t.test('refuses other protocols', async (t) => {
  const receivers = await listenEverywhere(t);
  const { send } = await startSender(t);
  t.match(await send(`http://hook.test:${receivers[0]?.port ?? 0}/`), REFUSED);
  assertUntouched(t, receivers);
});

for (const isOneByOne of [false, true]) {
  const way = isOneByOne ? 'one address' : 'all addresses';
  void t.test(`${way} of a name: uses only the allowed ones`, async (t) => {
    // When off, Node looks up a single address.
    setDefaultAutoSelectFamily(!isOneByOne);
    t.teardown(() => {
      setDefaultAutoSelectFamily(true);
    });
    const allowed = await startReceiver(t);
    const other = await startReceiver(t, undefined, { address: '127.0.0.2', port: allowed.port });
    const { send } = await startSender(t, { names: () => ['10.0.0.5', '127.0.0.2', '::1', '127.0.0.1'] });
    t.match(await send(allowed.url), { succeeded: true });
    t.equal(allowed.requests.length, 1);
    assertUntouched(t, [other]);
  });
}

void t.test('checks a name again for each attempt', async (t) => {
  const allowed = await startReceiver(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
  });
  const other = await startReceiver(t, undefined, { address: '127.0.0.2', port: allowed.port });
  const answers = ['127.0.0.1', '127.0.0.2', '169.254.169.254', '127.0.0.1'];
  const { send } = await startSender(t, { names: () => [answers.shift() ?? ''] });
  t.match(await send(allowed.url), { succeeded: true });
  t.match(await send(allowed.url), REFUSED);
  t.match(await send(allowed.url), REFUSED);
  t.match(await send(allowed.url), { succeeded: true });
  t.equal(allowed.requests.length, 2);
  assertUntouched(t, [other]);
});

void t.test('resolves a name once for the check and the connection', async (t) => {
  const other = await startReceiver(t, undefined, { address: '127.0.0.2' });
  // A second lookup would return the other address.
  const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.2'];
  const { send, lookups } = await startSender(t, { names: () => [answers.shift() ?? ''] });
  t.match(await send(other.url), { error: 'The receiver refused the connection' });
  t.equal(lookups.length, 1);
  assertUntouched(t, [other]);
});

void t.test('sends no byte to a wrong address found after connecting', async (t) => {
  const receiver = await startReceiver(t);
  let asked = 0;
  // Simulates a system that connects to another address than the checked one.
  const { send } = await startSender(t, { policy: { allows: () => ++asked === 1 } });
  const result = await send(receiver.url);
  t.match(result, REFUSED);
  t.match(result.detail, /hook\.test led to 127\.0\.0\.1, which is not allowed/);
  await receiver.idle();
  t.strictSame(receiver.traffic, { connections: 1, bytes: 0 });
  t.equal(receiver.requests.length, 0);
});

void t.test('tenant-visible errors never show the address of a name', async (t) => {
  const answers: string[][] = [['10.1.2.3'], ['127.0.0.1'], ['127.0.0.1', '127.0.0.1']];
  const { send } = await startSender(t, { names: () => answers.shift() ?? [] });
  while (answers.length > 0) {
    const { error } = await send('https://hook.test:1/');
    t.type(error, 'string');
    t.notMatch(error, /\d+\.\d+/);
  }
});

void t.test('an operator may allow a private receiver by name and by address', async (t) => {
  const receiver = await startReceiver(t);
  const { send } = await startSender(t);
  t.match(await send(`https://hook.test:${receiver.port}/named`), { succeeded: true });
  t.match(await send(`https://127.0.0.1:${receiver.port}/literal`), { succeeded: true });
  t.match(await send(`https://0x7f000001:${receiver.port}/odd`), { succeeded: true });
  t.strictSame(
    receiver.requests.map(({ line }) => line),
    ['POST /named HTTP/1.1', 'POST /literal HTTP/1.1', 'POST /odd HTTP/1.1'],
  );
  t.ok(receiver.names.includes('hook.test'), 'TLS still requests the name');
});
