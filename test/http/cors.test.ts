import t from 'tap';
import { HttpProblem, type Route } from '../../src/component/http.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';

const ORIGIN = 'https://dash.example.com';
const ROUTES: readonly Route[] = [
  { method: 'GET', path: '/api/agents', handle: () => ({ status: 200, body: '[]' }) },
  {
    method: 'POST',
    path: '/api/fail',
    handle: () => {
      throw new Error('fails');
    },
  },
];
const PREFLIGHT = {
  origin: ORIGIN,
  'access-control-request-method': 'POST',
  'access-control-request-headers': 'authorization,x-own',
};

function needsKey(): never {
  throw new HttpProblem(401, 'unauthenticated', 'A valid key is needed.');
}

for (const engine of ENGINES) {
  void t.test(`${engine}: sends no CORS headers without configured origins`, async (t) => {
    const { url, listener } = await startListener(t, engine, ROUTES);
    listener.guard('/api', needsKey);
    const { status, headers } = await send(`${url}/api/agents`, { method: 'OPTIONS', headers: PREFLIGHT });
    t.equal(status, 401, 'a preflight is an ordinary request');
    t.notOk(Object.keys(headers).some((name) => name.startsWith('access-control')));
    t.notOk(headers.vary);
  });

  void t.test(
    `${engine}: an allowed origin passes preflight before the guard and can read every response`,
    async (t) => {
      const { url, listener } = await startListener(t, engine, ROUTES, { allowedOrigins: [`${ORIGIN}/`] });
      const preflight = await send(`${url}/api/agents`, { method: 'OPTIONS', headers: PREFLIGHT });
      listener.guard('/api', needsKey);
      t.same((await send(`${url}/api/agents`, { method: 'OPTIONS', headers: PREFLIGHT })).status, 204);
      t.equal(preflight.status, 204);
      t.match(preflight.headers, {
        'access-control-allow-origin': ORIGIN,
        'access-control-allow-methods': /GET.*POST.*DELETE/,
        'access-control-allow-headers': 'authorization,x-own',
        'access-control-max-age': /^\d+$/,
        vary: /Origin.*Access-Control-Request-Headers/,
      });
      const refused = await send(`${url}/api/agents`, { headers: { origin: ORIGIN } });
      t.equal(refused.status, 401);
      t.match(refused.headers, {
        'access-control-allow-origin': ORIGIN,
        'access-control-expose-headers':
          'X-Request-Id, Retry-After, ETag, X-Quota-Limit, X-Quota-Remaining, X-Quota-Reset',
        vary: 'Origin',
      });
      const odd = { ...PREFLIGHT, 'access-control-request-headers': 'x(y)' };
      const careful = await send(`${url}/api/agents`, { method: 'OPTIONS', headers: odd });
      t.match(careful.headers['access-control-allow-headers'], /^authorization, content-type/);
    },
  );

  void t.test(`${engine}: other origins get no CORS headers, and responses vary by origin`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES, { allowedOrigins: [ORIGIN] });
    for (const origin of [
      'https://evil.example.com',
      'http://dash.example.com',
      'null',
      `${ORIGIN}.evil.com`,
    ]) {
      for (const method of ['GET', 'OPTIONS']) {
        const answer = await send(`${url}/api/agents`, { method, headers: { ...PREFLIGHT, origin } });
        t.equal(answer.headers['access-control-allow-origin'], undefined, origin);
        t.equal(answer.headers.vary, 'Origin');
      }
    }
    t.equal((await send(`${url}/api/agents`)).headers.vary, 'Origin', 'also without an origin');
  });

  void t.test(`${engine}: * allows any origin, also to read errors`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES, { allowedOrigins: ['*'] });
    for (const [method, path, status] of [
      ['GET', '/api/agents', 200],
      ['POST', '/api/fail', 500],
      ['GET', '/nope', 404],
      ['DELETE', '/api/agents', 405],
    ] as const) {
      const answer = await send(url + path, { method, headers: { origin: 'https://any.example.com' } });
      t.equal(answer.status, status);
      t.equal(answer.headers['access-control-allow-origin'], '*');
    }
  });

  void t.test(`${engine}: components on one listener share its origins`, async (t) => {
    const { url, listener } = await startListener(t, engine, ROUTES, { allowedOrigins: [ORIGIN] });
    listener.configure({ allowedOrigins: ['https://other.example.com'] });
    listener.configure({});
    for (const origin of [ORIGIN, 'https://other.example.com']) {
      t.equal(
        (await send(`${url}/nope`, { headers: { origin } })).headers['access-control-allow-origin'],
        origin,
      );
    }
  });
}
