import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { generateKey } from '../../../src/auth/keys.js';
import { Poster } from '../../../src/cli/demo/poster.js';
import { aboutOwnTelemetry } from '../../../src/cli/demo/set-up.js';
import { PrometheusMeter } from '../../../src/telemetry/meter.js';
import { OwnTelemetry } from '../../../src/telemetry/own/own-telemetry.js';
import { systemClock } from '../../../src/telemetry/system-clock.js';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon, type TestDaemon } from '../../support/daemon.js';
import { metricValues } from '../../support/engine.js';
import { freePort } from '../../support/free-port.js';
import { startOtlpEndpoint, type OtlpEndpoint } from '../../support/otlp-endpoint.js';
import { startOtlpGrpcClient } from '../../support/otlp-grpc-client.js';
import { ONE_ITEM, protobufOf } from '../../support/otlp-requests.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { anItem } from '../../support/trace-batch.js';
import { until } from '../../support/until.js';

interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** Spans of the daemon about itself that the endpoint has received. */
function spansAt({ requests }: OtlpEndpoint): readonly SentSpan[] {
  return requests
    .filter(({ path }) => path === '/v1/traces')
    .flatMap(({ body }) => body['resourceSpans'] as readonly { scopeSpans: { spans: SentSpan[] }[] }[])
    .flatMap(({ scopeSpans }) => scopeSpans)
    .flatMap(({ spans }) => spans);
}

async function spanNamed(endpoint: OtlpEndpoint, name: string, count = 1): Promise<SentSpan> {
  const found = () => spansAt(endpoint).filter((span) => span.name === name);
  await until(`${count} spans ${name}`, () => found().length >= count);
  return found()[count - 1] as SentSpan;
}

function attributesOf({ attributes }: SentSpan): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

async function sent({ meter }: Pick<TestDaemon, 'meter'>, signal: 'traces' | 'metrics'): Promise<number> {
  const name = `jackdaw_own_telemetry_sent_items_total{signal="${signal}"}`;
  return (await metricValues(meter, name))[name] ?? 0;
}

/** Waits until the daemon has sent its metrics some more times: by then, a loop would have sent more spans. */
async function waitForRounds(daemon: Pick<TestDaemon, 'meter'>, rounds: number): Promise<void> {
  for (let round = 0; round < rounds; round++) {
    const before = await sent(daemon, 'metrics');
    await until('metrics are sent', async () => (await sent(daemon, 'metrics')) > before);
  }
}

const hex = (id: string): string => Buffer.from(id, 'base64').toString('hex');

