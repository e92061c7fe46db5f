import { createGzip, brotliCompressSync, constants } from 'node:zlib';
import { once } from 'node:events';
import t from 'tap';
import { ENGINES, send, startListener } from '../support/http-listener.js';

const MIB = 1024 * 1024;
const LIMIT = 16 * MIB;

/** A gigabyte of zeros, about a megabyte compressed. */
async function gzipBomb(): Promise<Buffer> {
  const gzip = createGzip({ level: 9 });
  const pieces: Buffer[] = [];
  gzip.on('data', (piece: Buffer) => pieces.push(piece));
  const zeros = Buffer.alloc(16 * MIB);
  for (let sent = 0; sent < 1024; sent += 16) if (!gzip.write(zeros)) await once(gzip, 'drain');
  gzip.end();
  await once(gzip, 'end');
  return Buffer.concat(pieces);
}

void t.test('a bomb costs no more than the limit', async (t) => {
  const gzip = await gzipBomb();
  const brotli = brotliCompressSync(Buffer.alloc(256 * MIB), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: 256 * MIB },
  });
  t.ok(
    gzip.length < 2 * MIB && brotli.length < 64 * 1024,
    'the one goes the long way, the other the short one',
  );

  for (const engine of ENGINES) {
    for (const [coding, body] of [
      ['gzip', gzip],
      ['br', brotli],
    ] as const) {
      await t.test(`${engine}, ${coding}`, async (t) => {
        const { url, metric } = await startListener(t, engine, [
          {
            method: 'POST',
            path: '/',
            maxBodyBytes: LIMIT,
            handle: async (request) => ({ status: 200, body: String((await request.body()).length) }),
          },
          { method: 'GET', path: '/', handle: () => ({ status: 200, body: '"here"' }) },
        ]);
        global.gc?.();
        const before = process.memoryUsage().rss;
        let most = before;
        const headers = { 'content-encoding': coding };
        const bombs = Array.from({ length: 8 }, () => send(url, { method: 'POST', headers, body }));
        for (let isOver = false; !isOver;) {
          t.equal((await send(url)).status, 200, 'others are served meanwhile');
          most = Math.max(most, process.memoryUsage().rss);
          isOver = (await metric('http_requests_in_flight')) === 0;
        }
        for (const { status, json } of await Promise.all(bombs)) {
          t.equal(status, 413);
          t.match(json(), { code: 'body_too_large' });
        }
        // 8 GB would come out of them. Each may hold the limit, and the collector is late by as much again.
        t.ok(most - before < 8 * 2.5 * LIMIT, `grew by ${Math.round((most - before) / MIB)} MiB`);
        t.equal(await metric('http_body_bytes_in_flight'), 0);
      });
    }
  }
});
