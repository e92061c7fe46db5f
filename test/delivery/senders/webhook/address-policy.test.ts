import fc from 'fast-check';
import t from 'tap';
import { AddressPolicy } from '../../../../src/delivery/senders/webhook/address-policy.js';
import { HOSTILE_HOSTS, PUBLIC_ADDRESSES } from '../../../support/hostile-addresses.js';
import { holds } from '../../../support/property.js';

const strict = new AddressPolicy();

/** The address of a URL host. */
function addressOf(host: string): string {
  return new URL(`https://${host}`).hostname.replace(/^\[|\]$/g, '');
}

void t.test('denies hostile addresses in any form', async (t) => {
  for (const host of HOSTILE_HOSTS) t.notOk(strict.allows(addressOf(host)), host);
});

void t.test('allows public addresses', async (t) => {
  for (const address of PUBLIC_ADDRESSES) t.ok(strict.allows(address), address);
});

void t.test('denies text that is not an address', async (t) => {
  for (const text of [
    '',
    'example.com',
    '8.8.8',
    '8.8.8.8.8',
    '08.8.8.8',
    '1.1.1.256',
    '2001:4860::1%eth0',
    ':',
    '[::1]',
  ])
    t.notOk(strict.allows(text), text);
});

void t.test('treats only mapped IPv4 within IPv6 as IPv4', async (t) => {
  for (const address of ['::ffff:8.8.8.8', '::FFFF:808:808', '0:0:0:0:0:ffff:8.8.8.8', '0::ffff:0808:0808'])
    t.ok(strict.allows(address), address);
  const policy = new AddressPolicy(['10.0.0.0/8']);
  for (const [before, after] of [
    ['::', ''],
    ['0::', ''],
    ['::0:', ''],
    ['0:0:0:0:0:0:', ''],
    ['::ffff:0:', ''],
    ['0:0:0:0:ffff:0:', ''],
    ['::1:ffff:', ''],
    ['fe80::', ''],
    ['::ffff:', '%eth0'],
    ['64:ff9b::', ''],
  ] as const)
    for (const ipv4 of ['8.8.8.8', '10.0.0.1'])
      t.notOk(policy.allows(before + ipv4 + after), before + ipv4 + after);
  t.ok(policy.allows('::ffff:10.0.0.1'), 'which matches the range');
});

void t.test('denies zones and spellings that neither URLs nor DNS produce', async (t) => {
  const everything = new AddressPolicy(['0.0.0.0/0', '::/0']);
  for (const text of [
    'fe80::1%1',
    'fe80::1%eth0.100',
    'fe80::1%25eth0',
    '::1%lo',
    '010.0.0.1',
    '0x0a.0.0.1',
    '0xa000001',
    '167772161',
    '10.1',
    '10.0.1',
    '10.0.0.1.',
    ' 10.0.0.1',
    '10.0.0.1 ',
    '10.0.0.1/32',
    '+10.0.0.1',
    '１０.0.0.1',
    '::ffff:010.0.0.1',
    '::ffff:10.1',
    '::ffff:167772161',
    '::00001',
    ':::1',
    '1::2::3',
    '1:2:3:4:5:6:7:8:9',
    '0::2:3:4:5:6:7:8',
  ])
    t.notOk(everything.allows(text), text);
  for (const text of ['10.0.0.1', '::ffff:10.0.0.1', '::1', '::2:3:4:5:6:7:8', '::10.0.0.1'])
    t.ok(everything.allows(text), text);
});

void t.test('the allow list opens ranges for any form of their addresses', async (t) => {
  const policy = new AddressPolicy(['10.1.2.3/8', 'fd00::/8']);
  for (const address of ['10.0.0.1', '10.255.0.1', '::ffff:10.0.0.1', 'fd12::1', '8.8.8.8'])
    t.ok(policy.allows(address), address);
  for (const address of ['127.0.0.1', '192.168.0.1', 'fc00::1', '::1', '::ffff:127.0.0.1'])
    t.notOk(policy.allows(address), address);
  t.equal(policy.allowsPrivate, true);
  t.equal(strict.allowsPrivate, false);
});

void t.test('a range of one family opens nothing of the other', async (t) => {
  const ipv6 = new AddressPolicy(['::/0']);
  t.ok(ipv6.allows('::1'));
  t.notOk(ipv6.allows('127.0.0.1'));
  t.notOk(ipv6.allows('::ffff:127.0.0.1'));
  const ipv4 = new AddressPolicy(['0.0.0.0/0']);
  t.ok(ipv4.allows('127.0.0.1'));
  t.notOk(ipv4.allows('::1'));
  t.notOk(ipv4.allows('::7f00:1'));
});

