import t, { type Test } from 'tap';
import { builtinFactories } from '../../../src/builtin.js';
import { ConfigError } from '../../../src/config/config-error.js';
import type { ConfigSource } from '../../../src/config/load.js';
import { prepare } from '../../../src/pipeline/prepare.js';
import { createLogger } from '../../../src/telemetry/logger.js';
import { PrometheusMeter } from '../../../src/telemetry/meter.js';
import type { Server } from '../../../src/telemetry/own/exporters.js';
import { OwnTelemetry, type OwnTelemetryOptions } from '../../../src/telemetry/own/own-telemetry.js';
import { systemClock } from '../../../src/telemetry/system-clock.js';
import { metricValues } from '../../support/engine.js';
import { TEST_CERTIFICATE } from '../../support/http-certificate.js';
import { startOtlpEndpoint } from '../../support/otlp-endpoint.js';
import { testConfig } from '../../support/test-config.js';

const SECRET = 'a-secret-value';

function serverAt(endpoint: string, more: Partial<Server> = {}): Server {
  return {
    ...{ kind: 'server', protocol: 'http', endpoint, headers: {}, compression: 'none', timeoutMs: 1000 },
    tls: { isVerified: true },
    ...more,
  };
}

function logger(level: 'debug' | 'info' = 'debug') {
  const lines: string[] = [];
  const output = { write: (line: string) => lines.push(line), isTerminal: false };
  return { lines, logger: createLogger({ level, format: 'json', output, secrets: [SECRET] }) };
}

async function open(t: Test, changes: Partial<OwnTelemetryOptions>) {
  const meter = new PrometheusMeter();
  const own = await OwnTelemetry.open({
    version: '1.2.3',
    resource: {},
    destination: { kind: 'self', userId: () => 'own', take: async () => 0 },
    ...{ sampleRatio: null, metricsIntervalMs: null, logLevel: null, timeoutMs: 1000 },
    ...{ meter, logger: logger().logger, clock: systemClock },
    ...changes,
  });
  t.teardown(() => own.close(AbortSignal.abort()));
  return { own, meter };
}

const never = (): AbortSignal => new AbortController().signal;
const REQUEST = { name: 'GET /x', kind: 'server', attributes: {} } as const;
const CALL = { name: 'store x', kind: 'client', attributes: {} } as const;

void t.test('log lines are records with severity, trace and without secrets', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const { logger: log, lines } = logger();
  const { own } = await open(t, {
    ...{ destination: serverAt(endpoint.url), sampleRatio: 1, logLevel: 'info', logger: log },
  });
  const span = own.tracer?.begin(REQUEST, undefined);
  log.debug({}, 'not sent');
  span?.within(() => {
    log.child({ extension: 'query' }).warn({ key: SECRET, list: [1, 2] }, `with ${SECRET}`);
  });
  span?.end({});
  log.error({ err: new TypeError('broken') }, 'failed');
  await own.close(never());
  log.info({}, 'after the end');

  const body = (path: string): unknown => endpoint.requests.find((request) => request.path === path)?.body;
  const records = (body('/v1/logs') as Logs).resourceLogs[0].scopeLogs[0].logRecords;
  const [{ traceId, spanId }] = (body('/v1/traces') as Traces).resourceSpans[0].scopeSpans[0].spans;
  t.match(records, [
    {
      severityNumber: 'SEVERITY_NUMBER_WARN',
      severityText: 'warn',
      body: { stringValue: 'with [redacted]' },
      traceId,
      spanId,
      attributes: [
        { key: 'extension', value: { stringValue: 'query' } },
        { key: 'key', value: { stringValue: '[redacted]' } },
        { key: 'list', value: { arrayValue: { values: [{ intValue: '1' }, { intValue: '2' }] } } },
      ],
    },
    {
      severityNumber: 'SEVERITY_NUMBER_ERROR',
      attributes: [
        { key: 'exception.type', value: { stringValue: 'TypeError' } },
        { key: 'exception.message', value: { stringValue: 'broken' } },
        { key: 'exception.stacktrace' },
      ],
    },
  ]);
  t.equal(records.length, 2);
  t.notMatch(Buffer.concat(endpoint.requests.map(({ bytes }) => bytes)).toString('latin1'), SECRET);
  t.equal(lines.length, 4, 'the log itself has all lines');
});

interface Logs {
  readonly resourceLogs: readonly [{ scopeLogs: readonly [{ logRecords: readonly object[] }] }];
}
interface Traces {
  readonly resourceSpans: readonly [
    { scopeSpans: readonly [{ spans: readonly [{ traceId: string; spanId: string }] }] },
  ];
}

