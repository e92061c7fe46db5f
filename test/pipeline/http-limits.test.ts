import { randomUUID } from 'node:crypto';
import { status as Code } from '@grpc/grpc-js';
import t from 'tap';
import { startTestDaemon } from '../support/daemon.js';
import { post } from '../support/http-post.js';
import { grpcFailureOf, startOtlpGrpcClient } from '../support/otlp-grpc-client.js';

void t.test('the bounds of the HTTP listeners are those of the configuration', async (t) => {
  const overlay = 'service: { http: { max_header_size: 2KiB, idle_timeout: 5s, headers_timeout: 5s } }';
  const { url, key } = await startTestDaemon(t, { overlay });
  const me = (header: string) =>
    post(`${url}/api/v1/me`, {
      method: 'GET',
      headers: { authorization: `Bearer ${key}`, 'x-more': header },
    });
  t.equal((await me('small')).status, 200);
  const refused = await me(randomUUID().repeat(100));
  t.match(refused, { status: 431, body: { code: 'headers_too_large' } });
});

void t.test('a wrong bound is an error of the configuration', async (t) => {
  const overlay = 'service: { http: { max_requests_in_flight: 0, idle_timeout: 5 } }';
  await t.rejects(startTestDaemon(t, { overlay }), {
    message:
      /service\.http\.max_requests_in_flight: must be >= 1[^]*service\.http\.idle_timeout: must be a duration/,
  });
});

void t.test('limits of users hold over all listeners, gRPC among them', async (t) => {
  const overlay = 'service: { user_limits: { requests_per_second: 0.001, request_burst: 3 } }';
  const { url, key, grpcAddress } = await startTestDaemon(t, { overlay });
  const headers = { authorization: `Bearer ${key}` };
  const me = () => post(`${url}/api/v1/me`, { method: 'GET', headers });
  t.equal((await me()).status, 200);
  t.equal((await me()).status, 200, 'the guard of the API and its routes count one request once');
  const call = startOtlpGrpcClient(t, grpcAddress);
  t.equal((await call('logs', Buffer.alloc(0), { key })).length, 0);
  t.match(await grpcFailureOf(call('logs', Buffer.alloc(0), { key })), {
    code: Code.RESOURCE_EXHAUSTED,
    sameCode: true,
    retryAfter: 1000,
  });
  const limited = await me();
  t.match(limited, { status: 429, headers: { 'retry-after': '1000' }, body: { code: 'rate_limited' } });
});
