import t from 'tap';
import { ENGINES, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

for (const engine of ENGINES) {
  void t.test(`${engine}: answers pipelined requests in order`, async (t) => {
    const { port } = await startListener(t, engine, [
      {
        method: 'GET',
        path: '/{n}',
        handle: ({ params }) => ({ status: 200, body: `"get ${params['n'] ?? ''}"` }),
      },
      {
        method: 'POST',
        path: '/{n}',
        handle: async (request) => ({
          status: 200,
          body: `"${Buffer.from(await request.body()).toString()}"`,
        }),
      },
    ]);
    const connection = new RawConnection(port);
    connection.write(
      head('GET /1') +
        `${head('POST /2', ['Content-Length: 6'])}post 2` +
        // uWebSockets.js accepts no request behind a chunked one.
        (engine === 'uws'
          ? `${head('POST /3', ['Content-Length: 6'])}post 3`
          : `${head('POST /3', ['Transfer-Encoding: chunked'])}6\r\npost 3\r\n0\r\n\r\n`) +
        head('GET /4') +
        head('GET /5', ['Connection: close']),
    );
    const received = await connection.closed();
    t.same(received.match(/"[^"]*"/g), ['"get 1"', '"post 2"', '"post 3"', '"get 4"', '"get 5"']);
  });

  void t.test(`${engine}: a slow response does not mix with those behind it`, async (t) => {
    const { port, underWay } = await startListener(t, engine, [
      {
        method: 'GET',
        path: '/{n}',
        handle: async ({ params }) => {
          await new Promise((resolve) => setTimeout(resolve, params['n'] === '1' ? 30 : 1));
          return { status: 200, body: `"get ${params['n'] ?? ''}"` };
        },
      },
    ]);
    const connection = new RawConnection(port);
    connection.write(head('GET /1') + head('GET /2') + head('GET /3', ['Connection: close']));
    const answers = (await connection.closed()).match(/"[^"]*"/g) ?? [];
    // uWebSockets.js closes such a connection: it handles requests that arrive separately or are answered immediately.
    if (engine === 'node') t.same(answers, ['"get 1"', '"get 2"', '"get 3"']);
    else t.same(answers, []);
    await underWay(0);
  });

  void t.test(`${engine}: an ambiguous length never smuggles in another request`, async (t) => {
    let smuggledIn = 0;
    const { port } = await startListener(t, engine, [
      { method: 'POST', path: '/', handle: () => ({ status: 200 }) },
      {
        method: 'GET',
        path: '/smuggled',
        handle: () => {
          smuggledIn++;
          return { status: 200 };
        },
      },
    ]);
    const smuggled = head('GET /smuggled');
    for (const headers of [
      ['Content-Length: 0', `Content-Length: ${smuggled.length}`],
      [`Content-Length: ${smuggled.length}`, 'Content-Length: 0'],
      ['Transfer-Encoding: chunked', `Content-Length: ${smuggled.length}`],
      ['Content-Length: abc'],
      ['Content-Length: -1'],
    ]) {
      const connection = new RawConnection(port);
      connection.write(head('POST /', headers) + smuggled);
      t.notMatch(await connection.closed(), /HTTP\/1\.1 200/, headers.join());
    }
    t.equal(smuggledIn, 0);
  });
}
