import t from 'tap';
import { ConsumeError, type ConsumeErrorCode } from '../../src/component/consume-error.js';
import { HttpProblem, type HttpResponse } from '../../src/component/http.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';

/** Listens with one failing route, immediate and delayed. */
function failing(error: unknown) {
  const fail = (): never => {
    throw error;
  };
  return [
    { method: 'GET', path: '/now', handle: fail },
    { method: 'GET', path: '/later', handle: async () => Promise.resolve().then(fail) },
  ] as const;
}

for (const engine of ENGINES) {
  void t.test(`${engine}: sends a thrown problem as is`, async (t) => {
    const errors = [{ field: '/traces/0/trace/started_at', message: 'is no date-time' }];
    const problem = new HttpProblem(422, 'validation_failed', 'The body breaks a rule.', {
      errors,
      headers: { 'x-why': 'because' },
    });
    const { url } = await startListener(t, engine, failing(problem));
    for (const path of ['/now', '/later']) {
      const { status, headers, json } = await send(url + path);
      t.equal(status, 422);
      t.equal(headers['content-type'], 'application/problem+json');
      t.equal(headers['x-why'], 'because');
      t.same(json(), {
        type: 'about:blank',
        title: 'Unprocessable Entity',
        status: 422,
        detail: 'The body breaks a rule.',
        code: 'validation_failed',
        errors,
      });
    }
  });

  void t.test(`${engine}: 401 asks for a bearer key`, async (t) => {
    const { url } = await startListener(
      t,
      engine,
      failing(new HttpProblem(401, 'unauthenticated', 'No key.')),
    );
    const { status, headers, json } = await send(`${url}/now`);
    t.equal(status, 401);
    t.equal(headers['www-authenticate'], 'Bearer');
    t.notOk('errors' in (json() as object));
  });

  void t.test(`${engine}: maps pipeline error codes to statuses`, async (t) => {
    const cases: readonly {
      code: ConsumeErrorCode;
      retryable?: boolean;
      retryAfterMs?: number;
      status: number;
      retryAfter?: string;
      detail?: string;
    }[] = [
      { code: 'overloaded', status: 503, retryAfter: '1' },
      { code: 'shutting_down', status: 503, retryAfter: '5' },
      { code: 'storage_unavailable', status: 503, retryAfter: '5' },
      { code: 'storage_unavailable', retryAfterMs: 1001, status: 503, retryAfter: '2' },
      {
        code: 'quota_exceeded',
        retryAfterMs: 86_400_000,
        status: 429,
        retryAfter: '86400',
        detail: 'secret',
      },
      { code: 'rate_limited', retryAfterMs: 1, status: 429, retryAfter: '1', detail: 'secret' },
      { code: 'validation_failed', retryable: false, status: 422, detail: 'secret' },
      { code: 'store_damaged', retryable: false, status: 500 },
      { code: 'internal_error', retryable: false, status: 500 },
      { code: 'internal_error', retryable: true, status: 503, retryAfter: '1' },
    ];
    for (const { code, retryable = true, retryAfterMs, status, retryAfter, detail } of cases) {
      const error = new ConsumeError('secret', {
        code,
        retryable,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      });
      const { url } = await startListener(t, engine, failing(error));
      const answer = await send(`${url}/later`);
      t.equal(answer.status, status, code);
      t.equal(answer.headers['retry-after'], retryAfter, code);
      t.match(answer.json(), { code });
      if (detail === undefined) t.notMatch(answer.body, 'secret', `${code} leaks no details`);
      else t.match(answer.json(), { detail });
    }
  });

  void t.test(`${engine}: an unknown error is a 500 without details, logged with its request`, async (t) => {
    for (const thrown of [new TypeError('SELECT * FROM secret'), 'a string', undefined]) {
      const { url, logger } = await startListener(t, engine, failing(thrown));
      for (const path of ['/now', '/later']) {
        const { status, body, json } = await send(url + path, {
          headers: { 'x-request-id': `id-of${path.slice(1)}` },
        });
        t.equal(status, 500);
        t.match(json(), { code: 'internal_error' });
        t.notMatch(body, 'secret');
        t.ok(
          logger.lines.some(
            (line) => line.startsWith('error') && line.includes(`requestId="id-of${path.slice(1)}"`),
          ),
        );
      }
    }
  });

  void t.test(`${engine}: an invalid response header becomes a 500`, async (t) => {
    for (const headers of [{ 'x-a': 'a\r\nset-cookie: b' }, { 'x-a': 'é' }, { 'x a': 'b' }]) {
      const { url } = await startListener(t, engine, [
        { method: 'GET', path: '/', handle: () => ({ status: 200, headers, body: '{}' }) },
      ]);
      const answer = await send(url);
      t.equal(answer.status, 500);
      t.notOk(answer.headers['set-cookie']);
    }
  });

  void t.test(`${engine}: an invalid handler response becomes a 500`, async (t) => {
    for (const nonsense of [undefined, {}, { status: 0 }, { status: 200, body: { a: 1 } }]) {
      const { url, underWay } = await startListener(t, engine, [
        { method: 'GET', path: '/now', handle: () => nonsense as HttpResponse },
        { method: 'GET', path: '/later', handle: () => Promise.resolve(nonsense as HttpResponse) },
      ]);
      for (const path of ['/now', '/later']) t.equal((await send(url + path)).status, 500);
      await underWay(0);
    }
  });
}
