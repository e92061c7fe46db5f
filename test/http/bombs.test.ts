import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import t from 'tap';
import { ENGINES, pause, send, startListener } from '../support/http-listener.js';

const MIB = 1024 * 1024;
const LIMIT = 16 * MIB;

/** A gigabyte of zeros in a megabyte: a gzip file may have many members. */
function gzipBomb(): Buffer {
  const member = gzipSync(Buffer.alloc(16 * MIB));
  return Buffer.concat(Array.from({ length: 64 }, () => member));
}

void t.test('a decompression bomb costs no more memory than the limit', async (t) => {
  const gzip = gzipBomb();
  const brotli = brotliCompressSync(Buffer.alloc(64 * MIB), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_SIZE_HINT]: 64 * MIB },
  });
  t.ok(
    gzip.length < 2 * MIB && brotli.length < 64 * 1024,
    'one takes the long path, the other the short one',
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
        const bombs = Array.from({ length: 4 }, () => send(url, { method: 'POST', headers, body }));
        for (let isOver = false; !isOver;) {
          t.equal((await send(url)).status, 200, 'others are still served');
          most = Math.max(most, process.memoryUsage().rss);
          isOver = (await metric('http_requests_in_flight')) === 0;
          await pause();
        }
        for (const { status, json } of await Promise.all(bombs)) {
          t.equal(status, 413);
          t.match(json(), { code: 'body_too_large' });
        }
        // 4 GB in total. Each may hold the limit, and garbage collection lags by as much again.
        t.ok(most - before < 4 * 3 * LIMIT, `grew by ${Math.round((most - before) / MIB)} MiB`);
        t.equal(await metric('http_body_bytes_in_flight'), 0);
      });
    }
  }
});
