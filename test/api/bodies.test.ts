import { gzipSync } from 'node:zlib';
import t from 'tap';
import { startApi, type TestApi } from '../support/api.js';

const JSON_TYPE = { 'content-type': 'application/json' };

function post(
  api: TestApi,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = JSON_TYPE,
) {
  return api.call('POST', '/admin/users', { body, headers });
}

void t.test('bodies that are not JSON, not UTF-8 or of another type are rejected', async (t) => {
  const api = await startApi(t);
  const good = JSON.stringify({ email: 'a@example.com', name: 'A' });
  const cases: readonly (readonly [
    string,
    number,
    string,
    string | Buffer<ArrayBuffer>,
    Record<string, string>?,
  ])[] = [
    ['empty', 400, 'invalid_json', ''],
    ['blank', 400, 'invalid_json', ' \n'],
    ['cut off', 400, 'invalid_json', good.slice(0, -1)],
    ['two values', 400, 'invalid_json', good + good],
    ['single quotes', 400, 'invalid_json', "{'email': 1}"],
    ['NaN', 400, 'invalid_json', '{"email": NaN}'],
    ['deep and open', 422, 'validation_failed', '['.repeat(50_000)],
    ['deep and whole', 422, 'validation_failed', `{"email":${'['.repeat(1001)}${']'.repeat(1001)}}`],
    ['many objects', 422, 'validation_failed', `[${'{},'.repeat(300_000)}{}]`],
    ['many numbers', 422, 'validation_failed', `[${'1,'.repeat(500_000)}1]`],
    ['Latin-1', 400, 'invalid_encoding', Buffer.from('{"email":"\xe9@b","name":"x"}', 'latin1')],
    ['cut UTF-8', 400, 'invalid_encoding', Buffer.from([0x22, 0xe2, 0x82, 0x22])],
    ['surrogate in UTF-8', 400, 'invalid_encoding', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22])],
    ['UTF-16', 400, 'invalid_encoding', Buffer.from(`\ufeff${good}`, 'utf16le')],
    ['broken gzip', 400, 'invalid_encoding', 'nonsense', { ...JSON_TYPE, 'content-encoding': 'gzip' }],
    ['form', 415, 'unsupported_media_type', good, { 'content-type': 'application/x-www-form-urlencoded' }],
    ['text', 415, 'unsupported_media_type', good, { 'content-type': 'text/plain' }],
    ['longer type', 415, 'unsupported_media_type', good, { 'content-type': 'application/jsonp' }],
    ['charset', 415, 'unsupported_media_type', good, { 'content-type': 'application/json; charset=utf-16' }],
    ['coding', 415, 'unsupported_media_type', good, { ...JSON_TYPE, 'content-encoding': 'lzma' }],
    ['too large', 413, 'body_too_large', `{"email":"${'x'.repeat(1_100_000)}"}`],
    [
      'bomb',
      413,
      'body_too_large',
      Buffer.from(gzipSync('0'.repeat(10_000_000))),
      { ...JSON_TYPE, 'content-encoding': 'gzip' },
    ],
  ];
  for (const [name, status, code, body, headers] of cases) {
    const answer = await post(api, typeof body === 'string' ? body : new Uint8Array(body), headers);
    t.match(answer, { status, body: { status, code, type: 'about:blank' } }, name);
    t.equal(answer.headers.get('content-type'), 'application/problem+json');
    const { detail } = answer.body as { detail: string };
    t.match(detail, /^[A-Z].*\.$/s, `a sentence: ${detail}`);
  }
  t.equal((await api.get<unknown[]>('/admin/users')).length, 1);
});

void t.test('accepts bodies in equivalent encodings', async (t) => {
  const api = await startApi(t);
  const body = (email: string) => JSON.stringify({ email, name: 'Ünïcode 🦜' });
  const cases: readonly (readonly [string | Uint8Array<ArrayBuffer>, Record<string, string>])[] = [
    [body('a@example.com'), { 'content-type': 'Application/JSON' }],
    [body('b@example.com'), { 'content-type': 'application/json; charset=UTF-8' }],
    [body('c@example.com'), { 'content-type': 'application/json;charset="utf-8"' }],
    [body('f@example.com'), { 'content-type': 'application/json; charset=utf8' }],
    [`\ufeff${body('d@example.com')}`, JSON_TYPE],
    [new Uint8Array(gzipSync(body('e@example.com'))), { ...JSON_TYPE, 'content-encoding': 'gzip' }],
  ];
  for (const [content, headers] of cases) {
    const answer = await post(api, content, headers);
    t.match(answer, { status: 201, body: { name: 'Ünïcode 🦜' } }, JSON.stringify(headers));
  }
});

void t.test('names of object prototypes are ordinary fields', async (t) => {
  const api = await startApi(t);
  for (const name of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
    const answer = await post(api, `{"email":"a@example.com","name":"x","${name}":{"admin":true}}`);
    t.match(answer, {
      status: 422,
      body: { errors: [{ field: `/${name}`, message: 'is not a known field' }] },
    });
  }
  const instead = await post(api, '{"__proto__":{"email":"a@example.com","name":"x"}}');
  t.equal(instead.status, 422, 'a prototype provides no fields');
  t.equal(({} as Record<string, unknown>)['admin'], undefined);
});

void t.test('deep and wide bodies are rejected with a bounded response', async (t) => {
  const api = await startApi(t);
  const deep = await post(api, `{"email":${'['.repeat(25_000)}${']'.repeat(25_000)},"name":"x"}`);
  t.match(deep, { status: 422, body: { errors: [{ field: '', message: 'nests deeper than 1000 levels' }] } });
  const wide = await post(api, `{${Array.from({ length: 3000 }, (_, i) => `"field${i}":1`).join()}}`);
  t.equal(wide.status, 422);
  t.equal((wide.body as { errors: unknown[] }).errors.length, 20);
  const long = await post(api, `{"${'n'.repeat(50_000)}":1}`);
  t.ok(JSON.stringify(long.body).length < 2000);
});

void t.test('a route without a body rejects ignored fields', async (t) => {
  const api = await startApi(t);
  const rebuild = (body: string, headers: Record<string, string> = JSON_TYPE) =>
    api.call('POST', '/admin/service-map/rebuild', { body, headers });
  const refused = await rebuild('{"dry_run":true}');
  t.equal(refused.status, 422);
  t.match(refused.body, { code: 'validation_failed', errors: [{ field: '/dry_run' }] });
  for (const [name, body, headers] of [
    ['an empty map', '{}'],
    ['no more than a media type', ''],
    ['what is not JSON', 'dry_run', { 'content-type': 'text/plain' }],
  ] as const)
    t.equal((await rebuild(body, headers)).status, 200, name);
});
