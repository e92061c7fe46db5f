import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { Compressor, compressSync } from 'snappy';
import t from 'tap';
import { HttpProblem } from '../../src/component/http.js';
import { ACCEPTED_CODINGS, decompress } from '../../src/http/decompress.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';
import { LARGE, PLAIN, ZSTD, zstdBomb } from '../support/packed-texts.js';
import { neverDiffers } from '../support/property.js';

const MIB = 1024 * 1024;

async function framed(plain: Buffer): Promise<Buffer> {
  const compressor = new Compressor();
  return Buffer.concat([compressor.update(plain), await compressor.finish()]);
}

async function inflate(coding: string, bytes: Uint8Array, maxBytes = 4 * MIB): Promise<Uint8Array> {
  let reserved = 0;
  const inflated = await decompress(coding, bytes, maxBytes, (more) => (reserved += more) <= maxBytes);
  if (reserved !== inflated.length) throw new Error(`${reserved} reserved for ${inflated.length}`);
  return inflated;
}

async function codeOf(inflating: Promise<Uint8Array>): Promise<string> {
  try {
    return `${(await inflating).length} bytes`;
  } catch (error) {
    if (error instanceof HttpProblem) return error.code;
    throw error;
  }
}

void t.test('decodes every coding of the OpenTelemetry Collector', async (t) => {
  const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
  const cases: readonly (readonly [string, Uint8Array, Buffer])[] = [
    ['deflate', deflateSync(PLAIN), PLAIN],
    ['deflate', deflateRawSync(PLAIN), PLAIN],
    ['zlib', deflateSync(PLAIN), PLAIN],
    ['zstd', ZSTD.sized, PLAIN],
    ['zstd', ZSTD.streamed, PLAIN],
    ['zstd', ZSTD.large, LARGE],
    ['zstd', Buffer.concat([ZSTD.sized, skippable, ZSTD.streamed]), Buffer.concat([PLAIN, PLAIN])],
    ['zstd', Buffer.from('KLUv/SAAAQAA', 'base64'), Buffer.alloc(0)],
    ['snappy', compressSync(LARGE), LARGE],
    ['snappy', await framed(LARGE), LARGE],
    ['x-snappy-framed', await framed(PLAIN), PLAIN],
    ['x-snappy-framed', Buffer.from('ff060000734e61507059', 'hex'), Buffer.alloc(0)],
  ];
  for (const [index, [coding, packed, plain]] of cases.entries())
    t.ok(Buffer.from(await inflate(coding, packed)).equals(plain), `${index}: ${coding}`);
});

for (const engine of ENGINES) {
  void t.test(`${engine}: receives bodies in every coding`, async (t) => {
    const { url, metric } = await startListener(t, engine, [
      { method: 'POST', path: '/', handle: async (request) => ({ status: 200, body: await request.body() }) },
    ]);
    const packed: Readonly<Record<string, Uint8Array>> = {
      gzip: gzipSync(PLAIN),
      zlib: deflateSync(PLAIN),
      zstd: ZSTD.streamed,
      snappy: compressSync(PLAIN),
      'x-snappy-framed': await framed(PLAIN),
    };
    for (const [coding, body] of Object.entries(packed)) {
      const answer = await send(url, { method: 'POST', headers: { 'content-encoding': coding }, body });
      t.equal(answer.body, PLAIN.toString(), coding);
    }
    const unknown = await send(url, { method: 'POST', headers: { 'content-encoding': 'lz4' }, body: 'x' });
    t.match(unknown, { status: 415, headers: { 'accept-encoding': ACCEPTED_CODINGS.join(', ') } });
    t.equal(await metric('http_body_bytes_in_flight'), 0);
  });
}

void t.test('rejects oversized output, whether or not the size is declared', async (t) => {
  const repeated = Buffer.concat([
    Buffer.from('28b52ffd0048', 'hex'),
    ...Array.from({ length: 8192 }, () => Buffer.from('02001000', 'hex')),
    Buffer.from('010000', 'hex'),
  ]);
  t.equal(await codeOf(inflate('zstd', repeated)), 'body_too_large', 'a gigabyte in run-length blocks');
  t.equal(await codeOf(inflate('zstd', zstdBomb(64 * 1024))), 'body_too_large', 'empty blocks');
  t.equal(await codeOf(inflate('zstd', ZSTD.large, LARGE.length)), `${LARGE.length} bytes`);
  t.equal(await codeOf(inflate('zstd', ZSTD.large, LARGE.length - 1)), 'body_too_large');
  t.equal(await codeOf(inflate('snappy', compressSync(LARGE), LARGE.length)), `${LARGE.length} bytes`);
  t.equal(await codeOf(inflate('snappy', compressSync(LARGE), LARGE.length - 1)), 'body_too_large');
  t.equal(await codeOf(inflate('snappy', await framed(LARGE), LARGE.length - 1)), 'body_too_large');
});

