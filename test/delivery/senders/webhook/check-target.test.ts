import t from 'tap';
import { AddressPolicy } from '../../../../src/delivery/senders/webhook/address-policy.js';
import { checkTarget } from '../../../../src/delivery/senders/webhook/check-target.js';
import { HOSTILE_HOSTS, PUBLIC_ADDRESSES } from '../../../support/hostile-addresses.js';

const strict = new AddressPolicy();

void t.test('accepts valid URLs', async (t) => {
  const good = [
    'https://example.com',
    'https://example.com/hooks?token=a%20b',
    'https://example.com:8443/hooks',
    'HTTPS://Example.COM./',
    'https://bücher.example/',
    'https://internal/',
    'https://localhost.example.com/',
    'https://mylocalhost/',
    'https://notlocal/',
    `https://example.com/${'x'.repeat(2048 - 20)}`,
    ...PUBLIC_ADDRESSES.map((address) => `https://${address.includes(':') ? `[${address}]` : address}/`),
  ];
  for (const url of good) t.equal(checkTarget(url, strict), null, url);
});

void t.test('rejects invalid URLs with a reason', async (t) => {
  const bad: readonly (readonly [string, string])[] = [
    ['', 'must be an https URL'],
    ['example.com/hook', 'must be an https URL'],
    ['https://', 'must be an https URL'],
    ['https://exa_mple .com', 'must not contain spaces or control characters'],
    ['http://example.com', 'must be an https URL'],
    ['ftp://example.com', 'must be an https URL'],
    ['file:///etc/passwd', 'must be an https URL'],
    ['javascript:alert(1)', 'must be an https URL'],
    ['https://user@example.com', 'must not contain a user name or password'],
    ['https://user:password@example.com', 'must not contain a user name or password'],
    ['https://:password@example.com', 'must not contain a user name or password'],
    ['https://example.com/#part', 'must not have a fragment (#…)'],
    ['https://example.com/#', 'must not have a fragment (#…)'],
    [' https://example.com', 'must not contain spaces or control characters'],
    ['https://example.com/\n', 'must not contain spaces or control characters'],
    ['https://exam\tple.com/', 'must not contain spaces or control characters'],
    ['https://example.com/\u0000', 'must not contain spaces or control characters'],
    [`https://example.com/${'x'.repeat(2048 - 19)}`, 'must have at most 2048 characters'],
    ['https://1.2.3.256/', 'must be an https URL'],
    ['https://example.com:0/', 'must not use port 0: it belongs to another protocol than HTTPS'],
    ['https://example.com:0022/', 'must not use port 22: it belongs to another protocol than HTTPS'],
  ];
  for (const [url, expected] of bad) t.equal(checkTarget(url, strict), expected, url);
});

void t.test('judges addresses by value, not by notation', async (t) => {
  for (const host of HOSTILE_HOSTS)
    t.match(
      checkTarget(`https://${host}/hook`, strict),
      /^must be reachable from the public internet: /,
      host,
    );
  t.equal(
    checkTarget('https://0x7f000001/', strict),
    'must be reachable from the public internet: 127.0.0.1 is not allowed',
  );
});

void t.test('rejects names of the machine and its network', async (t) => {
  const machine = ['localhost', 'LOCALHOST', 'localhost.', 'api.localhost', 'localhost:8443'];
  const network = ['hooks.internal', 'metadata.google.internal', 'printer.local', 'printer.local.'];
  const loopback = new AddressPolicy(['127.0.0.0/8']);
  const office = new AddressPolicy(['10.0.0.0/8']);
  const expected = /^must be reachable from the public internet: \S+ is not allowed$/;
  for (const host of [...machine, ...network])
    t.match(checkTarget(`https://${host}/`, strict), expected, host);
  for (const host of machine) {
    t.equal(checkTarget(`https://${host}/`, loopback), null, host);
    t.match(checkTarget(`https://${host}/`, office), expected, host);
  }
  for (const host of network) t.equal(checkTarget(`https://${host}/`, office), null, host);
});

void t.test('the allow list applies to literal addresses', async (t) => {
  const policy = new AddressPolicy(['127.0.0.1/32', 'fd00::/8']);
  for (const host of ['127.0.0.1:8443', '127.1', '[::ffff:127.0.0.1]', '[fd00::1]'])
    t.equal(checkTarget(`https://${host}/`, policy), null, host);
  for (const host of ['127.0.0.2', '[fc00::1]', '[fd00:ec2::254]'])
    t.type(checkTarget(`https://${host}/`, policy), 'string', host);
});
