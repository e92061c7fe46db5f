import { randomUUID } from 'node:crypto';
import { status as Code } from '@grpc/grpc-js';
import t from 'tap';
import { gaugeRequest } from '../support/gauge-request.js';
import { logRequest } from '../support/log-request.js';
import { aSpan, jsonOf, protobufOf, tracesOf } from '../support/otlp-requests.js';
import { anItem } from '../support/trace-batch.js';
import { startTestDaemon } from '../support/daemon.js';
import { post } from '../support/http-post.js';
import { grpcFailureOf, startOtlpGrpcClient } from '../support/otlp-grpc-client.js';

void t.test('HTTP listeners use the configured limits', async (t) => {
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

void t.test('an invalid limit is a configuration error', async (t) => {
  const overlay = 'service: { http: { max_requests_in_flight: 0, idle_timeout: 5 } }';
  await t.rejects(startTestDaemon(t, { overlay }), {
    message:
      /service\.http\.max_requests_in_flight: must be >= 1[^]*service\.http\.idle_timeout: must be a duration/,
  });
});

void t.test('user limits apply to all listeners, including gRPC', async (t) => {
  const overlay = 'service: { user_limits: { requests_per_second: 0.001, request_burst: 3 } }';
  const { url, key, grpcAddress } = await startTestDaemon(t, { overlay });
  const headers = { authorization: `Bearer ${key}` };
  const me = () => post(`${url}/api/v1/me`, { method: 'GET', headers });
  t.equal((await me()).status, 200);
  t.equal((await me()).status, 200, 'the guard and routes of the API count a request once');
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

void t.test('at the storage limit a user can send nothing on any route', async (t) => {
  const overlay = 'service: { user_limits: { stored_bytes: 1KiB } }';
  const { url, key, grpcAddress, otlpUrl } = await startTestDaemon(t, { overlay });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const send = (path: string, json: object, method = 'POST') =>
    post(`${url}/api/v1${path}`, { method, headers, body: JSON.stringify(json) });
  const usage = () => post(`${url}/api/v1/usage`, { method: 'GET', headers });
  t.match(await usage(), { body: { stored_bytes: { used: 0, limit: 1024 } } });
  const prompt = { name: 'p', template_text: 'x'.repeat(2000) };
  t.equal((await send('/dashboard/prompts/', prompt)).status, 201);
  const call = startOtlpGrpcClient(t, grpcAddress);
  const refused = [
    send('/traces/batch', { traces: [anItem()] }),
    send('/dashboard/prompts/', { ...prompt, version: 2 }),
    send('/dashboard/prompts/usage', { prompt_name: 'p', prompt_version: 1, trace_id: randomUUID() }),
    send(`/dashboard/views/${randomUUID()}`, { name: 'v', path: '/traces' }, 'PUT'),
    send('/alerts', { agent_id: randomUUID(), type: 'failure_rate', threshold: 0.5 }),
  ];
  for (const answer of await Promise.all(refused))
    t.match(answer, { status: 429, headers: { 'retry-after': '300' }, body: { code: 'storage_exceeded' } });
  const nanos = BigInt(Date.now()) * 1_000_000n;
  const signals = {
    traces: tracesOf(aSpan(1)),
    logs: logRequest('s', [{ body: 'text', nanos }]),
    metrics: gaugeRequest('s', [{ name: 'm', value: 1, nanos, attributes: {} }]),
  };
  for (const signal of ['traces', 'logs', 'metrics'] as const) {
    const body = jsonOf(signals[signal]);
    const answer = await post(`${otlpUrl}/v1/${signal}`, { method: 'POST', headers, body });
    t.match(answer, { status: 429, body: { message: /storage limit of 1024 bytes is reached/ } });
    t.match(await grpcFailureOf(call(signal, protobufOf(signal, signals[signal]), { key })), {
      code: Code.RESOURCE_EXHAUSTED,
      retryAfter: 300,
    });
  }
  const me = await post(`${url}/api/v1/me`, { method: 'GET', headers });
  const { id } = (me.body as { readonly user: { readonly id: string } }).user;
  t.equal((await send(`/admin/users/${id}`, { stored_bytes_limit: 1024 ** 2 }, 'PATCH')).status, 200);
  t.match(await send('/traces/batch', { traces: [anItem()] }), { status: 200 }, 'immediately');
});