void t.test('traces and metrics go to a server', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const daemon = await startTestDaemon(t, {
    overlay: `
exporters: { otlp_http: { endpoint: "${endpoint.url}/relay" } }
service:
  intake: { threads: 1 }
  pipelines:
    logs: { receivers: [otlp], processors: [validation], exporters: [storage, otlp_http] }
  telemetry:
    otlp:
      endpoint: ${endpoint.url}
      headers: { authorization: Bearer first-secret }
      resource: { deployment.environment.name: test, service.name: jackdaw-test }
      traces: { sample_ratio: 1 }
      metrics: { interval: 300ms }
      timeout: 1s
`,
  });
  const api = new ApiCaller(daemon.url, daemon.key);

  await t.test('a request and its commit in an intake thread', async (t) => {
    await api.send([anItem()]);
    const request = await spanNamed(endpoint, 'POST /api/v1/traces/batch');
    t.equal(request.kind, 'SPAN_KIND_SERVER');
    t.strictSame(attributesOf(request), {
      'http.request.method': 'POST',
      'http.route': '/api/v1/traces/batch',
      'url.scheme': 'http',
      'http.response.status_code': '200',
    });
    const commit = await spanNamed(endpoint, 'duckdb commit traces');
    t.equal(commit.parentSpanId, request.spanId);
    t.equal(commit.traceId, request.traceId);
  });

  await t.test('a read, with a route instead of ids', async (t) => {
    const [agent] = await api.get<readonly { readonly id: string }[]>('/agents');
    await api.get(`/agents/${agent?.id ?? ''}/stats?days=7`);
    const request = await spanNamed(endpoint, 'GET /api/v1/agents/{agent_id}/stats');
    const reads = spansAt(endpoint).filter(({ parentSpanId }) => parentSpanId === request.spanId);
    t.ok(
      reads.some(({ name }) => name.startsWith('duckdb agents.')),
      reads.map(({ name }) => name).join(),
    );
    t.notMatch(JSON.stringify(spansAt(endpoint)), agent?.id ?? '');
    t.notMatch(JSON.stringify(spansAt(endpoint)), daemon.key);
  });

  await t.test('the context of a caller', async (t) => {
    const [traceId, spanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    const before = spansAt(endpoint).filter(({ name }) => name === 'GET /api/v1/dashboard/sessions').length;
    for (const flags of ['00', '01'])
      await api.call('GET', '/dashboard/sessions', {
        headers: { traceparent: `00-${traceId}-${spanId}-${flags}` },
      });
    const joined = await spanNamed(endpoint, 'GET /api/v1/dashboard/sessions', before + 1);
    t.equal(hex(joined.traceId), traceId);
    t.equal(hex(joined.parentSpanId), spanId);
    await waitForRounds(daemon, 2);
    const all = spansAt(endpoint).filter(({ name }) => name === 'GET /api/v1/dashboard/sessions');
    t.equal(all.length, before + 1, 'a caller that does not sample is not traced');
  });

  await t.test('OTLP over gRPC, and the delivery of its records', async (t) => {
    const client = startOtlpGrpcClient(t, daemon.grpcAddress);
    await client('logs', protobufOf('logs', ONE_ITEM.logs), { key: daemon.key });
    const call = await spanNamed(endpoint, 'opentelemetry.proto.collector.logs.v1.LogsService/Export');
    t.match(attributesOf(call), { 'rpc.system': 'grpc', 'rpc.grpc.status_code': '0' });
    const delivery = await spanNamed(endpoint, 'deliver logs');
    t.equal(delivery.kind, 'SPAN_KIND_CLIENT');
    t.strictSame(attributesOf(delivery), {
      'jackdaw.exporter': 'otlp_http',
      'jackdaw.signal': 'logs',
      'jackdaw.items': '1',
    });
  });

  await t.test('probes and scrapers are not traced', async (t) => {
    await fetch(`${daemon.healthUrl}/readyz`);
    await fetch(`${daemon.metricsUrl}/metrics`);
    await waitForRounds(daemon, 2);
    t.strictSame(
      spansAt(endpoint).filter(({ name }) => /readyz|metrics$/.test(name)),
      [],
    );
  });

  await t.test('metrics, under a resource that names the daemon', async (t) => {
    const { body, headers } = endpoint.requests.findLast(({ path }) => path === '/v1/metrics') ?? {};
    t.match(headers, { authorization: 'Bearer first-secret', 'content-encoding': 'gzip' });
    t.match(headers?.['traceparent'], /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    const text = JSON.stringify(body);
    for (const part of ['"jackdaw-test"', '"deployment.environment.name"', '"service.instance.id"'])
      t.match(text, part);
    const [{ scopeMetrics }] = body?.['resourceMetrics'] as [{ scopeMetrics: [{ metrics: object[] }] }];
    const metric = (wanted: string) =>
      scopeMetrics[0].metrics.find((each) => (each as { name: string }).name === wanted);
    t.match(metric('jackdaw_http_requests_total'), {
      sum: { isMonotonic: true, aggregationTemporality: 'AGGREGATION_TEMPORALITY_CUMULATIVE' },
    });
    t.match(metric('jackdaw_http_requests_in_flight'), { unit: '1', gauge: { dataPoints: [{}] } });
    const duration = metric('jackdaw_http_request_duration_seconds') as {
      readonly histogram: { readonly dataPoints: readonly Histogram[] };
    };
    for (const { count, bucketCounts, explicitBounds } of duration.histogram.dataPoints) {
      t.equal(bucketCounts.length, explicitBounds.length + 1);
      t.equal(
        bucketCounts.reduce((sum, one) => sum + Number(one), 0),
        Number(count),
      );
    }
  });

  await t.test('a reload', async (t) => {
    const put = (otlp: string) => {
      writeFileSync(join(daemon.directory, 'reload.yaml'), `service: { telemetry: { otlp: ${otlp} } }`);
    };
    put('{ headers: { authorization: Bearer second-secret } }');
    t.match(await daemon.daemon.reload(), { result: 'applied', renewed: ['own telemetry'] });
    const received = () => endpoint.requests.at(-1)?.headers.authorization;
    await until('the new header', () => received() === 'Bearer second-secret');
    t.match(await daemon.daemon.reload(), { result: 'unchanged', renewed: [] });
    put('{ traces: { sample_ratio: 0.5 } }');
    t.match(await daemon.daemon.reload(), {
      result: 'needs_restart',
      needsRestart: ['service.telemetry.otlp.traces.sample_ratio'],
    });
    put('{ endpoint: self }');
    t.match(await daemon.daemon.reload(), {
      result: 'needs_restart',
      needsRestart: ['service.telemetry.otlp.endpoint'],
    });
  });

  await t.test('a server that fails is logged once', async (t) => {
    endpoint.answer = () => ({ status: 400 });
    const isLogged = (line: string) => line.includes('Own telemetry could not be sent');
    await until('it is logged', () => daemon.logs.some(isLogged));
    const name = 'jackdaw_own_telemetry_dropped_items_total{signal="metrics",reason="failed"}';
    const dropped = async () => (await metricValues(daemon.meter, name))[name] ?? 0;
    const before = await dropped();
    await until('more is dropped', async () => (await dropped()) > before);
    t.equal(daemon.logs.filter(isLogged).length, 1);
    t.notMatch(daemon.logs.join(), 'second-secret');
  });

  await t.test('a server that never answers does not hold up a stop', async (t) => {
    endpoint.answer = () => null;
    await api.get('/agents');
    const { errors } = await daemon.daemon.shutdown();
    t.strictSame(errors, []);
  });
});

interface Histogram {
  readonly count: string;
  readonly bucketCounts: readonly string[];
  readonly explicitBounds: readonly number[];
}

const EVERYTHING = 'traces: { sample_ratio: 1 }, metrics: { interval: 200ms }';

void t.test('a daemon sends to itself, without a loop', async (t) => {
  const received = await startOtlpEndpoint(t);
  const daemon = await startTestDaemon(t, {
    overlay: `
exporters: { otlp_http: { endpoint: "${received.url}" } }
service:
  pipelines:
    traces: { receivers: [trace_batch, otlp], processors: [validation], exporters: [storage, otlp_http] }
  telemetry: { otlp: { endpoint: self, ${EVERYTHING} } }
`,
  });
  const api = new ApiCaller(daemon.url, daemon.key);
  await api.send([anItem()]);
  await until('the user exists', async () => {
    const users = await api.get<readonly { readonly email: string }[]>('/admin/users');
    return users.some(({ email }) => email === 'jackdaw@localhost');
  });
  const users = await api.get<readonly { readonly id: string; readonly email: string }[]>('/admin/users');
  const own = users.find(({ email }) => email === 'jackdaw@localhost');
  const { key } = await api.createKey(['read'], { user_id: own?.id ?? '' });
  interface Run {
    readonly trace_id: string;
    readonly spans: readonly { readonly name: string }[];
  }
  // Looking is traced, too, so it is done once.
  await waitForRounds(daemon, 6);
  const { items } = await api.get<{ items: readonly Run[] }>('/dashboard/traces?kind=all&page_size=100', key);
  const runs: Run[] = [];
  for (const { trace_id } of items) runs.push(await api.get<Run>(`/dashboard/traces/${trace_id}`, key));
  const runOf = (name: string) => runs.find(({ spans }) => spans.some((span) => span.name === name));
  t.ok(runOf('POST /api/v1/traces/batch')?.spans.some(({ name }) => name === 'duckdb commit traces'));
  t.ok(runOf('deliver traces'));
  const metrics = await api.get<readonly { readonly name: string }[]>(
    '/dashboard/metrics/?search=http_requests',
    key,
  );
  t.ok(metrics.some(({ name }) => name === 'jackdaw_http_requests_total'));

  const shownBy = (key: string) =>
    aboutOwnTelemetry(
      new Poster({ url: daemon.url, key, keySource: 'the test' }, new AbortController().signal),
    );
  t.match(await shownBy(key), /shows itself/);
  t.match(await shownBy(daemon.key), /belong to the user jackdaw@localhost/);

  const meter = new PrometheusMeter();
  const other = await OwnTelemetry.open({
    destination: {
      ...{ kind: 'server', protocol: 'grpc', compression: 'gzip', timeoutMs: 60_000 },
      endpoint: `http://${daemon.grpcAddress}`,
      headers: { authorization: `Bearer ${daemon.key}` },
      tls: { isVerified: true },
    },
    ...{ version: '1.2.3', resource: {}, sampleRatio: 1, metricsIntervalMs: null, logLevel: null },
    ...{ timeoutMs: 60_000, meter, logger: new RecordingLogger(), clock: systemClock },
  });
  other.tracer?.begin({ name: 'GET /other', kind: 'server', attributes: {} }, undefined)?.end({});
  await other.close(new AbortController().signal);
  t.equal(await sent({ meter }, 'traces'), 1, 'another process sends by gRPC');

  await waitForRounds(daemon, 6);
  const before = await sent(daemon, 'traces');
  await waitForRounds(daemon, 12);
  t.equal(await sent(daemon, 'traces'), before, 'a quiet daemon sends no spans');
  const dropped = await metricValues(daemon.meter, 'jackdaw_own_telemetry_dropped_items_total');
  t.strictSame(
    Object.values(dropped).filter((count) => count > 0),
    [],
  );
});

void t.test('a daemon that sends to its own port does not trace that', async (t) => {
  const port = await freePort();
  const key = generateKey();
  const daemon = await startTestDaemon(t, {
    key,
    overlay: `
receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
service:
  telemetry:
    otlp: { endpoint: "http://127.0.0.1:${port}", headers: { authorization: Bearer ${key} }, ${EVERYTHING} }
`,
  });
  const api = new ApiCaller(daemon.url, daemon.key);
  await api.get('/agents');
  await until('a span is sent', async () => (await sent(daemon, 'traces')) > 0);
  await waitForRounds(daemon, 6);
  const before = await sent(daemon, 'traces');
  await waitForRounds(daemon, 12);
  t.equal(await sent(daemon, 'traces'), before);
});
