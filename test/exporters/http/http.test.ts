import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { httpConfig } from '../../../src/exporters/http/config.js';
import { httpExporter } from '../../../src/exporters/http/factory.js';
import { QueuedExporter } from '../../../src/delivery/queue/queued-exporter.js';
import { RAW_DECODERS } from '../../../src/otlp/map/decode-raw.js';
import type { Batch } from '../../../src/signal/batch.js';
import { componentSettings } from '../../support/component-settings.js';
import { metricValues } from '../../support/engine.js';
import { anEvent, eventBatch } from '../../support/event-records.js';
import { startJsonEndpoint } from '../../support/json-endpoint.js';
import { declaredRun, logBatch, TENANT } from '../../support/otlp-records.js';
import { sectionConfig } from '../../support/section-config.js';
import { testHost } from '../../support/test-host.js';
import { startReceiver } from '../../support/webhook-receiver.js';
import { AUTHORITY } from '../../support/webhook-certificates.js';

const LOCAL = 'targets: { allow_cidrs: [127.0.0.0/8] }\n';

/** A started exporter; `send` makes one attempt. */
async function startHttp(t: Pick<Test, 'teardown'>, yaml: string) {
  const settings = { ...componentSettings('http'), config: sectionConfig(httpConfig, yaml) };
  t.teardown(() => exporter.shutdown?.(AbortSignal.abort()));
  const exporter = httpExporter.create(settings);
  await exporter.start?.({ ...testHost(), reportStatus: () => undefined });
  const [input] = Object.values(exporter.inputs) as {
    consume: (batch: unknown, context: object) => unknown;
  }[];
  const send = async (batch: Batch<unknown>, context: object = {}) =>
    input?.consume(batch, { receivedAt: settings.clock.now(), ...context });
  const metric = async (name: string) => (await metricValues(settings.meter, `jackdaw_${name}`)) as object;
  return { ...settings, exporter, send, metric };
}

const problems = (yaml: string) => httpExporter.check?.(sectionConfig(httpConfig, yaml)) ?? [];

void t.test('renders event bodies from the template and secrets in headers', async (t) => {
  const endpoint = await startJsonEndpoint(t);
  const { send, logger } = await startHttp(
    t,
    `${LOCAL}url: "${endpoint.url}/in/\${{ event.type }}?v=1"
headers: { authorization: "Bearer k", x-id: "\${{ event.id }}" }
body:
  text: 'It is \${{ event.type }}: \${{ event.data.error_message }}'
  at: '\${{ event.timestamp }}'
  unix: '\${{ int(event.timestamp) }}'
  data: '\${{ event.data }}'
  mixed: '\${{ [1, "a", {"b": true, "c": 1.5}] }}'
  list: [1, 'plain', null]
  who: '\${{ identity.user_id }}'
`,
  );
  t.strictSame(await send({ ...eventBatch(), items: eventBatch().items.slice(0, 1) }), {
    accepted: 1,
    refused: [],
  });
  const message = 'what went wrong: "grüße 🎉"\n\u2028';
  const [request] = endpoint.requests;
  t.equal(request?.line, 'POST /in/trace.failed?v=1');
  t.match(request?.headers, {
    authorization: 'Bearer k',
    'content-type': 'application/json',
    'x-id': '0196f000-0000-7000-8000-000000000001',
    'user-agent': /^Jackdaw\//,
  });
  t.strictSame(JSON.parse(request?.body ?? ''), {
    text: `It is trace.failed: ${message}`,
    at: '2026-11-03T12:00:00Z',
    unix: 1793707200,
    data: { error_message: message },
    mixed: [1, 'a', { b: true, c: 1.5 }],
    list: [1, 'plain', null],
    who: TENANT,
  });
  t.strictSame(logger.lines, []);
});

void t.test('without a template sends all fields of an item', async (t) => {
  const endpoint = await startJsonEndpoint(t);
  const items = { event: eventBatch(), log: logBatch(), trace: { tenant: TENANT, items: [declaredRun()] } };
  for (const [item, batch] of Object.entries(items)) {
    const { send, exporter } = await startHttp(t, `${LOCAL}url: ${endpoint.url}\nitem: ${item}`);
    t.equal(Object.keys(exporter.inputs).length, 1);
    await send(batch);
  }
  const bodies = endpoint.requests.map(({ body }) => JSON.parse(body) as Record<string, unknown>);
  t.strictSame(bodies[1], {
    id: '0196f000-0000-7000-8000-000000000002',
    type: 'agent.created',
    timestamp: '2026-11-03T12:00:00Z',
    data: { name: 'support agent' },
  });
  t.match(bodies[2], { severity: 'warn', attributes: { nested: { deep: [[1]] } }, service_name: 'checkout' });
  t.match(bodies[5], { agent: /./, spans: [{ name: 'answer the ticket' }, { name: 'draft' }, {}] });
});

