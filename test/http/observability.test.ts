import t from 'tap';
import type { Route } from '../../src/component/http.js';
import { ENGINES, send, startListener } from '../support/http-listener.js';

const ROUTES: readonly Route[] = [
  {
    method: 'GET',
    path: '/agents/{agent_id}',
    handle: ({ id }) => ({ status: 200, body: JSON.stringify(id) }),
  },
];

for (const engine of ENGINES) {
  void t.test(`${engine}: echoes a valid request id and generates one otherwise`, async (t) => {
    const { url } = await startListener(t, engine, ROUTES);
    for (const id of ['a', 'Req-1_2.3', 'x'.repeat(128)]) {
      const answer = await send(`${url}/agents/x`, { headers: { 'X-Request-Id': id } });
      t.equal(answer.headers['x-request-id'], id);
      t.equal(answer.json(), id, 'visible to the handler, too');
    }
    const made = new Set<unknown>();
    for (const id of ['', 'x'.repeat(129), 'with space', 'semi;colon', undefined]) {
      const answer = await send(`${url}/nope`, { headers: id === undefined ? {} : { 'X-Request-Id': id } });
      const given = answer.headers['x-request-id'];
      t.match(given, /^[A-Za-z0-9._-]{1,128}$/);
      t.not(given, id);
      made.add(given);
    }
    t.equal(made.size, 5);
  });

  void t.test(`${engine}: counts requests by status class and method, never by client input`, async (t) => {
    const { url, metric } = await startListener(t, engine, ROUTES);
    for (const id of ['a', 'b', 'c']) await send(`${url}/agents/${id}`);
    for (const path of ['/x', '/y', '/agents/%zz']) await send(url + path);
    await send(`${url}/agents/a`, { method: 'TRACE' });
    t.equal(await metric('http_requests_total', { method: 'GET', status: '2xx' }), 3);
    t.equal(await metric('http_requests_total', { method: 'GET', status: '4xx' }), 3);
    t.equal(await metric('http_requests_total', { method: 'other', status: '4xx' }), 1);
    t.equal(await metric('http_request_duration_seconds_count', { route: '/agents/{agent_id}' }), 3);
    t.equal(await metric('http_request_duration_seconds_count', { route: 'unmatched' }), 4);
  });

  void t.test(`${engine}: the access log is a debug line without the query`, async (t) => {
    const { url, logger } = await startListener(t, engine, ROUTES);
    await send(`${url}/agents/a?key=secret`, {
      headers: { 'x-request-id': 'mine', authorization: 'Bearer secret' },
    });
    const line = logger.lines.find((line) => line.startsWith('debug Request answered.'));
    t.match(line, /requestId="mine" method="GET" path="\/agents\/a" status=200/);
    t.match(line, 'remoteAddress="127.0.0.1"');
    t.notOk(logger.lines.some((line) => line.includes('secret')));
  });
}
