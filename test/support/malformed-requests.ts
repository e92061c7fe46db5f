import { brotliCompressSync, createGzip, deflateSync, gzipSync } from 'node:zlib';
import { Readable } from 'node:stream';
import type { Sent } from './http-post.js';
import { anItem } from './trace-batch.js';

/** A rejected request with its documented response. */
export interface MalformedRequest {
  readonly name: string;
  readonly sent: () => Sent;
  readonly status: number;
  readonly code: string;
  /** Expected in `detail` or an entry of `errors`. */
  readonly message?: RegExp;
  /** `field` of the first entry of `errors`. */
  readonly field?: string;
}

const MIB = 1024 * 1024;

const good = (): string => JSON.stringify({ traces: [anItem()] });

function withSpans(...counts: readonly number[]): string {
  return JSON.stringify({ traces: counts.map((spans) => anItem({ spans })) });
}

/** The valid body with one text replaced. */
function altered(from: string | RegExp, to: string): string {
  return good().replace(from, () => to);
}

/** The valid body with bytes in place of the agent name. */
function withNameBytes(...bytes: readonly number[]): Buffer {
  const text = good();
  const at = text.indexOf('researcher');
  return Buffer.concat([
    Buffer.from(text.slice(0, at)),
    Buffer.from(bytes),
    Buffer.from(text.slice(at + 'researcher'.length)),
  ]);
}

function refused(
  status: number,
  code: string,
  name: string,
  sent: Sent | (() => Sent),
  more: Pick<MalformedRequest, 'message' | 'field'> = {},
): MalformedRequest {
  return { name, sent: typeof sent === 'function' ? sent : () => sent, status, code, ...more };
}

const noJson = (name: string, body: string | (() => string), message?: RegExp): MalformedRequest =>
  refused(
    400,
    'invalid_json',
    name,
    () => ({ body: typeof body === 'string' ? body : body() }),
    message && { message },
  );

const notUtf8 = (name: string, body: () => Uint8Array): MalformedRequest =>
  refused(400, 'invalid_encoding', name, () => ({ body: body() }));

const wrongType = (name: string, type: string | undefined): MalformedRequest =>
  refused(415, 'unsupported_media_type', name, () => ({ headers: { 'content-type': type }, body: good() }));

const encoded = (
  status: number,
  code: string,
  name: string,
  encoding: string,
  body: () => Sent['body'],
): MalformedRequest =>
  refused(status, code, name, () => {
    const bytes = body();
    return { headers: { 'content-encoding': encoding }, ...(bytes === undefined ? {} : { body: bytes }) };
  });

const brokenRule = (
  name: string,
  body: string | (() => string),
  field: string,
  message: RegExp,
): MalformedRequest =>
  refused(422, 'validation_failed', name, () => ({ body: typeof body === 'string' ? body : body() }), {
    field,
    message,
  });

const wrongKey = (status: number, code: string, name: string, key: string | undefined): MalformedRequest =>
  refused(status, code, name, () => ({ headers: { authorization: key }, body: good() }));

/** One gigabyte of zeros, compressed while sending: about a megabyte. */
function zeros(): Readable {
  const chunk = Buffer.alloc(MIB);
  const gibibyte = Readable.from(
    (function* () {
      for (let sent = 0; sent < 1024; sent++) yield chunk;
    })(),
  );
  const gzip = createGzip({ level: 1 });
  // The server stops reading long before the end.
  gzip.on('close', () => gibibyte.destroy());
  return gibibyte.pipe(gzip);
}