void t.test('sends batches as a list, an enveloped list or lines, gzipped and split', async (t) => {
  const endpoint = await startJsonEndpoint(t);
  const run = async (yaml: string) => {
    const { send } = await startHttp(
      t,
      `${LOCAL}url: ${endpoint.url}\nbody: { t: '\${{ event.type }}' }\n${yaml}`,
    );
    await send(eventBatch());
    return endpoint.requests.at(-1);
  };
  const list = [{ t: 'trace.failed' }, { t: 'agent.created' }];
  t.strictSame(JSON.parse((await run('format: json_array'))?.body ?? ''), list);
  const enveloped = await run(
    `format: json_array\ncompression: gzip\nheaders: { x-count: '\${{ size(items) }}' }\nenvelope: { n: '\${{ size(items) }}', all: '\${{ items }}' }`,
  );
  t.strictSame(JSON.parse(enveloped?.body ?? ''), { n: 2, all: list });
  t.match(enveloped?.headers, { 'content-encoding': 'gzip', 'x-count': '2' });
  const lines = await run('format: ndjson');
  t.equal(lines?.body, '{"t":"trace.failed"}\n{"t":"agent.created"}\n');
  t.equal(lines?.headers['content-type'], 'application/x-ndjson');

  const elastic = await startHttp(
    t,
    `${LOCAL}url: ${endpoint.url}/_bulk\nitem: span\nformat: ndjson\nbody:\n  - index: { _id: '\${{ span.span_id }}' }\n  - { name: '\${{ span.name }}' }\n`,
  );
  await elastic.send({ tenant: TENANT, items: [declaredRun()] });
  t.equal(endpoint.requests.at(-1)?.body.split('\n').length, 7);

  const before = endpoint.requests.length;
  const small = await startHttp(
    t,
    `${LOCAL}url: ${endpoint.url}\nformat: json_array\nmax_request_size: 100\nbody: '\${{ event.data.text }}'`,
  );
  const texts = ['a', 'b'.repeat(60), 'c'.repeat(200), 'd'];
  const receipt = await small.send({
    tenant: TENANT,
    items: texts.map((text, index) => anEvent(index, 'webhook.test', { text })),
  });
  t.match(receipt, { accepted: 3, refused: [{ index: 2, reason: /larger than max_request_size/ }] });
  const sent = endpoint.requests.slice(before).flatMap(({ body }) => JSON.parse(body) as string[]);
  t.strictSame(
    sent,
    texts.filter(({ length }) => length < 100),
    'an oversized item is dropped',
  );
  t.match(await small.metric('http_exporter_rejected'), {
    'jackdaw_http_exporter_rejected_items_total{exporter="http"}': 1,
  });
});

void t.test('retries only retryable responses', async (t) => {
  const endpoint = await startJsonEndpoint(t);
  const { send } = await startHttp(t, `${LOCAL}url: ${endpoint.url}/secret-path?key=secret-query`);
  const one = () => send({ tenant: TENANT, items: [anEvent(1, 'webhook.test', {})] });
  const cases = [
    [{ status: 204 }, null],
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { retryable: true, retryAfterMs: 7000, code: 'rate_limited' },
    ],
    [{ status: 500 }, { retryable: true, retryAfterMs: undefined }],
    [
      { status: 503, headers: { 'retry-after': '9' } },
      { retryable: true, retryAfterMs: 9000 },
    ],
    [{ status: 408 }, { retryable: true }],
    [
      { status: 400, body: 'invalid_payload' },
      { retryable: false, message: /answered 400: invalid_payload$/ },
    ],
    [{ status: 410, body: 'no /secret-path?key=secret-query' }, { retryable: false }],
    [{ status: 404 }, { retryable: true, needsOperator: true, message: /check the path of the URL$/ }],
    [{ status: 405 }, { retryable: true, needsOperator: true }],
    [{ status: 421 }, { retryable: true, needsOperator: true, message: /service\.http\.hosts/ }],
    [{ status: 401 }, { retryable: true, needsOperator: true }],
    [
      { status: 307, headers: { location: '/x' } },
      { retryable: false, message: /redirects are not followed/ },
    ],
  ] as const;
  for (const [answer, failure] of cases) {
    endpoint.answer = () => answer;
    const error: unknown = await one().catch((cause: unknown) => cause);
    if (failure === null) t.match(error, { accepted: 1 });
    else t.match(error, failure, String(answer.status));
    t.notMatch(String(error), /secret-query/);
  }
  t.equal(endpoint.requests.length, cases.length, 'a redirect is not followed');
});