void t.test('calls are traced only while their request is', async (t) => {
  const requests: Uint8Array[] = [];
  const { own, meter } = await open(t, {
    destination: {
      kind: 'self',
      userId: () => 'own',
      take: async (_signal, request) => {
        requests.push(request);
        // What sending causes is not traced.
        void own.tracer?.call(CALL, async () => undefined);
        return 0;
      },
    },
    sampleRatio: 1,
  });
  const { tracer } = own;
  await tracer?.call(CALL, async () => undefined);
  const span = tracer?.begin(REQUEST, undefined);
  let later = (): void => undefined;
  await span?.within(async () => {
    tracer?.call(CALL, () => 'no promise');
    await tracer?.call(CALL, async () => undefined);
    await t.rejects(tracer?.call(CALL, async () => Promise.reject(new Error('x'))) ?? Promise.resolve());
    const within = tracer?.bind();
    later = () => {
      void within?.(async () => tracer?.call(CALL, async () => undefined));
    };
  });
  span?.end({});
  later();
  await own.close(never());
  t.strictSame(await metricValues(meter, 'jackdaw_own_telemetry_sent_items_total'), {
    'jackdaw_own_telemetry_sent_items_total{signal="traces"}': 3,
  });
  t.equal(requests.length, 1);
});

void t.test('deliveries of own data are not traced', async (t) => {
  const { own, meter } = await open(t, { sampleRatio: 1 });
  const about = { durationMs: 1 };
  const event = (type: string) => ({ ...CALL, attributes: { 'jackdaw.event.type': type } });
  own.tracer?.delivered(CALL, { ...about, tenant: 'own' });
  own.tracer?.delivered(event('trace.completed'), about);
  own.tracer?.delivered(CALL, { ...about, tenant: 'another' });
  own.tracer?.delivered(event('alert.fired'), { ...about, error: 'refused' });
  await own.close(never());
  t.strictSame(Object.values(await metricValues(meter, 'jackdaw_own_telemetry_sent_items_total')), [2]);
});

void t.test('a full queue drops and counts, and so does a stop', async (t) => {
  const { own, meter } = await open(t, {
    destination: { kind: 'self', userId: () => 'own', take: () => new Promise(() => undefined) },
    ...{ sampleRatio: 1, timeoutMs: 60_000 },
  });
  // One batch is being sent, 2048 spans wait.
  for (let i = 0; i < 3000; i++) own.tracer?.begin(REQUEST, undefined)?.end({});
  const dropped = () => metricValues(meter, 'jackdaw_own_telemetry_dropped_items_total');
  const name = (reason: string) =>
    `jackdaw_own_telemetry_dropped_items_total{signal="traces",reason="${reason}"}`;
  t.equal((await dropped())[name('queue_full')], 3000 - 512 - 2048);
  const deadline = new AbortController();
  const closed = own.close(deadline.signal);
  deadline.abort();
  await closed;
  own.tracer?.begin(REQUEST, undefined)?.end({});
  t.ok(((await dropped())[name('shutdown')] ?? 0) > 0);
});

void t.test('a ratio of 0 traces nothing', async (t) => {
  const { own } = await open(t, { sampleRatio: 0 });
  t.equal(own.tracer?.begin(REQUEST, '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'), undefined);
});

void t.test('TLS with a certificate of its own', async (t) => {
  const endpoint = await startOtlpEndpoint(t, { isSecure: true });
  const send = async (tls: Server['tls']): Promise<number> => {
    const { own, meter } = await open(t, { destination: serverAt(endpoint.url, { tls }), sampleRatio: 1 });
    own.tracer?.begin(REQUEST, undefined)?.end({});
    await own.close(never());
    return Object.values(await metricValues(meter, 'jackdaw_own_telemetry_sent_items_total'))[0] ?? 0;
  };
  t.equal(await send({ isVerified: true }), 0);
  t.equal(await send({ isVerified: true, ca: Buffer.from(TEST_CERTIFICATE), serverName: 'localhost' }), 1);
  t.equal(await send({ isVerified: false }), 1);
});

void t.test('errors of the configuration name the key', async (t) => {
  const environment = { variables: {}, readFile: () => SECRET };
  const problemsOf = async (sources: readonly ConfigSource[]): Promise<string> => {
    try {
      return (await prepare(sources, environment, builtinFactories)).config.print();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      return error.problems.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n');
    }
  };
  const problems = (otlp: string): Promise<string> =>
    problemsOf(testConfig(t.testdir(), `service: { telemetry: { otlp: ${otlp} } }`).sources);
  t.match(await problems('{ endpoint: collector:4318 }'), /otlp\.endpoint must be a URL such as/);
  t.match(
    await problems('{ endpoint: "http://a/b", protocol: grpc }'),
    /otlp\.endpoint must not have a path/,
  );
  t.match(await problems('{ timeout: 0s }'), /otlp\.timeout must be greater than 0/);
  t.match(await problems('{ headers: { traceparent: x } }'), /otlp\.headers\.traceparent is set by/);
  t.match(
    await problems('{ endpoint: "https://a", tls: { cert_file: x } }'),
    /otlp\.tls\.cert_file needs both/,
  );
  const relay = `
auth: { enabled: false }
receivers: { otlp: {} }
exporters: { otlp_http: { endpoint: "http://a" } }
service:
  pipelines: { traces: { receivers: [otlp], exporters: [otlp_http] } }
  telemetry: { otlp: { endpoint: self, logs: { enabled: false } } }
`;
  t.match(
    await problemsOf([{ file: 'relay.yaml', text: relay }]),
    /^service\.telemetry\.otlp\.endpoint self needs a pipeline for metrics [^\n]*$/,
  );
  const shown = await problems(`{ endpoint: "http://a", headers: { authorization: "\${file:key}" } }`);
  t.match(shown, /authorization: /);
  t.notMatch(shown, SECRET);
});
