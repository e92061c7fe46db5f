import t from 'tap';
import type { HttpRequest, HttpResponse } from '../../src/component/http.js';
import { ENGINES, pause, send, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

/** A handler that a test holds and releases. */
function held(): {
  readonly handle: (request: HttpRequest) => Promise<HttpResponse>;
  readonly request: Promise<HttpRequest>;
  readonly answer: (response: HttpResponse) => void;
  readonly fail: (error: Error) => void;
} {
  let came: (request: HttpRequest) => void = () => undefined;
  const request = new Promise<HttpRequest>((resolve) => {
    came = resolve;
  });
  let answer: (response: HttpResponse) => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const response = new Promise<HttpResponse>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  return {
    handle: (request) => {
      came(request);
      return response;
    },
    request,
    answer: (response) => {
      answer(response);
    },
    fail: (error) => {
      fail(error);
    },
  };
}

for (const engine of ENGINES) {
  void t.test(`${engine}: a disconnect aborts the request, and a late response is harmless`, async (t) => {
    for (const end of ['text', 'stream', 'error'] as const) {
      const handler = held();
      const { url, port, logger, underWay, metric } = await startListener(t, engine, [
        { method: 'GET', path: '/', handle: handler.handle },
        { method: 'GET', path: '/other', handle: () => ({ status: 200 }) },
      ]);
      const connection = new RawConnection(port);
      connection.write(head('GET /'));
      const request = await handler.request;
      const { abort } = request;
      t.notOk(abort.aborted);
      connection.destroy();
      if (!abort.aborted)
        await new Promise((resolve) => {
          abort.addEventListener('abort', resolve);
        });
      t.equal(request.header('host'), 'localhost', 'the request is still readable');
      t.ok(typeof request.remoteAddress === 'string');
      await underWay(1);
      let isEnded = false;
      if (end === 'text') handler.answer({ status: 200, body: 'x'.repeat(100_000) });
      if (end === 'error') handler.fail(new Error('because it was aborted'));
      if (end === 'stream') {
        handler.answer({
          status: 200,
          body: {
            [Symbol.asyncIterator]: () => ({
              next: () => Promise.reject(new Error('must not be read')),
              return: () => {
                isEnded = true;
                return Promise.resolve({ value: undefined, done: true });
              },
            }),
          },
        });
      }
      await underWay(0);
      if (end === 'stream') t.ok(isEnded);
      t.equal((await send(`${url}/other`)).status, 200);
      t.same(
        logger.lines.filter((line) => line.startsWith('error')),
        [],
      );
      t.equal(await metric('http_requests_total', { method: 'GET', status: 'gone' }), 1);
    }
  });

  void t.test(`${engine}: a disconnect during the body rejects it`, async (t) => {
    let failure: unknown;
    const { port, underWay, metric } = await startListener(t, engine, [
      {
        method: 'POST',
        path: '/',
        handle: async (request) => {
          try {
            await request.body();
          } catch (error) {
            failure = error;
            t.ok(request.abort.aborted);
          }
          return { status: 200 };
        },
      },
    ]);
    const connection = new RawConnection(port);
    connection.write(`${head('POST /', ['Content-Length: 100000'])}some`);
    await underWay(1);
    while ((await metric('http_body_bytes_in_flight')) === 0) await pause();
    connection.destroy();
    await underWay(0);
    t.match(failure, { code: 'connection_closed' });
    t.equal(await metric('http_body_bytes_in_flight'), 0);
  });

  void t.test(`${engine}: an unread body of a failing handler is harmless`, async (t) => {
    const { url, port, underWay } = await startListener(t, engine, [
      {
        method: 'POST',
        path: '/',
        handle: async (request) => {
          const body = request.body();
          await new Promise(setImmediate);
          if (request.header('x-fail') !== undefined) throw new Error('before the body was awaited');
          return { status: 200, body: String((await body).length) };
        },
      },
    ]);
    const connection = new RawConnection(port);
    connection.write(`${head('POST /', ['Content-Length: 100', 'X-Fail: 1'])}some`);
    t.match(await connection.until('}'), /^HTTP\/1\.1 500/);
    connection.destroy();
    await underWay(0);
    t.equal((await send(url, { method: 'POST', body: 'abc' })).body, '3');
  });
}

void t.test('node: a truncated body behind a long response is rejected right after it', async (t) => {
  const { port, underWay } = await startListener(t, 'node', [
    { method: 'GET', path: '/', handle: () => ({ status: 200, body: 'x'.repeat(5 * 1024 * 1024) }) },
    {
      method: 'POST',
      path: '/',
      handle: async (request) => ({ status: 200, body: String((await request.body()).length) }),
    },
  ]);
  const connection = new RawConnection(port);
  connection.socket.end(`${head('GET /')}${head('POST /', ['Content-Length: 100'])}some`);
  const answers = (await connection.closed()).match(/HTTP\/1\.1 [2-5]\d+/g);
  t.same(answers, ['HTTP/1.1 200', 'HTTP/1.1 400']);
  await underWay(0);
});