void t.test('metadata services stay closed unless listed exactly', async (t) => {
  const wide = new AddressPolicy(['0.0.0.0/0', '::/0', '169.254.169.254/31', 'fd00:ec2::254/127']);
  const services = [
    '169.254.169.254',
    '100.100.100.200',
    '168.63.129.16',
    'fd00:ec2::254',
    '::ffff:a9fe:a9fe',
  ];
  for (const address of services) t.notOk(wide.allows(address), address);
  t.ok(wide.allows('169.254.169.253'));
  const exact = new AddressPolicy(['169.254.169.254/32', 'FD00:0EC2:0:0:0:0:0:0254/128']);
  for (const address of ['169.254.169.254', '::ffff:a9fe:a9fe', 'fd00:ec2::254'])
    t.ok(exact.allows(address), address);
  t.notOk(exact.allows('100.100.100.200'));
});

void t.test('judges an address of an allowed NAT64 by its embedded address', async (t) => {
  const policy = new AddressPolicy(['64:ff9b::/96']);
  for (const address of ['64:ff9b::8.8.8.8', '64:ff9b::909:0']) t.ok(policy.allows(address), address);
  for (const address of [
    '64:ff9b::',
    '64:ff9b::1',
    '64:ff9b::127.0.0.1',
    '64:ff9b::10.0.0.0',
    '64:ff9b::a9fe:a9fe',
  ])
    t.notOk(policy.allows(address), address);
  t.ok(new AddressPolicy(['64:ff9b::/96', '10.0.0.0/8']).allows('64:ff9b::10.0.0.0'));
});

void t.test('loopback counts as allowed when either of its addresses is', async (t) => {
  t.equal(strict.allowsLoopback(), false);
  t.equal(new AddressPolicy(['10.0.0.0/8']).allowsLoopback(), false);
  t.equal(new AddressPolicy(['127.0.0.0/8']).allowsLoopback(), true);
  t.equal(new AddressPolicy(['::1/128']).allowsLoopback(), true);
});

void t.test('names an invalid range', async (t) => {
  const wrong = [
    '',
    '10.0.0.0',
    '10.0.0.0/',
    '10.0.0.0/33',
    '10.0.0.0/-1',
    '10.0.0.0/8/8',
    '10.0.0/8',
    'fd00::/129',
    'fe80::1%eth0/64',
    '::ffff:10.0.0.0/104',
    '::ffff:10.0.0.0/32',
    'example.com/8',
    ' 10.0.0.0/8',
  ];
  for (const cidr of wrong) {
    t.throws(() => new AddressPolicy(['192.168.0.0/16', cidr]), {
      message: `"${cidr}" is not a range of addresses: write an address and the length of its prefix, as in 10.0.0.0/8 or fd00::/8`,
    });
  }
});

/** The bits of an address or the start of a range, built from numbers without parsing. */
interface Range {
  readonly start: bigint;
  readonly prefix: number;
}

function ipv4Text(bits: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((bits >> shift) & 255n)).join('.');
}

function ipv6Text(bits: bigint): string {
  return Array.from({ length: 8 }, (_, word) =>
    ((bits >> BigInt(112 - 16 * word)) & 0xffffn).toString(16),
  ).join(':');
}

/** With the last 32 bits in IPv4 notation. */
function dottedText(bits: bigint): string {
  return ipv6Text(bits).replace(/\w+:\w+$/, ipv4Text(bits));
}

/** In URL notation. */
function shortText(bits: bigint): string {
  return addressOf(`[${ipv6Text(bits)}]`);
}

function isWithin(bits: bigint, { start, prefix }: Range, length: number): boolean {
  const rest = BigInt(length - prefix);
  return bits >> rest === start >> rest;
}

const ipv4 = (a: number, b: number, c: number, d: number, prefix: number): Range => ({
  start: BigInt(a * 2 ** 24 + b * 2 ** 16 + c * 2 ** 8 + d),
  prefix,
});
const ipv6 = (words: bigint, ofWords: number, prefix: number): Range => ({
  start: words << BigInt(128 - 16 * ofWords),
  prefix,
});

