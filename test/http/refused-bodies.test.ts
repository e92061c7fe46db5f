import t from 'tap';
import { HttpProblem, type Route } from '../../src/component/http.js';
import { ENGINES, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

const KIB = 1024;
const LIMITS = { maxDiscardBytes: 256 * KIB };
const PIECE = 'x'.repeat(64 * KIB);

const ROUTES: readonly Route[] = [
  {
    method: 'POST',
    path: '/refused',
    handle: () => {
      throw new HttpProblem(401, 'unauthenticated', 'A valid key is needed.');
    },
  },
  {
    method: 'POST',
    path: '/unread',
    handle: async () => {
      await new Promise(setImmediate);
      return { status: 200, body: '"unread"' };
    },
  },
  { method: 'GET', path: '/next', handle: () => ({ status: 200, body: '"next"' }) },
];

for (const engine of ENGINES) {
  for (const path of ['/refused', '/unread']) {
    void t.test(`${engine}: ${path}: responds before the body and discards it`, async (t) => {
      const { port, underWay } = await startListener(t, engine, ROUTES, { limits: LIMITS });
      const connection = new RawConnection(port);
      connection.write(head(`POST ${path}`, [`Content-Length: ${PIECE.length * 2}`]));
      await connection.until('\r\n\r\n');
      t.match(connection.received, path === '/refused' ? /^HTTP\/1\.1 401/ : /^HTTP\/1\.1 200/);
      t.notMatch(connection.received, /connection: close/i);
      connection.write(PIECE);
      connection.write(PIECE + head('GET /next', ['Connection: close']));
      t.match(await connection.closed(), /HTTP\/1\.1 200[^]*"next"/, 'the connection stays open');
      await underWay(0);
    });
  }

  for (const [name, headers] of [
    ['too large', ['Content-Length: 100000000']],
    ['endless', ['Transfer-Encoding: chunked']],
  ] as const) {
    void t.test(
      `${engine}: a rejected body that is ${name} closes the connection within a limit`,
      async (t) => {
        const { port, listener } = await startListener(t, engine, ROUTES, { limits: LIMITS });
        const connection = new RawConnection(port);
        connection.write(head('POST /refused', headers));
        t.match(
          await connection.until('}'),
          /^HTTP\/1\.1 401[^{]*connection: close[^{]*\{.*\}$/is,
          'the whole response',
        );
        let sent = 0;
        // Until writing blocks: the connection is closed, or the system buffers are full.
        for (
          let isTaken = true;
          isTaken && !connection.isClosed && sent < 100_000_000;
          sent += PIECE.length
        ) {
          const piece = name === 'endless' ? `10000\r\n${PIECE}\r\n` : PIECE;
          isTaken = await new Promise<boolean>((resolve) => {
            const stuck = setTimeout(() => {
              resolve(false);
            }, 500);
            connection.socket.write(piece, (error) => {
              clearTimeout(stuck);
              resolve(!error);
            });
          });
        }
        t.ok(sent < 64 * 1024 * KIB, `${Math.round(sent / KIB)} KiB sent`);
        await listener.close(AbortSignal.abort());
        await connection.closed();
      },
    );
  }

  void t.test(`${engine}: sends no 100 Continue for a rejected body`, async (t) => {
    const { port } = await startListener(t, engine, ROUTES);
    const connection = new RawConnection(port);
    connection.write(head('POST /refused', ['Content-Length: 100000000', 'Expect: 100-continue']));
    const received = await connection.until('}');
    // uWebSockets.js sends 100 itself, before any handler sees the request.
    if (engine === 'node') t.notMatch(received, '100 Continue');
    t.match(received, /HTTP\/1\.1 401[^{]*connection: close/i);
    connection.destroy();
  });
}
