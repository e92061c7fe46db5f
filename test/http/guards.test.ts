import t from 'tap';
import { HttpProblem, type HttpRequest, type Route } from '../../src/component/http.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';

const ok = (): { status: number; body: string } => ({ status: 200, body: '"ok"' });

const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/api/v1/agents', handle: ok },
  { method: 'GET', path: '/api/v1/openapi.json', isPublic: true, handle: ok },
  { method: 'GET', path: '/api/v1x', handle: ok },
  { method: 'GET', path: '/', handle: ok },
];

function needsKey(request: HttpRequest): void {
  if (request.header('authorization') !== 'Bearer right') {
    throw new HttpProblem(401, 'unauthenticated', 'A valid key is needed.');
  }
}

for (const engine of ENGINES) {
  void t.test(
    `${engine}: a guard runs before everything under its prefix, including unknown routes`,
    async (t) => {
      const { url, listener } = await startListener(t, engine, ROUTES);
      listener.guard('/api/v1', needsKey);
      const cases: readonly (readonly [string, string, number, number])[] = [
        ['GET', '/api/v1/agents', 401, 200],
        ['GET', '/api/v1/agents/', 401, 200],
        ['HEAD', '/api/v1/agents', 401, 200],
        ['DELETE', '/api/v1/agents', 401, 405],
        ['OPTIONS', '/api/v1/agents', 401, 204],
        ['GET', '/api/v1/nope', 401, 404],
        ['GET', '/api/v1', 401, 404],
        ['GET', '/api/v1/', 401, 404],
        ['GET', '/api/v1/openapi.json', 200, 200],
        ['HEAD', '/api/v1/openapi.json', 200, 200],
        ['GET', '/api/v1x', 200, 200],
        ['GET', '/', 200, 200],
        ['GET', '/nope', 404, 404],
      ];
      for (const [method, path, without, withKey] of cases) {
        const refused = await send(url + path, { method });
        t.equal(refused.status, without, `${method} ${path} without a key`);
        if (without === 401) t.equal(refused.headers['www-authenticate'], 'Bearer');
        const { status } = await send(url + path, { method, headers: { authorization: 'Bearer right' } });
        t.equal(status, withKey, `${method} ${path} with a key`);
      }
    },
  );

  void t.test(`${engine}: all guards must pass`, async (t) => {
    const { url, listener } = await startListener(t, engine, ROUTES);
    listener.guard('/api/v1', needsKey);
    listener.guard('/', (request) => {
      if (request.header('x-second') === undefined) throw new HttpProblem(403, 'forbidden_scope', 'No.');
    });
    const authorization = 'Bearer right';
    t.equal((await send(`${url}/api/v1/agents`, { headers: { authorization } })).status, 403);
    t.equal((await send(`${url}/api/v1/agents`, { headers: { authorization, 'x-second': '' } })).status, 200);
    t.equal((await send(url)).status, 403);
  });
}
