import { join } from 'node:path';
import t, { type Test } from 'tap';
import { otlpHttpExporter } from '../../../src/exporters/otlp-http/factory.js';
import { otlpHttpConfig } from '../../../src/exporters/otlp-http/config.js';
import { readRetryAfter } from '../../../src/delivery/http-answer.js';
import { encodeExportResponse } from '../../../src/otlp/wire/export-response.js';
import { encodeStatus } from '../../../src/otlp/wire/status.js';
import { componentSettings } from '../../support/component-settings.js';
import { metricValues } from '../../support/engine.js';
import { TEST_CERTIFICATE } from '../../support/http-certificate.js';
import { declaredRun, logBatch, metricBatch, TENANT } from '../../support/otlp-records.js';
import { startOtlpEndpoint, type EndpointAnswer } from '../../support/otlp-endpoint.js';
import { sectionConfig } from '../../support/section-config.js';
import { StatusHost } from '../../support/status-host.js';

/** A started exporter; each of its inputs makes one attempt. */
async function startExporter(t: Pick<Test, 'teardown'>, yaml: string) {
  const settings = { ...componentSettings('otlp_http'), config: sectionConfig(otlpHttpConfig, yaml) };
  const exporter = otlpHttpExporter.create(settings);
  const host = new StatusHost();
  await exporter.start?.(host.host);
  t.teardown(() => exporter.shutdown?.(AbortSignal.abort()));
  const { traces, metrics, logs } = exporter.inputs;
  const context = { receivedAt: settings.clock.now() };
  return {
    ...settings,
    exporter,
    host,
    sendLogs: async (abort?: AbortSignal) =>
      logs?.consume(logBatch(), abort === undefined ? context : { ...context, abort }),
    sendMetrics: async () => metrics?.consume(metricBatch(), context),
    sendTraces: async () => traces?.consume({ tenant: TENANT, items: [declaredRun()] }, context),
  };
}

interface Expected {
  readonly retryable: boolean;
  readonly needsOperator?: boolean;
  readonly retryAfterMs?: number | undefined;
  readonly message: string | RegExp;
}

const PROTOBUF = { 'content-type': 'application/x-protobuf' };

void t.test('sends each signal to its path as gzipped protobuf with headers', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const { sendTraces, sendMetrics, sendLogs, logger } = await startExporter(
    t,
    `endpoint: ${endpoint.url}/\nheaders: { authorization: "Bearer secret-key", X-Scope: "7" }`,
  );
  t.strictSame(await sendTraces(), { accepted: 1, refused: [] });
  await sendMetrics();
  await sendLogs();
  t.strictSame(
    endpoint.requests.map(({ path }) => path),
    ['/v1/traces', '/v1/metrics', '/v1/logs'],
  );
  for (const { headers } of endpoint.requests)
    t.match(headers, {
      authorization: 'Bearer secret-key',
      'x-scope': '7',
      'content-type': 'application/x-protobuf',
      'content-encoding': 'gzip',
      'user-agent': 'Jackdaw',
    });
  const [traces, metrics, logs] = endpoint.requests.map(({ body }) => body);
  t.match(traces, {
    resourceSpans: [
      {
        scopeSpans: [
          {
            spans: [
              { name: 'answer the ticket' },
              { name: 'draft', status: { code: 'STATUS_CODE_ERROR' } },
              {},
            ],
          },
        ],
      },
    ],
  });
  t.match(metrics, {
    resourceMetrics: [
      {
        scopeMetrics: [
          {
            metrics: [
              { name: 'the.gauge', unit: 'ms', gauge: { dataPoints: [{ asDouble: -1.25 }] } },
              { sum: { isMonotonic: true, dataPoints: [{ asDouble: 7 }] } },
              {},
              { histogram: { dataPoints: [{ bucketCounts: ['1', '2', '9007199254740993'] }] } },
              { exponentialHistogram: { dataPoints: [{ scale: -1, positive: { offset: 1 } }] } },
              { summary: { dataPoints: [{ quantileValues: [{ quantile: 0.5, value: 2 }, {}] }] } },
            ],
          },
        ],
      },
    ],
  });
  t.match(logs, {
    resourceLogs: [
      { scopeLogs: [{ logRecords: [{ severityText: 'WARN', timeUnixNano: '1793707200000001000' }, {}] }] },
      { scopeLogs: [{ logRecords: [{ body: { stringValue: 'text' } }] }] },
    ],
  });
  t.strictSame(logger.lines, []);
});