void t.test('never repeats a key in errors, and blames an item for its own path', async (t) => {
  const endpoint = await startJsonEndpoint(t);
  const { send } = await startHttp(
    t,
    `${LOCAL}url: ${endpoint.url}/\${{ event.type }}\nheaders: { authorization: wrong-key }`,
  );
  const one = () => send({ tenant: TENANT, items: [anEvent(1, 'webhook.test', {})] });
  endpoint.answer = () => ({ status: 404 });
  await t.rejects(one(), { message: /answered 404$/ });
  endpoint.answer = () => ({ status: 403, body: 'wrong-key is wrong' });
  await t.rejects(one(), { message: /answer was 403: check the key/ });
  endpoint.answer = () => ({ status: 400, body: 'wrong-key is wrong' });
  await t.rejects(one(), { message: /answered 400: \*\*\* is wrong$/ });
});

void t.test('private addresses need permission', async (t) => {
  const endpoint = await startJsonEndpoint(t);
  t.match(problems(`url: ${endpoint.url}/x`), [
    { path: '/url', message: /must be reachable from the public/ },
  ]);
  const { send } = await startHttp(t, `url: ${endpoint.url.replace('127.0.0.1', 'localhost')}/x`);
  await t.rejects(send(eventBatch()), {
    retryable: true,
    message: /destination address is not allowed: add its network to targets/,
  });
  t.equal(endpoint.requests.length, 0);
});

void t.test('https uses a custom CA and sends nothing to untrusted servers', async (t) => {
  const receiver = await startReceiver(t);
  const ca = join(t.testdir({}), 'ca.pem');
  writeFileSync(ca, AUTHORITY);
  const url = `url: https://127.0.0.1:${receiver.port}/x`;
  const good = await startHttp(t, `${url}\ntargets: { allow_cidrs: [127.0.0.0/8], ca_file: ${ca} }`);
  await good.send(eventBatch());
  t.equal(receiver.requests.length, 2);
  t.match(receiver.requests[0]?.line, 'POST /x HTTP/1.1');
  const stranger = await startHttp(t, `${LOCAL}${url}`);
  await t.rejects(stranger.send(eventBatch()), { message: /certificate is not trusted/, retryable: true });
  const blind = await startHttp(t, `${LOCAL}${url}\ntls: { insecure_skip_verify: true }`);
  await blind.send(eventBatch());
  t.equal(receiver.requests.length, 4);
  const named = await startHttp(
    t,
    `${url}\ntargets: { allow_cidrs: [127.0.0.0/8], ca_file: ${ca} }\ntls: { server_name_override: other.example }`,
  );
  await t.rejects(named.send(eventBatch()), { message: /certificate is not/ });
  await t.rejects(startHttp(t, `${url}\ntls: { cert_file: /nowhere/a.pem, key_file: /nowhere/b.pem }`), {
    message: /cannot read .*tls\.(cert|key)_file/,
  });
});

void t.test('a failing expression gives null or drops the item, and is counted and logged', async (t) => {
  const endpoint = await startJsonEndpoint(t);
  const body = `body: { text: 'Hello \${{ event.data.name }}', name: '\${{ event.data.name }}' }`;
  const keep = await startHttp(t, `${LOCAL}url: ${endpoint.url}\n${body}`);
  await keep.send(eventBatch());
  t.strictSame(
    endpoint.requests.map((request) => JSON.parse(request.body) as unknown),
    [
      { text: 'Hello ', name: null },
      { text: 'Hello support agent', name: 'support agent' },
    ],
  );
  t.match(await keep.metric('exporter_expression'), {
    'jackdaw_exporter_expression_errors_total{exporter="http"}': 2,
  });
  t.match(keep.logger.lines, [/expression="body.text"/, /expression="body.name"/]);
  const drop = await startHttp(t, `${LOCAL}url: ${endpoint.url}\n${body}\non_error: drop`);
  await drop.send(eventBatch());
  t.equal(endpoint.requests.length, 3);
  const path = await startHttp(t, `${LOCAL}url: "${endpoint.url}/a/\${{ event.data.name }}/b"\nmethod: PUT`);
  for (const name of ['..', '', 'a/b'])
    await path
      .send({ tenant: TENANT, items: [anEvent(1, 'agent.created', { name })] })
      .catch(() => undefined);
  t.strictSame(
    endpoint.requests.slice(3).map(({ line }) => line),
    ['PUT /a//b', 'PUT /a/a%2Fb/b'],
  );
});