/** @param readerAuthorization header of a read-only key */
export function malformedRequests(readerAuthorization: string): readonly MalformedRequest[] {
  return [
    noJson('an empty body', '', /empty/),
    noJson('only white space', ' \n\t ', /empty/),
    noJson('an open brace', '{', /position 1/),
    noJson('a body that ends early', () => good().slice(0, -20)),
    noJson('a comma too many', () => altered(/}$/, ',}')),
    noJson('single quotes', () => good().replaceAll('"', "'"), /Expected property name.* at position 1/),
    noJson('a key without quotes', '{traces: []}', /position 1/),
    noJson('NaN', () => altered(':1250', ':NaN'), /Unexpected token 'N'/),
    noJson('Infinity', () => altered(':1250', ':Infinity')),
    noJson('-Infinity', () => altered(':1250', ':-Infinity')),
    noJson('undefined', () => altered(':1250', ':undefined')),
    noJson('a hexadecimal number', () => altered(':1250', ':0x4E2')),
    noJson('a number with a leading zero', () => altered(':1250', ':01250')),
    noJson('a number with a plus sign', () => altered(':1250', ':+1250')),
    noJson('a number without a digit before the point', () => altered(':1250', ':.5')),
    noJson('a comment', () => `// batch\n${good()}`),
    noJson('two documents', () => `${good()}${good()}`),
    noJson('one document a line', () => `${good()}\n${good()}\n`),
    noJson('a raw line break in a text', () => altered('researcher', 'resear\ncher'), /control character/),
    noJson('an unknown escape', () => altered('researcher', 'resear\\xcher')),
    noJson('an escape with too few digits', () => altered('researcher', 'resear\\u12cher')),
    noJson('a text that never ends', '{"traces": ["'),
    noJson('XML', '<traces/>'),
    noJson('a form', 'traces=%5B%5D'),
    noJson('zero bytes', '\0'.repeat(1000)),
    notUtf8('a byte that is not UTF-8', () => withNameBytes(0x61, 0xff)),
    notUtf8('Latin-1', () => withNameBytes(0x63, 0x61, 0x66, 0xe9)),
    notUtf8('an overlong form', () => withNameBytes(0xc0, 0x80)),
    notUtf8('a surrogate in UTF-8', () => withNameBytes(0xed, 0xa0, 0x80)),
    notUtf8('a character above U+10FFFF', () => withNameBytes(0xf4, 0x90, 0x80, 0x80)),
    notUtf8('half a character at the end', () =>
      Buffer.concat([Buffer.from(good()), Buffer.from([0xe2, 0x82])]),
    ),
    notUtf8('UTF-16 with its mark', () => Buffer.from(`\ufeff${good()}`, 'utf16le')),
    brokenRule('null', 'null', '', /must be an object/),
    brokenRule('a list', '[]', '', /must be an object/),
    brokenRule('a list of 50 000 levels', '['.repeat(50_000) + ']'.repeat(50_000), '', /nests deeper/),
    brokenRule('1001 levels in a small body', '['.repeat(1001) + ']'.repeat(1001), '', /nests deeper/),
    brokenRule('100 000 levels that are never closed', '['.repeat(100_000), '', /nests deeper/),
    brokenRule('a text', '"traces"', '', /must be an object/),
    brokenRule('a number', '42', '', /must be an object/),
    brokenRule('true', 'true', '', /must be an object/),
    brokenRule('no traces', '{}', '/traces', /is required/),
    brokenRule('traces in capitals', '{"Traces": []}', '/traces', /is required/),
    brokenRule('traces behind __proto__', '{"__proto__": {"traces": []}}', '/traces', /is required/),
    brokenRule('traces that are null', '{"traces": null}', '/traces', /must be an array/),
    brokenRule('traces that are an object', '{"traces": {"0": {}}}', '/traces', /must be an array/),
    brokenRule('traces that are a text', '{"traces": "[]"}', '/traces', /must be an array/),
    brokenRule('101 spans in one trace', () => withSpans(101), '/traces', /100 spans.*101/),
    brokenRule('101 spans in all', () => withSpans(60, 41), '/traces', /100 spans.*101/),
    brokenRule(
      '500 spans, all of them nonsense',
      () => JSON.stringify({ traces: [{ spans: Array(500).fill(0) }] }),
      '/traces',
      /500/,
    ),
    brokenRule(
      '10 001 traces',
      () => JSON.stringify({ traces: Array(10_001).fill(0) }),
      '/traces',
      /10000 traces/,
    ),
    brokenRule('16 MiB of opening brackets', () => '['.repeat(16 * MIB), '', /nests deeper/),
    brokenRule(
      'five million empty objects',
      () => `{"traces":[${'{},'.repeat(5_000_000)}{}]}`,
      '',
      /more than 500000/,
    ),
    brokenRule(
      'metadata of 100 000 levels',
      () => altered('"environment":"test"', `"a":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`),
      '',
      /nests deeper/,
    ),
    wrongType('no media type', undefined),
    wrongType('plain text', 'text/plain'),
    wrongType('XML as the media type', 'application/xml'),
    wrongType('JSON lines as the media type', 'application/x-ndjson'),
    wrongType('protobuf', 'application/x-protobuf'),
    wrongType('a form as the media type', 'multipart/form-data; boundary=x'),
    wrongType('a prefix of the media type', 'application/json5'),
    wrongType('Latin-1 as the charset', 'application/json; charset=iso-8859-1'),
    wrongType('UTF-16 as the charset', 'application/json;charset="utf-16"'),
    encoded(415, 'unsupported_media_type', 'an unknown encoding', 'lzma', good),
    encoded(400, 'invalid_encoding', 'gzip that is none', 'gzip', good),
    encoded(400, 'invalid_encoding', 'truncated gzip', 'gzip', () => gzipSync(good()).subarray(0, -12)),
    encoded(400, 'invalid_encoding', 'gzip with a wrong checksum', 'gzip', () => {
      const bytes = gzipSync(good());
      bytes.writeUInt32LE(0, bytes.length - 8);
      return bytes;
    }),
    encoded(400, 'invalid_encoding', 'deflate that is none', 'deflate', good),
    encoded(400, 'invalid_encoding', 'truncated deflate', 'deflate', () =>
      deflateSync(good()).subarray(0, -20),
    ),
    encoded(400, 'invalid_encoding', 'brotli that is none', 'br', good),
    encoded(400, 'invalid_encoding', 'truncated brotli', 'br', () =>
      brotliCompressSync(good()).subarray(0, -9),
    ),
    encoded(400, 'invalid_json', 'gzip of nothing', 'gzip', () => gzipSync('')),
    encoded(413, 'body_too_large', 'a gigabyte of zeros in gzip', 'gzip', zeros),
    refused(413, 'body_too_large', 'a byte more than 16 MiB', () => ({
      body: Buffer.alloc(16 * MIB + 1, ' '),
    })),
    refused(413, 'body_too_large', 'more than 16 MiB without a length', () => ({
      body: Readable.from(
        (function* () {
          for (let sent = 0; sent < 17; sent++) yield Buffer.alloc(MIB, ' ');
        })(),
      ),
    })),
    wrongKey(401, 'unauthenticated', 'no key', undefined),
    wrongKey(401, 'unauthenticated', 'an empty key', 'Bearer '),
    wrongKey(401, 'unauthenticated', 'an unknown key', `Bearer jd_${'x'.repeat(43)}`),
    wrongKey(401, 'unauthenticated', 'a key that is no key', 'Bearer ../../etc/passwd'),
    wrongKey(401, 'unauthenticated', 'a name and a password', 'Basic YWRtaW46YWRtaW4='),
    wrongKey(403, 'forbidden_scope', 'a key that may only read', readerAuthorization),
    refused(405, 'method_not_allowed', 'PUT', () => ({ method: 'PUT', body: good() })),
    refused(405, 'method_not_allowed', 'GET', () => ({ method: 'GET' })),
  ];
}