void t.test('sends uncompressed and to separate URLs', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const { sendLogs, exporter } = await startExporter(
    t,
    `logs_endpoint: "${endpoint.url}/custom/logs?key=k"\ncompression: none`,
  );
  await sendLogs();
  t.equal(endpoint.requests[0]?.path, '/custom/logs?key=k');
  t.equal(endpoint.requests[0]?.headers['content-encoding'], undefined);
  t.strictSame(Object.keys(exporter.inputs), ['logs'], 'no input for other signals');
});

void t.test('retries only retryable responses', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const { sendLogs, clock } = await startExporter(t, `endpoint: ${endpoint.url}`);
  const date = new Date(clock.now() / 1000 + 90_000).toUTCString();
  const cases: readonly (readonly [EndpointAnswer, Expected])[] = [
    [
      { status: 429, headers: { 'retry-after': '7' } },
      { retryable: true, retryAfterMs: 7000, message: /answered 429$/ },
    ],
    [{ status: 502 }, { retryable: true, message: /answered 502$/ }],
    [
      { status: 503, headers: { 'retry-after': date } },
      { retryable: true, retryAfterMs: 90_000, message: /503/ },
    ],
    [
      { status: 503, headers: { 'retry-after': 'soon' } },
      { retryable: true, retryAfterMs: undefined, message: /503/ },
    ],
    [{ status: 504 }, { retryable: true, message: /answered 504$/ }],
    [
      {
        status: 400,
        headers: PROTOBUF,
        body: encodeStatus({ code: 3, message: 'bad spans' }, 'protobuf'),
      },
      { retryable: false, message: `${endpoint.url}/v1/logs answered 400: bad spans` },
    ],
    [
      {
        status: 404,
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: '{"code":16,"message":"no key"}',
      },
      {
        retryable: true,
        needsOperator: true,
        message: `${endpoint.url}/v1/logs answered 404 (check the path of the URL): no key`,
      },
    ],
    [{ status: 405 }, { retryable: true, needsOperator: true, message: /answered 405 \(check the path/ }],
    [
      { status: 421 },
      { retryable: true, needsOperator: true, message: /answered 421 \(.*service\.http\.hosts/ },
    ],
    [
      { status: 413, body: 'too large' },
      { retryable: false, message: /answered 413: too large$/ },
    ],
    [
      { status: 500, body: 'x'.repeat(100_000) },
      { retryable: false, message: /x…$/ },
    ],
    [
      { status: 302, headers: { location: '/x' } },
      { retryable: false, message: /redirects are not followed/ },
    ],
  ];
  for (const [answer, expected] of cases) {
    endpoint.answer = () => answer;
    await t.rejects(sendLogs(), { ...expected }, `${answer.status}`);
  }
});

void t.test('partial success is counted, logged and not retried', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const { sendLogs, sendTraces, logger, meter } = await startExporter(t, `endpoint: ${endpoint.url}`);
  endpoint.answer = () => ({
    status: 200,
    headers: PROTOBUF,
    body: encodeExportResponse('logs', { count: 2, reason: 'two records are odd' }, 'protobuf'),
  });
  t.strictSame(await sendLogs(), { accepted: 3, refused: [] });
  endpoint.answer = () => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: encodeExportResponse('traces', { count: 1, reason: 'one span is odd' }, 'json'),
  });
  await sendTraces();
  endpoint.answer = () => ({ status: 200, body: 'fine' });
  await sendTraces();
  t.strictSame(await metricValues(meter, 'jackdaw_otlp_http_rejected_items_total'), {
    'jackdaw_otlp_http_rejected_items_total{exporter="otlp_http",signal="logs"}': 2,
    'jackdaw_otlp_http_rejected_items_total{exporter="otlp_http",signal="traces"}': 1,
  });
  t.equal(logger.lines.length, 1, 'at most once in ten seconds');
  t.match(logger.lines[0], /accepted a request only partly .*two records are odd/);
});

