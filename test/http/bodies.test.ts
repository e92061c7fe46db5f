import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import t from 'tap';
import type { HttpRequest, Route } from '../../src/component/http.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

const KIB = 1024;

/** Responds with the length and end of the body. */
async function echoBody(request: HttpRequest) {
  const bytes = await request.body();
  return {
    status: 200,
    body: JSON.stringify({ length: bytes.length, end: Buffer.from(bytes.slice(-5)).toString() }),
  };
}

const POST: Route = { method: 'POST', path: '/', maxBodyBytes: 256 * KIB, handle: echoBody };

for (const engine of ENGINES) {
  void t.test(`${engine}: receives bodies of any size, with a length or in chunks`, async (t) => {
    const { url, port, metric } = await startListener(t, engine, [POST]);
    for (const length of [0, 1, 16 * KIB, 76_000, 128 * KIB, 128 * KIB + 1, 256 * KIB]) {
      const body = `${'x'.repeat(Math.max(0, length - 5))}${'12345'.slice(0, length)}`;
      const wanted = { length, end: body.slice(-5) };
      t.same((await send(url, { method: 'POST', body })).json(), wanted, `${length} with a length`);

      const connection = new RawConnection(port);
      connection.write(head('POST /', ['Transfer-Encoding: chunked', 'Connection: close']));
      for (let at = 0; at < length; at += 50_000) {
        const piece = body.slice(at, at + 50_000);
        connection.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      }
      connection.write('0\r\n\r\n');
      t.match(await connection.closed(), JSON.stringify(wanted), `${length} in chunks`);
    }
    t.equal(await metric('http_body_bytes_in_flight'), 0, 'nothing held');
    t.equal(await metric('http_requests_in_flight'), 0);
  });

  void t.test(`${engine}: assembles a body sent byte by byte`, async (t) => {
    const { port } = await startListener(t, engine, [POST]);
    const connection = new RawConnection(port);
    connection.socket.setNoDelay(true);
    const request = `${head('POST /', ['Content-Length: 11', 'Connection: close'])}hello world`;
    // The request line is sent whole: the development fork of uWebSockets.js does not find it in two chunks.
    const afterLine = request.indexOf('\n') + 1;
    for (const piece of [request.slice(0, afterLine), ...Array.from(request.slice(afterLine))]) {
      connection.write(piece);
      await new Promise(setImmediate);
    }
    t.match(await connection.closed(), '{"length":11,"end":"world"}');
  });

  void t.test(`${engine}: a body can be read late, twice, or when empty`, async (t) => {
    const { url } = await startListener(t, engine, [
      {
        method: 'POST',
        path: '/',
        handle: async (request) => {
          await new Promise((resolve) => setTimeout(resolve, 30));
          const [one, two] = await Promise.all([request.body(), request.body()]);
          return { status: 200, body: JSON.stringify([one.length, two.length]) };
        },
      },
      { method: 'GET', path: '/', handle: echoBody },
    ]);
    t.same((await send(url, { method: 'POST', body: 'x'.repeat(90_000) })).json(), [90_000, 90_000]);
    t.same((await send(url)).json(), { length: 0, end: '' });
    t.same((await send(url, { method: 'POST' })).json(), [0, 0]);
  });

  void t.test(`${engine}: decompresses bodies`, async (t) => {
    const { url, metric } = await startListener(t, engine, [POST]);
    const codings: readonly (readonly [string, (text: string) => Uint8Array])[] = [
      ['gzip', gzipSync],
      ['GZIP', gzipSync],
      ['x-gzip', gzipSync],
      ['deflate', deflateSync],
      ['deflate', deflateRawSync],
      ['br', (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })],
      ['identity', (text) => Buffer.from(text)],
    ];
    for (const [coding, pack] of codings) {
      // Random text does not compress, so its compressed form is too large to be decompressed at once.
      for (const text of ['12345', 'x'.repeat(200 * KIB), noise(150 * KIB)]) {
        const { json } = await send(url, {
          method: 'POST',
          headers: { 'content-encoding': coding },
          body: pack(text),
        });
        t.same(json(), { length: text.length, end: text.slice(-5) }, `${coding}, ${text.length}`);
      }
    }
    const empty = await send(url, { method: 'POST', headers: { 'content-encoding': 'gzip' }, body: '' });
    t.same(empty.json(), { length: 0, end: '' });
    t.equal(await metric('http_body_bytes_in_flight'), 0);
  });

  void t.test(`${engine}: an unknown coding is 415, corrupt data is 400`, async (t) => {
    const { url, metric } = await startListener(t, engine, [POST]);
    for (const coding of ['compress', 'gzip, gzip', 'x']) {
      const answer = await send(url, { method: 'POST', headers: { 'content-encoding': coding }, body: 'x' });
      t.equal(answer.status, 415, coding);
      t.match(answer.json(), { code: 'unsupported_media_type' });
      t.match(answer.headers['accept-encoding'], /^gzip, deflate, zlib, br, zstd/);
    }
    const whole = gzipSync('hello '.repeat(1000));
    const broken: readonly (readonly [string, Uint8Array])[] = [
      ['gzip', Buffer.from('no gzip at all')],
      ['gzip', whole.subarray(0, -9)],
      ['gzip', Buffer.concat([whole.subarray(0, 20), Buffer.alloc(20), whole.subarray(40)])],
      ['deflate', Buffer.from([0x78, 0x9c, 1, 2, 3])],
      ['br', Buffer.from('no brotli')],
      ['gzip', gzipSync(noise(150 * KIB)).subarray(0, -9)],
    ];
    for (const [coding, body] of broken) {
      const answer = await send(url, { method: 'POST', headers: { 'content-encoding': coding }, body });
      t.equal(answer.status, 400);
      t.match(answer.json(), { code: 'invalid_encoding' });
    }
    t.equal(await metric('http_refused_bodies_total', { reason: 'unknown_encoding' }), 3);
    t.equal(await metric('http_refused_bodies_total', { reason: 'invalid_encoding' }), broken.length);
  });

  void t.test(`${engine}: the size limit applies before and after decompression`, async (t) => {
    const { url, port, metric, underWay } = await startListener(t, engine, [{ ...POST, maxBodyBytes: 1000 }]);
    t.equal((await send(url, { method: 'POST', body: 'x'.repeat(1000) })).status, 200);
    const tooMuch = await send(url, { method: 'POST', body: 'x'.repeat(1001) });
    t.equal(tooMuch.status, 413);
    t.match(tooMuch.json(), { code: 'body_too_large', detail: /1000 bytes/ });

    const headers = { 'content-encoding': 'gzip' };
    t.equal((await send(url, { method: 'POST', headers, body: gzipSync('x'.repeat(1000)) })).status, 200);
    t.equal((await send(url, { method: 'POST', headers, body: gzipSync('x'.repeat(1001)) })).status, 413);
    t.equal((await send(url, { method: 'POST', headers, body: gzipSync(noise(1500)) })).status, 413);

    const connection = new RawConnection(port);
    connection.write(head('POST /', ['Transfer-Encoding: chunked']));
    connection.write(`3e9\r\n${'x'.repeat(1001)}\r\n`);
    t.match(await connection.until('body_too_large'), /^HTTP\/1\.1 413/, 'in chunks, before the end');
    connection.destroy();
    await underWay(0);
    t.equal(await metric('http_refused_bodies_total', { reason: 'too_large' }), 4);
  });

  void t.test(`${engine}: a slow body is 408`, async (t) => {
    const { port, clock, underWay } = await startListener(t, engine, [{ ...POST, bodyTimeoutMs: 5000 }]);
    const connection = new RawConnection(port);
    connection.write(`${head('POST /', ['Content-Length: 10'])}12345`);
    await underWay(1);
    clock.advance(4999);
    await new Promise(setImmediate);
    t.equal(connection.received, '');
    clock.advance(1);
    t.match(await connection.until('request_timeout'), /^HTTP\/1\.1 408[^{]*connection: close[^{]*\{/i);
    connection.destroy();
  });

  void t.test(`${engine}: sends 100 Continue when the body is read`, async (t) => {
    const { port } = await startListener(t, engine, [POST]);
    const connection = new RawConnection(port);
    connection.write(head('POST /', ['Content-Length: 5', 'Expect: 100-continue']));
    t.match(await connection.until('\r\n\r\n'), /^HTTP\/1\.1 100 Continue/);
    connection.write('12345');
    t.match(await connection.until('12345'), '{"length":5,"end":"12345"}');
    connection.destroy();
  });
}

/** Text that does not compress. */
function noise(length: number): string {
  let state = 1;
  let text = '';
  while (text.length < length) {
    state = (state * 48_271) % 2_147_483_647;
    text += String.fromCharCode(33 + (state % 94));
  }
  return text;
}
