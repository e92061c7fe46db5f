import zlib from 'node:zlib';
import { get } from 'node:http';
import { randomBytes } from 'node:crypto';
import t from 'tap';
import type { HttpResponse, Route } from '../../src/component/http.js';
import { entityTag } from '../../src/http/entity-tag.js';
import { ENGINES, pause, send, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

const MIB = 1024 * 1024;
const LARGE = JSON.stringify('x'.repeat(5000));

/** Available from Node 22.15. */
const { zstdDecompressSync } = zlib as typeof zlib & {
  readonly zstdDecompressSync?: (bytes: Uint8Array) => Buffer;
};
const hasZstd = zstdDecompressSync !== undefined;

function unpacked(coding: string, bytes: Uint8Array): string {
  if (coding === 'br') return zlib.brotliDecompressSync(bytes).toString();
  return (coding === 'zstd' ? zstdDecompressSync?.(bytes) : zlib.gunzipSync(bytes))?.toString() ?? '';
}

function answering(response: () => HttpResponse | Promise<HttpResponse>): readonly Route[] {
  return [{ method: 'GET', path: '/', handle: response }];
}

/** Chunks of a body, with the number read so far. */
function source(pieces: readonly (string | Uint8Array)[]): {
  readonly taken: () => number;
  readonly ended: () => boolean;
  readonly body: AsyncIterable<Uint8Array>;
} {
  let taken = 0;
  let ended = false;
  async function* give(): AsyncGenerator<Uint8Array> {
    try {
      for (const piece of pieces) {
        taken++;
        yield typeof piece === 'string' ? Buffer.from(piece) : piece;
        await new Promise(setImmediate);
      }
    } finally {
      ended = true;
    }
  }
  return { taken: () => taken, ended: () => ended, body: give() };
}

/** Like `send`, for binary bodies. */
function fetchBytes(
  url: string,
  headers: Record<string, string>,
): Promise<{ bytes: Buffer; headers: Record<string, unknown> }> {
  return new Promise((resolve, reject) => {
    get(url, { headers, agent: false }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('error', reject);
      response.on('end', () => {
        resolve({ bytes: Buffer.concat(pieces), headers: response.headers });
      });
    }).on('error', reject);
  });
}