void t.test('an unreachable, closing or hanging endpoint is retryable', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const { sendLogs } = await startExporter(t, `endpoint: ${endpoint.url}`);
  endpoint.answer = () => null;
  const abort = new AbortController();
  const hanging = sendLogs(abort.signal);
  await endpoint.received(1);
  abort.abort();
  await t.rejects(hanging, { retryable: true, message: /cannot be reached/ });

  const dying = sendLogs();
  await endpoint.received(2);
  await endpoint.close();
  await t.rejects(dying, { retryable: true, message: /cannot be reached: / });
  await t.rejects(sendLogs(), { retryable: true, message: /cannot be reached: .*ECONNREFUSED/ });

  const again = await startOtlpEndpoint(t, { port: endpoint.port });
  await sendLogs();
  t.equal(again.requests.length, 1, 'reconnects');
});

void t.test('https: the certificate must be trusted', async (t) => {
  const endpoint = await startOtlpEndpoint(t, { isSecure: true });
  const folder = t.testdir({ 'ca.pem': TEST_CERTIFICATE });
  const ca = join(folder, 'ca.pem');
  const stranger = await startExporter(t, `endpoint: ${endpoint.url}`);
  await t.rejects(stranger.sendLogs(), { retryable: true, message: /cannot be reached: .*self-signed/i });
  const known = await startExporter(t, `endpoint: ${endpoint.url}\ntls: { ca_file: ${ca} }`);
  await t.resolves(known.sendLogs());
  const named = await startExporter(
    t,
    `endpoint: ${endpoint.url}\ntls: { ca_file: ${ca}, server_name_override: other.example }`,
  );
  await t.rejects(named.sendLogs(), { message: /other\.example/ });
  const blind = await startExporter(t, `endpoint: ${endpoint.url}\ntls: { insecure_skip_verify: true }`);
  await t.resolves(blind.sendLogs());
  t.equal(endpoint.requests.length, 2);
  await t.rejects(
    startExporter(t, `endpoint: ${endpoint.url}\ntls: { ca_file: ${folder}/none.pem }`),
    /cannot read .*none\.pem \(tls\.ca_file\): ENOENT/,
  );
});

void t.test('rejects invalid configurations before the start without repeating secrets', async (t) => {
  const check = (yaml: string) =>
    otlpHttpExporter
      .check?.(sectionConfig(otlpHttpConfig, yaml))
      .map(({ path, message }) => `${path} ${message}`);
  t.match(check(''), [/^\/endpoint is missing/]);
  t.strictSame(check('traces_endpoint: "http://gateway/x"'), []);
  t.match(check('endpoint: "http://gateway/x?key=1"'), [/^\/endpoint must not have a query/]);
  t.match(check('endpoint: "http://gateway:99999"'), [/^\/endpoint is not a URL/]);
  const problems = check(
    'endpoint: "http://gateway"\nheaders: { "a b": x, Content-Type: x, token: "sec\\nret" }\ntls: { cert_file: x }',
  );
  t.match(problems, [
    '/headers/a b is not the name',
    '/headers/Content-Type is set by the exporter',
    '/headers/token has a value with characters',
    '/tls/cert_file needs both',
  ]);
  t.notMatch(JSON.stringify(problems), /sec|ret\b/);
  for (const url of ['gateway:4318', 'ftp://x', 'http://user:pass@host'])
    t.throws(() => sectionConfig(otlpHttpConfig, `endpoint: "${url}"`), url);
});

void t.test('reads Retry-After as seconds or a date', async (t) => {
  t.equal(readRetryAfter(undefined, 0), undefined);
  t.equal(readRetryAfter(' 120 ', 0), 120_000);
  t.equal(readRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 20_000_000), 40_000);
  t.equal(readRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 90_000_000), 0, 'in the past');
  t.equal(readRetryAfter('-1', 0), undefined);
});

void t.test('a rejected key keeps the data, needs an operator and is never repeated', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const key = 'jk_secret_of_the_gateway';
  const { sendLogs } = await startExporter(
    t,
    `endpoint: ${endpoint.url}\nheaders: { authorization: "Bearer ${key}" }`,
  );
  const answer = {
    headers: { 'content-type': 'application/json' },
    body: `{"message":"unknown key ${key}"}`,
  };
  for (const status of [401, 403]) {
    endpoint.answer = () => ({ status, ...answer });
    const error: unknown = await sendLogs().catch((error: unknown) => error);
    t.match(error, {
      retryable: true,
      needsOperator: true,
      message: /\(check the key in headers.*\): unknown key \*\*\*$/,
    });
  }
});
