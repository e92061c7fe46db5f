import t from 'tap';
import type { Route } from '../../src/component/http.js';
import type { Method } from '../../src/component/operation.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';
import { head, RawConnection } from '../support/http-socket.js';

/** A route that echoes its input. */
function echo(method: Method, path: string): Route {
  return {
    method,
    path,
    handle: ({ method, path: actual, params, query }) => ({
      status: 200,
      body: JSON.stringify({ route: path, method, path: actual, params, query: [...query] }),
    }),
  };
}

const ROUTES = [
  echo('GET', '/'),
  echo('GET', '/agents'),
  echo('POST', '/agents'),
  echo('GET', '/agents/{agent_id}'),
  echo('GET', '/agents/{agent_id}/runs/'),
  echo('GET', '/traces/compare'),
  echo('GET', '/traces/{trace_id}'),
  echo('PATCH', '/traces/{trace_id}'),
];

for (const engine of ENGINES) {
  void t.test(`${engine}: finds a route with or without a trailing slash`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES);
    for (const path of ['/', '/agents', '/agents/', '/agents/x/runs', '/agents/x/runs/', '/traces/compare']) {
      const { status, json } = await send(url + path);
      t.equal(status, 200, path);
      t.match(json(), { path: path === '/' ? '/' : path.replace(/\/$/, '') });
    }
    t.match(
      (await send(`${url}/traces/compare`)).json(),
      { route: '/traces/compare' },
      'literals take precedence',
    );
    t.match((await send(`${url}/traces/x`)).json(), {
      route: '/traces/{trace_id}',
      params: { trace_id: 'x' },
    });
  });

  void t.test(`${engine}: a literal path falls back to the placeholder for other methods`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES);
    const { status, json } = await send(`${url}/traces/compare`, { method: 'PATCH' });
    t.equal(status, 200);
    t.match(json(), { route: '/traces/{trace_id}', params: { trace_id: 'compare' } });
  });

  void t.test(`${engine}: decodes placeholders once, after matching`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES);
    const cases: readonly (readonly [string, string])[] = [
      ['a%20b', 'a b'],
      ['a%2Fb', 'a/b'],
      ['a%252Fb', 'a%2Fb'],
      ['caf%C3%A9', 'café'],
      ['a+b', 'a+b'],
      ['..', '..'],
    ];
    for (const [raw, agent_id] of cases) {
      const connection = new RawConnection(Number(new URL(url).port));
      connection.write(head(`GET /agents/${raw}`, ['Connection: close']));
      const received = await connection.closed();
      t.match(received, Buffer.from(JSON.stringify({ agent_id })).toString('latin1'), raw);
    }
  });

  void t.test(`${engine}: an invalid percent encoding is 400, or 404 without a matching route`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES);
    for (const path of ['/agents/%zz', '/agents/%', '/agents/%ff', '/agents/%C3/runs']) {
      const { status, json } = await send(url + path);
      t.equal(status, 400, path);
      t.match(json(), { code: 'invalid_encoding' });
    }
    t.equal((await send(`${url}/%zz`)).status, 404);
  });

  void t.test(`${engine}: an unknown route is 404 as a problem`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES);
    for (const path of [
      '/nope',
      '//agents',
      '/agents//',
      '/agents//runs',
      '/AGENTS',
      '/%61gents',
      '/agents/x/y/z',
    ]) {
      const { status, headers, json } = await send(url + path);
      t.equal(status, 404, path);
      t.equal(headers['content-type'], 'application/problem+json');
      t.match(json(), { type: 'about:blank', title: 'Not Found', status: 404, code: 'not_found' });
    }
  });

  void t.test(`${engine}: 405 and OPTIONS list the allowed methods`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES);
    for (const method of ['DELETE', 'PUT', 'PATCH', 'TRACE']) {
      const { status, headers, json } = await send(`${url}/agents/`, { method });
      t.equal(status, 405, method);
      t.equal(headers.allow, 'GET, HEAD, POST, OPTIONS');
      t.match(json(), { code: 'method_not_allowed' });
    }
    const options = await send(`${url}/traces/compare`, { method: 'OPTIONS' });
    t.equal(options.status, 204);
    t.equal(options.headers.allow, 'GET, HEAD, PATCH, OPTIONS');
    t.equal(options.body, '');
    t.equal((await send(`${url}/nope`, { method: 'OPTIONS' })).status, 404);
  });

  void t.test(`${engine}: HEAD has the headers and length of GET`, async (t) => {
    const { url, port } = await startListener(t, engine, ROUTES);
    const get = await send(`${url}/agents/x`);
    const { status, headers, body } = await send(`${url}/agents/x`, { method: 'HEAD' });
    t.equal(status, 200);
    t.equal(headers['content-length'], String(get.body.length));
    t.equal(headers['content-type'], 'application/json');
    t.equal(body, '');
    // The connection stays open because no body was sent.
    const connection = new RawConnection(port);
    connection.write(head('HEAD /agents/x'));
    await connection.until('\r\n\r\n');
    connection.write(head('GET /agents/y', ['Connection: close']));
    t.match(await connection.closed(), /^HTTP\/1\.1 200[^{]*\r\n\r\nHTTP\/1\.1 200[^{]*\{"route"/);
    t.equal((await send(`${url}/nope`, { method: 'HEAD' })).status, 404);
    t.equal((await send(`${url}/nope`, { method: 'HEAD' })).body, '');
  });

  void t.test(`${engine}: reads query strings leniently`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES);
    const cases: readonly (readonly [string, readonly (readonly [string, string])[]])[] = [
      ['', []],
      ['?', []],
      [
        '?a=1&b=x%20y&a=2',
        [
          ['a', '1'],
          ['b', 'x y'],
          ['a', '2'],
        ],
      ],
      [
        '?a&b=&=c&&',
        [
          ['a', ''],
          ['b', ''],
          ['', 'c'],
        ],
      ],
      [
        '?a=%25zz&b=1+2',
        [
          ['a', '%zz'],
          ['b', '1 2'],
        ],
      ],
      ['?a=b?c', [['a', 'b?c']]],
    ];
    for (const [text, query] of cases) t.match((await send(`${url}/agents${text}`)).json(), { query }, text);
  });

  void t.test(`${engine}: header names are lower case, and repeated headers are joined`, async (t) => {
    const { port } = await startListener(t, engine, [
      {
        method: 'GET',
        path: '/',
        handle: (request) => ({
          status: 200,
          body: JSON.stringify([
            request.header('x-one'),
            request.header('authorization'),
            request.header('x-none'),
          ]),
        }),
      },
    ]);
    const connection = new RawConnection(port);
    const headers = ['X-ONE: a', 'x-one: b', 'Authorization: first', 'Connection: close'];
    connection.write(head('GET /', headers));
    t.match(await connection.closed(), '["a, b","first",null]');
  });
}

void t.test('rejects a route that conflicts or has an invalid path', async (t) => {
  const { listener } = await startListener(t, 'node', ROUTES);
  t.throws(() => {
    listener.route(echo('GET', '/agents/{other}'));
  }, /GET \/agents\/\{other\} conflicts with GET \/agents\/\{agent_id\}/);
  t.throws(() => {
    listener.route(echo('GET', '/agents/'));
  }, /GET \/agents\/ conflicts with GET \/agents/);
  t.throws(() => {
    listener.route(echo('GET', 'agents'));
  }, /must begin with a slash/);
  t.throws(() => {
    listener.route(echo('GET', '/x/{a}/{a}'));
  }, /\{a\} occurs twice/);
  t.throws(() => {
    listener.route(echo('GET', '/x/v{a}'));
  }, /a placeholder is a whole segment/);
  t.same(listener.routes(), ROUTES);
});