for (const engine of ENGINES) {
  void t.test(`${engine}: responses forbid content sniffing and are cached only on request`, async (t) => {
    let headers: Readonly<Record<string, string>> = {};
    const { url } = await startListener(
      t,
      engine,
      answering(() => ({ status: 200, headers, body: '{}' })),
    );
    const cachingOf = async (path = ''): Promise<unknown> => {
      const answer = await send(`${url}${path}`);
      t.equal(answer.headers['x-content-type-options'], 'nosniff');
      return answer.headers['cache-control'];
    };
    t.equal(await cachingOf(), 'no-store');
    t.equal(await cachingOf('/unknown'), 'no-store', 'a problem');
    headers = { 'cache-control': 'max-age=60' };
    t.equal(await cachingOf(), 'max-age=60');
    headers = { etag: '"1"' };
    t.equal(await cachingOf(), undefined, 'a tagged response can be revalidated');
  });

  void t.test(`${engine}: sends text, bytes and empty bodies`, async (t) => {
    const cases: readonly (readonly [HttpResponse, Record<string, unknown>, string])[] = [
      [
        { status: 200, body: '{"ä":1}' },
        { 'content-type': 'application/json', 'content-length': '8' },
        '{"ä":1}',
      ],
      [
        { status: 201, body: Buffer.from('ä'), headers: { 'content-type': 'text/plain' } },
        { 'content-type': 'text/plain', 'content-length': '2' },
        'ä',
      ],
      [{ status: 200, body: '' }, { 'content-length': '0' }, ''],
      [{ status: 200 }, { 'content-length': '0', 'content-type': undefined }, ''],
      [{ status: 204 }, { 'content-length': undefined, 'content-type': undefined }, ''],
      [{ status: 304, headers: { etag: '"x"' } }, { 'content-length': undefined, etag: '"x"' }, ''],
    ];
    for (const [response, headers, body] of cases) {
      const { url } = await startListener(
        t,
        engine,
        answering(() => response),
      );
      const answer = await send(url);
      t.equal(answer.status, response.status);
      t.equal(answer.body, body);
      for (const [name, value] of Object.entries(headers))
        t.equal(answer.headers[name], value, `${response.status} ${name}`);
      t.ok(answer.headers.date);
    }
  });

  void t.test(`${engine}: a handler cannot override framing headers`, async (t) => {
    const headers = {
      'content-length': '1',
      'transfer-encoding': 'chunked',
      connection: 'close',
      'x-own': 'a',
    };
    const { url } = await startListener(
      t,
      engine,
      answering(() => ({ status: 200, headers, body: '{"a":1}' })),
    );
    const answer = await send(url);
    t.equal(answer.body, '{"a":1}');
    t.equal(answer.headers['x-own'], 'a');
  });

  void t.test(`${engine}: a large body arrives completely at a slow reader`, async (t) => {
    for (const body of ['0123456789'.repeat(MIB), Buffer.alloc(10 * MIB, '0123456789')]) {
      const { port, underWay } = await startListener(
        t,
        engine,
        answering(() => ({ status: 200, body })),
      );
      const connection = new RawConnection(port);
      connection.write(head('GET /', ['Connection: close']));
      await connection.until('\r\n\r\n');
      connection.socket.pause();
      await new Promise((resolve) => setTimeout(resolve, 50));
      connection.socket.resume();
      const received = await connection.closed();
      const start = received.indexOf('\r\n\r\n') + 4;
      t.equal(received.length - start, body.length);
      t.ok(received.endsWith('0123456789'));
      await underWay(0);
    }
  });

  void t.test(`${engine}: sends an iterable in chunks`, async (t) => {
    const pieces = source(['a', '', 'bc', new Uint8Array(), 'def'.repeat(100_000)]);
    const { url, underWay } = await startListener(
      t,
      engine,
      answering(() => ({
        status: 200,
        headers: { 'content-type': 'application/octet-stream' },
        body: pieces.body,
      })),
    );
    const answer = await send(url);
    t.equal(answer.headers['transfer-encoding'], 'chunked');
    t.equal(answer.body, `abc${'def'.repeat(100_000)}`);
    t.ok(pieces.ended());
    await underWay(0);

    const nothing = source([]);
    const { url: other } = await startListener(
      t,
      engine,
      answering(() => ({ status: 200, body: nothing.body })),
    );
    t.equal((await send(other)).body, '');
  });

  void t.test(`${engine}: reads an iterable no faster than the client`, async (t) => {
    const pieces = source(Array.from({ length: 256 }, () => Buffer.alloc(MIB, 'x')));
    const { port, underWay } = await startListener(
      t,
      engine,
      answering(() => ({
        status: 200,
        headers: { 'content-type': 'application/octet-stream' },
        body: pieces.body,
      })),
    );
    const connection = new RawConnection(port);
    connection.write(head('GET /'));
    await connection.until('\r\n\r\n');
    connection.socket.pause();
    let before = -1;
    while (pieces.taken() !== before) {
      before = pieces.taken();
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    t.ok(before < 64, `${before} of 256 chunks read without a reader`);
    t.notOk(pieces.ended());
    connection.destroy();
    await underWay(0);
    t.ok(pieces.ended(), 'a disconnect ends the source');
    t.ok(pieces.taken() < 100);
  });

  void t.test(`${engine}: a stuck source does not keep the request of a disconnected client`, async (t) => {
    let isReturned = false;
    const stuck: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => {
        let count = 0;
        return {
          next: () =>
            count++ === 0
              ? Promise.resolve({ value: Buffer.from('first'), done: false })
              : new Promise(() => undefined),
          return: () => {
            isReturned = true;
            return Promise.resolve({ value: undefined, done: true });
          },
        };
      },
    };
    const { port, underWay } = await startListener(
      t,
      engine,
      answering(() => ({ status: 200, body: stuck, headers: { 'content-type': 'text/event-stream' } })),
    );
    const connection = new RawConnection(port);
    connection.write(head('GET /', ['Accept-Encoding: gzip']));
    t.match(await connection.until('first'), 'first');
    connection.destroy();
    await underWay(0);
    t.ok(isReturned);
  });

  void t.test(`${engine}: a source error is a 500 first and aborts the response later`, async (t) => {
    async function* failing(after: number): AsyncGenerator<Uint8Array> {
      for (let index = 0; index < after; index++) yield Buffer.from('piece');
      await new Promise(setImmediate);
      throw new Error('the source is broken');
    }
    const early = await startListener(
      t,
      engine,
      answering(() => ({ status: 200, body: failing(0) })),
    );
    const answer = await send(early.url);
    t.equal(answer.status, 500);
    t.match(answer.json(), { code: 'internal_error' });
    await early.underWay(0);

    const late = await startListener(
      t,
      engine,
      answering(() => ({ status: 200, body: failing(3) })),
    );
    await t.rejects(send(late.url), 'recognizable as incomplete');
    await late.underWay(0);
    for (const { logger } of [early, late])
      t.ok(logger.lines.some((line) => line.includes('the source is broken')));
  });

  void t.test(`${engine}: HEAD closes an iterable without reading it`, async (t) => {
    const pieces = source(['a']);
    let isReturned = false;
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: () => pieces.body[Symbol.asyncIterator]().next(),
        return: () => {
          isReturned = true;
          return Promise.resolve({ value: undefined, done: true });
        },
      }),
    };
    const { url, underWay } = await startListener(
      t,
      engine,
      answering(() => ({ status: 200, body })),
    );
    t.equal((await send(url, { method: 'HEAD' })).status, 200);
    await underWay(0);
    t.equal(pieces.taken(), 0);
    t.ok(isReturned);
  });

  void t.test(`${engine}: compresses responses for clients that accept it`, async (t) => {
    const text = JSON.stringify(Array.from({ length: 1000 }, (_, index) => ({ index, name: 'agent' })));
    const { url } = await startListener(
      t,
      engine,
      answering(() => ({ status: 200, headers: { etag: '"tag"' }, body: text })),
    );
    const cases = [
      ['gzip', 'gzip'],
      ['deflate, gzip;q=0.5', 'gzip'],
      ['GZIP', 'gzip'],
      ['br', 'br'],
      ['gzip, br', 'br'],
      ['gzip, br;q=0.9', 'gzip'],
      ['gzip;q=0.2, br;q=0.3, identity;q=0.1', 'br'],
      ['*;q=0.5, br;q=0, zstd;q=0', 'gzip'],
      ['gzip;q=0, zstd;q=0, *', 'br'],
      ['zstd, gzip;q=0.1', hasZstd ? 'zstd' : 'gzip'],
      ['gzip, deflate, br, zstd', hasZstd ? 'zstd' : 'br'],
    ] as const;
    for (const [accepted, coding] of cases) {
      const { bytes, headers } = await fetchBytes(url, { 'accept-encoding': accepted });
      t.match(
        headers,
        {
          'content-encoding': coding,
          vary: /Accept-Encoding/,
          etag: 'W/"tag"',
          'content-length': String(bytes.length),
        },
        accepted,
      );
      t.equal(unpacked(coding, bytes), text);
    }
    for (const coding of [
      '',
      'compress',
      'gzip;q=0',
      'identity',
      '*;q=0',
      'identity, gzip;q=0.5',
      'gzip;q=much',
      'gzip;q=2',
      ...(hasZstd ? [] : ['zstd']),
    ]) {
      const { bytes, headers } = await fetchBytes(url, { 'accept-encoding': coding });
      t.equal(headers['content-encoding'], undefined, coding);
      t.match(headers, { vary: /Accept-Encoding/, etag: '"tag"' });
      t.equal(bytes.toString(), text);
    }
    const whole = await send(url, { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } });
    t.equal(whole.headers['content-length'], undefined, 'HEAD does not compress just to compute a length');
  });

  void t.test(`${engine}: compresses iterables, and skips incompressible bodies`, async (t) => {
    const line = `${JSON.stringify({ some: 'record' })}\n`;
    const { url } = await startListener(
      t,
      engine,
      answering(() => ({
        status: 200,
        headers: { 'content-type': 'application/x-ndjson' },
        body: source(Array.from({ length: 2000 }, () => line)).body,
      })),
    );
    for (const coding of ['gzip', 'br', ...(hasZstd ? ['zstd'] : [])]) {
      const { bytes, headers } = await fetchBytes(url, { 'accept-encoding': coding });
      t.equal(headers['content-encoding'], coding);
      t.equal(unpacked(coding, bytes), line.repeat(2000));
    }

    const large = 'x'.repeat(5000);
    const packed = Buffer.from('iwGAAyI=', 'base64');
    const plain: readonly HttpResponse[] = [
      { status: 200, body: 'x'.repeat(1000) },
      { status: 200, body: large, headers: { 'content-type': 'image/png' } },
      { status: 200, body: large, headers: { 'content-type': 'text/event-stream' } },
      { status: 200, body: large, headers: { 'cache-control': 'no-transform' } },
      { status: 200, body: packed, headers: { 'content-encoding': 'br' } },
    ];
    for (const response of plain) {
      const { url } = await startListener(
        t,
        engine,
        answering(() => response),
      );
      const { headers } = await fetchBytes(url, { 'accept-encoding': 'gzip' });
      t.equal(headers['content-encoding'], response.headers?.['content-encoding']);
    }
  });

  void t.test(`${engine}: answers 304 if the ETag matches`, async (t) => {
    const tag = entityTag(Buffer.from('{}'));
    const { url } = await startListener(t, engine, [
      ...answering(() => ({ status: 200, headers: { etag: tag, 'cache-control': 'no-cache' }, body: LARGE })),
      { method: 'POST', path: '/', handle: () => ({ status: 200, headers: { etag: tag }, body: LARGE }) },
    ]);
    for (const [known, coding] of [
      [tag, 'identity'],
      [`W/${tag}`, 'gzip'],
      [`"other", ${tag}`, 'br'],
      ['*', 'gzip'],
    ] as const) {
      for (const method of ['GET', 'HEAD']) {
        const headers = { 'if-none-match': known, 'accept-encoding': coding };
        const answer = await send(url, { method, headers });
        t.equal(answer.status, 304, known);
        t.equal(answer.body, '');
        t.match(answer.headers, {
          etag: coding === 'identity' ? tag : `W/${tag}`,
          'cache-control': 'no-cache',
          vary: 'Accept-Encoding',
        });
      }
    }
    for (const known of ['"other"', '', tag.slice(1), `x${tag}`])
      t.equal((await send(url, { headers: { 'if-none-match': known } })).status, 200, known);
    const written = await send(url, { method: 'POST', headers: { 'if-none-match': tag } });
    t.equal(written.status, 200, 'only for reads');
  });

  void t.test(`${engine}: a disconnect ends the source of a compressed response`, async (t) => {
    // Random bytes, so that the compressed stream is as long as its source.
    const pieces = source(Array.from({ length: 400 }, () => randomBytes(50_000)));
    const { port, underWay } = await startListener(
      t,
      engine,
      answering(() => ({ status: 200, body: pieces.body })),
    );
    const connection = new RawConnection(port);
    connection.write(head('GET /', ['Accept-Encoding: gzip']));
    await connection.until('\r\n\r\n');
    connection.destroy();
    await underWay(0);
    while (!pieces.ended()) await pause();
    t.ok(pieces.taken() < 400);
  });
}