/** The ranges without public hosts as numbers. */
const DENIED_IPV4: readonly Range[] = [
  ipv4(0, 0, 0, 0, 8),
  ipv4(10, 0, 0, 0, 8),
  ipv4(100, 64, 0, 0, 10),
  ipv4(127, 0, 0, 0, 8),
  ipv4(168, 63, 129, 16, 32),
  ipv4(169, 254, 0, 0, 16),
  ipv4(172, 16, 0, 0, 12),
  ipv4(192, 0, 0, 0, 24),
  ipv4(192, 0, 2, 0, 24),
  ipv4(192, 31, 196, 0, 24),
  ipv4(192, 52, 193, 0, 24),
  ipv4(192, 88, 99, 0, 24),
  ipv4(192, 168, 0, 0, 16),
  ipv4(192, 175, 48, 0, 24),
  ipv4(198, 18, 0, 0, 15),
  ipv4(198, 51, 100, 0, 24),
  ipv4(203, 0, 113, 0, 24),
  ipv4(224, 0, 0, 0, 4),
  ipv4(240, 0, 0, 0, 4),
];
const PUBLIC_IPV6 = ipv6(0x2000n, 1, 3);
const DENIED_IPV6: readonly Range[] = [
  ipv6(0x2001_0000n, 2, 23),
  ipv6(0x2001_0db8n, 2, 32),
  ipv6(0x2002n, 1, 16),
  ipv6(0x2620_004f_8000n, 3, 48),
  ipv6(0x3fff_0000n, 2, 20),
];

/** Addresses inside, right before and right after a range. */
function near(ranges: readonly Range[], length: number): fc.Arbitrary<bigint> {
  return fc
    .record({
      range: fc.constantFrom(...ranges),
      at: fc.bigInt(0n, (1n << BigInt(length)) - 1n),
      edge: fc.constantFrom(-1n, 0n, 1n, null),
    })
    .map(({ range: { start, prefix }, at, edge }) => {
      const size = 1n << BigInt(length - prefix);
      const found = edge === null ? start + (at % size) : edge === 1n ? start + size : start + edge;
      return BigInt.asUintN(length, found);
    });
}

void t.test('the classifier matches arithmetic', async (t) => {
  holds(
    t,
    fc.property(fc.oneof(near(DENIED_IPV4, 32), fc.bigInt(0n, 2n ** 32n - 1n)), (bits) => {
      const expected = !DENIED_IPV4.some((range) => isWithin(bits, range, 32));
      const forms = [ipv4Text(bits), `::ffff:${ipv4Text(bits)}`, ipv6Text(0xffff_0000_0000n | bits)];
      return forms.every((form) => strict.allows(form) === expected);
    }),
    { numRuns: 2000 },
  );
  holds(
    t,
    fc.property(
      fc.oneof(near([PUBLIC_IPV6, ...DENIED_IPV6], 128), fc.bigInt(0n, 2n ** 128n - 1n)),
      (bits) => {
        const expected =
          isWithin(bits, PUBLIC_IPV6, 128) && !DENIED_IPV6.some((range) => isWithin(bits, range, 128));
        const forms = [ipv6Text(bits), dottedText(bits), shortText(bits)];
        return bits >> 32n === 0xffffn || forms.every((form) => strict.allows(form) === expected);
      },
    ),
    { numRuns: 2000 },
  );
});

void t.test('the allow list matches arithmetic', async (t) => {
  const range = fc.record({ start: fc.bigInt(0n, 2n ** 32n - 1n), prefix: fc.integer({ min: 0, max: 32 }) });
  holds(
    t,
    fc.property(range, near(DENIED_IPV4.slice(0, 4), 32), (range, bits) => {
      const policy = new AddressPolicy([`${ipv4Text(range.start)}/${range.prefix}`]);
      const isPublic = !DENIED_IPV4.some((denied) => isWithin(bits, denied, 32));
      const isMetadata = ipv4Text(bits) === '100.100.100.200';
      return isMetadata || policy.allows(ipv4Text(bits)) === (isPublic || isWithin(bits, range, 32));
    }),
    { numRuns: 1000 },
  );
});

void t.test('no text makes the classifier throw', async (t) => {
  holds(
    t,
    fc.property(
      fc.oneof(
        fc.string(),
        fc.ipV6(),
        fc.ipV4Extended(),
        fc.ipV6().map((text) => `${text}%x`),
      ),
      (text) => typeof strict.allows(text) === 'boolean',
    ),
    { numRuns: 2000 },
  );
});