void t.test('retries each item separately, and of a split batch only the rest', async (t) => {
  const endpoint = await startJsonEndpoint(t);
  const settings = {
    ...componentSettings('http'),
    config: sectionConfig(
      httpConfig,
      `${LOCAL}url: ${endpoint.url}\nbody: '\${{ event.type }}'\nqueue: { concurrency: 1 }`,
    ),
  };
  let failures = 1;
  endpoint.answer = ({ body }) =>
    body.includes('agent') ? { status: failures-- > 0 ? 503 : 200 } : { status: 200 };
  const config = httpExporter.deliveryConfig?.(settings.config) ?? {};
  const queued = new QueuedExporter(httpExporter.create(settings), { ...settings, config }, RAW_DECODERS);
  await queued.start(testHost());
  await queued.inputs.events?.consume(eventBatch(), { receivedAt: 0 });
  await endpoint.received(2);
  const stopped = queued.shutdown(new AbortController().signal);
  while (endpoint.requests.length < 3) {
    settings.clock.advance(2000);
    await new Promise((resolve) => setImmediate(resolve));
  }
  await stopped;
  t.strictSame(
    endpoint.requests.map(({ body }) => body),
    ['"trace.failed"', '"agent.created"', '"agent.created"'],
  );

  failures = 1;
  endpoint.answer = () => ({ status: failures++ === 2 ? 500 : 200 });
  const spans = await startHttp(t, `${LOCAL}url: ${endpoint.url}\nitem: span\nbody: '\${{ span.name }}'`);
  const batch = { tenant: TENANT, items: [declaredRun()] };
  await t.rejects(spans.send({ ...batch, items: [...batch.items] }), { message: /answer was 500/ });
  await spans.send({ ...batch, items: [...batch.items] });
  const names = endpoint.requests.slice(3).map(({ body }) => body);
  t.equal(names.length, 4, 'three spans, one of them twice');
  t.equal(names[1], names[2]);
});

void t.test('configuration errors have a position', (t) => {
  const url = 'url: https://hooks.example.com/x\n';
  t.match(problems('{}'), [{ path: '/url', message: /is missing/ }]);
  t.match(problems('url: http://10.1.2.3/'), [
    { path: '/url', message: /10\.1\.2\.3 is not allowed; add its network to targets\.allow_cidrs/ },
  ]);
  t.match(problems("url: 'https://${{ event.type }}.example.com/'"), [
    { path: '/url', message: /not have an expression in its host/ },
  ]);
  t.match(problems(`${url}body: { a: [ok, '\${{ event.typ }}'] }`), [
    {
      path: '/body/a/1',
      message: 'event has no field "typ"; did you mean "type"? (column 7 of the expression)',
    },
  ]);
  t.match(problems(`${url}body: 'x \${{ event.type'`), [{ path: '/body', message: /is not closed/ }]);
  t.match(problems(`${url}item: log\nbody: '\${{ event.type }}'`), [
    { path: '/body', message: /no variable "event"/ },
  ]);
  t.match(
    problems(`${url}headers: { 'a b': x, host: y, ok: '\${{ event.typ }}' }`).map(({ path }) => path),
    ['/headers/ok', '/headers/a b', '/headers/host'],
  );
  t.match(problems(`${url}envelope: '\${{ items }}'`), [
    { path: '/envelope', message: /requires format: json_array/ },
  ]);
  t.match(problems(`${url}method: GET\nbody: 1`), [{ path: '/body', message: /have no body/ }]);
  t.match(
    problems(`${url}max_request_size: 0\ntimeout: 1s\nconnect_timeout: 2s`).map(({ path }) => path),
    ['/max_request_size', '/connect_timeout'],
  );
  t.match(problems(`${url}tls: { cert_file: a }`), [{ path: '/tls/cert_file' }]);
  t.match(problems(`${url}body: { '\${{ event.type }}': 1 }`), [
    { message: /a key cannot be an expression/ },
  ]);
  t.end();
});
