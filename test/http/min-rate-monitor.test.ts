import t from 'tap';
import { Body } from '../../src/http/body.js';

import { MinRateMonitor } from '../../src/http/min-rate-monitor.js';
import { SharedUse, Shares } from '../../src/http/shares.js';
import { HandClock } from '../support/hand-clock.js';
import { ENGINES, pause, send, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

const KIB = 1024;
const MIB = 1024 * KIB;

/** Transfers that many bytes each second. @returns the second at which it was too slow */
function secondsOf(bytesPerSecond: number, moves: readonly number[], windowMs: number): number | undefined {
  const clock = new HandClock();
  const rateMonitor = new MinRateMonitor(bytesPerSecond, clock);
  let moved = 0;
  let slowAt: number | undefined;
  let second = 0;
  const end = rateMonitor.watch(windowMs, {
    moved: () => moved,
    tooSlow: () => {
      t.equal(slowAt, undefined, 'reported once');
      slowAt = second;
    },
  });
  for (const bytes of moves) {
    second++;
    moved += bytes;
    clock.advance(1000);
  }
  end();
  rateMonitor.close();
  return slowAt;
}

void t.test('a transfer is too slow if a whole window is below the minimum rate', async (t) => {
  const each = (bytes: number, seconds: number): number[] => Array<number>(seconds).fill(bytes);
  t.equal(secondsOf(1000, each(1000, 100), 10_000), undefined);
  t.equal(secondsOf(1000, each(999, 100), 10_000), 21, 'the first window is one second longer');
  t.equal(secondsOf(1000, each(0, 100), 10_000), 11);
  t.equal(
    secondsOf(1000, [...each(0, 9), 10_000, ...each(0, 5)], 10_000),
    undefined,
    'also in a single burst',
  );
  t.equal(secondsOf(1000, [...each(5000, 20), ...each(10, 100)], 10_000), 31);
  t.equal(secondsOf(0, each(1, 100), 10_000), undefined);
  t.equal(secondsOf(0, each(0, 100), 10_000), 11);
});

void t.test('ends with the transfer and sets no needless timers', async (t) => {
  const clock = new HandClock();
  const rateMonitor = new MinRateMonitor(1000, clock);
  let calls = 0;
  const transfer = { moved: () => 0, tooSlow: () => calls++ };
  rateMonitor.watch(10_000, transfer)();
  clock.advance(100_000);
  t.equal(calls, 0);
  rateMonitor.watch(10_000, transfer);
  clock.advance(100_000);
  t.equal(calls, 1);
  rateMonitor.watch(10_000, transfer);
  rateMonitor.close();
  clock.advance(100_000);
  t.equal(calls, 1);
});

void t.test('an upload at 8 KiB/s survives, one of a few bytes does not', async (t) => {
  const clock = new HandClock();
  const rateMonitor = new MinRateMonitor(KIB, clock);
  const upload = (piece: number): Body => {
    const body = new Body({
      contentLength: undefined,
      contentEncoding: undefined,
      maxBytes: 16 * MIB,
      timeoutMs: 3_600_000,
      budget: new SharedUse(new Shares({ max: 64 * MIB, share: 1 })),
      rateMonitor,
      clock,
    });
    body.startTimeout();
    for (let second = 0; second < 60; second++) {
      body.take(new Uint8Array(piece), false);
      clock.advance(1000);
    }
    body.take(new Uint8Array(1), true);
    return body;
  };
  const live = upload(8 * KIB);
  t.equal(live.problem, undefined);
  t.equal((await live.read()).length, 60 * 8 * KIB + 1);
  t.match(upload(100).problem, { status: 408, code: 'request_timeout' });
});

for (const engine of ENGINES) {
  void t.test(`${engine}: aborts 300 trickling bodies and frees their memory`, async (t) => {
    const { url, port, clock, metric, underWay } = await startListener(t, engine, [
      {
        method: 'POST',
        path: '/',
        bodyTimeoutMs: 3_600_000,
        handle: async (request) => ({ status: 200, body: String((await request.body()).length) }),
      },
    ]);
    const slow = Array.from({ length: 300 }, () => new RawConnection(port));
    for (const connection of slow) connection.write(`${head('POST /', ['Content-Length: 1000000'])}x`);
    await underWay(300);
    for (let second = 0; second < 5; second++) {
      clock.advance(1000);
      for (const connection of slow) connection.write('x');
    }
    t.equal((await send(url, { method: 'POST', body: 'abc' })).status, 200, 'others are served');
    t.equal(await metric('http_requests_in_flight'), 300);
    clock.advance(7000);
    for (const connection of slow) {
      t.match(await connection.until('}'), /^HTTP\/1\.1 408 [^]*"request_timeout"/);
      connection.destroy();
    }
    await underWay(0);
    t.equal(await metric('http_refused_bodies_total', { reason: 'timeout' }), 300);
    t.equal(await metric('http_body_bytes_in_flight'), 0);
  });

  for (const kind of ['whole', 'in pieces'] as const) {
    void t.test(`${engine}: aborts a response (${kind}) that is not read`, async (t) => {
      const bytes = Buffer.alloc(16 * MIB, 'x');
      async function* pieces(): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < bytes.length; at += MIB) yield bytes.subarray(at, at + MIB);
      }
      const { url, port, clock, metric, underWay } = await startListener(t, engine, [
        {
          method: 'GET',
          path: '/',
          handle: () => ({
            status: 200,
            headers: { 'content-type': 'application/octet-stream' },
            body: kind === 'whole' ? bytes : pieces(),
          }),
        },
      ]);
      const readers = Array.from({ length: 8 }, () => new RawConnection(port));
      for (const { socket } of readers) {
        socket.pause();
        socket.write(head('GET /'));
      }
      await underWay(readers.length);
      t.equal((await send(url)).body.length, bytes.length, 'a reader gets all of it');
      await pause();
      clock.advance(30_000);
      t.equal(await metric('http_requests_in_flight'), readers.length, 'a pause is allowed');
      // Their windows start when the system buffers are full.
      while ((await metric('http_requests_in_flight')) !== 0) {
        clock.advance(1000);
        await pause();
      }
      t.equal(await metric('http_slow_readers_total'), readers.length);
      for (const { socket } of readers) socket.destroy();
    });
  }
}