void t.test('rejects expansion of over a thousand times from 1 MiB on', async (t) => {
  const most = 64 * MIB;
  const json = (length: number, of: (i: number) => string) =>
    Buffer.from(`{"resourceLogs":[${Array.from({ length }, (_, i) => of(i)).join('')}]}`);
  const blanks = Buffer.alloc(63 * MIB, ' ');
  const brotli = (plain: Buffer) =>
    brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } });
  const zstd = Buffer.concat(Array.from({ length: 100 }, () => ZSTD.large));
  for (const [coding, body] of [
    ['br', brotli(blanks)],
    ['gzip', gzipSync(blanks)],
    ['zstd', zstd],
  ] as const) {
    await t.rejects(
      inflate(coding, body, most),
      { code: 'body_too_large', message: /more than 1000 times as large.*send it without Content-Encoding/ },
      `${coding}: ${body.length} bytes`,
    );
    // A caller with a smaller limit passes it.
    await t.rejects(inflate(coding, body, MIB), { message: /larger than the 1048576 bytes/ });
  }
  // Records of one program that differ only in times and ids.
  const record = (i: number) =>
    `{"timeUnixNano":"${1_763_740_800_000_000_000n + BigInt(i) * 1_000_003n}","traceId":"${(i * 7919).toString(16).padStart(32, '0')}","body":{"stringValue":"GET /healthz 200"}},`;
  const records = json(50_000, record);
  t.equal((await inflate('br', brotli(records), most)).length, records.length);
});

void t.test('a declared size allocates nothing', async (t) => {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(2n ** 40n);
  const zstd = Buffer.concat([Buffer.from('28b52ffde0', 'hex'), size, Buffer.from('010000', 'hex')]);
  t.equal(await codeOf(inflate('zstd', zstd)), 'invalid_encoding', 'a terabyte in no block');
  t.equal(await codeOf(inflate('snappy', Buffer.from('ffffffff0f00', 'hex'))), 'invalid_encoding');
});

void t.test('rejects corrupt data with an encoding error', async (t) => {
  const sources: readonly (readonly [string, Buffer])[] = [
    ['zstd', ZSTD.sized],
    ['zstd', ZSTD.streamed],
    ['zstd', ZSTD.large],
    ['snappy', compressSync(PLAIN)],
    ['snappy', await framed(PLAIN)],
  ];
  for (const [coding, bytes] of sources) {
    t.equal(await codeOf(inflate(coding, bytes.subarray(0, -3))), 'invalid_encoding', `${coding}: truncated`);
    t.equal(await codeOf(inflate(coding, Buffer.from('nonsense'))), 'invalid_encoding');
  }
  const checked = await framed(PLAIN);
  checked.writeUInt8(checked.readUInt8(15) ^ 1, 15);
  t.equal(await codeOf(inflate('snappy', checked)), 'invalid_encoding', 'a wrong checksum');

  const damage = fc.record({
    source: fc.constantFrom(...sources),
    bytes: fc.array(fc.tuple(fc.nat(2000), fc.nat(255)), { minLength: 1, maxLength: 8 }),
    cut: fc.nat(2000),
  });
  await neverDiffers(
    t,
    { runs: 300, ms: 3000 },
    [damage],
    async ({ source: [coding, whole], bytes, cut }) => {
      const broken = Buffer.from(cut % 3 === 0 ? whole.subarray(0, cut % whole.length) : whole);
      for (const [at, value] of bytes) if (at < broken.length) broken.writeUInt8(value, at);
      const outcome = await codeOf(inflate(coding, broken));
      if (!/^(?:\d+ bytes|invalid_encoding|body_too_large)$/.test(outcome)) throw new Error(outcome);
    },
  );
});

void t.test('decompresses large bodies in another thread', async (t) => {
  const most = 64 * MIB;
  // Empty frames keep the expansion below its limit.
  const padding = Buffer.concat([Buffer.from('5a2a4d1808020000', 'hex'), Buffer.alloc(520)]);
  const many = Buffer.concat(Array.from({ length: 120 }, () => [ZSTD.large, padding]).flat());
  const bodies: readonly (readonly [string, Uint8Array])[] = [
    ['zstd', many],
    ['snappy', compressSync(Buffer.alloc(48 * MIB, 'span '))],
    ['x-snappy-framed', await framed(Buffer.alloc(16 * MIB, 'span '))],
  ];
  for (const [coding, bytes] of bodies) {
    let turns = 0;
    let isOver = false;
    const count = (): void => {
      if (isOver) return;
      turns++;
      setImmediate(count);
    };
    setImmediate(count);
    const inflated = await inflate(coding, bytes, most);
    isOver = true;
    t.ok(inflated.length >= 16 * MIB, `${coding}: ${inflated.length} bytes`);
    // On the main thread this would finish within one or two turns of the event loop.
    t.ok(turns > 20, `${coding}: ${turns} turns of the event loop`);
  }
  t.equal(await codeOf(inflate('zstd', zstdBomb(60 * 1024), most)), 'body_too_large');
  t.equal(await codeOf(inflate('zstd', many.subarray(0, -3), most)), 'invalid_encoding', 'truncated');
  const broken = Buffer.from(many);
  broken.fill(0xff, 40, 44);
  t.equal(await codeOf(inflate('zstd', broken, most)), 'invalid_encoding');
  const together = await Promise.all(bodies.map(([coding, bytes]) => inflate(coding, bytes, most)));
  t.same(
    together.map(({ length }) => length),
    [120 * LARGE.length, 48 * MIB, 16 * MIB],
    'several at once',
  );
});
