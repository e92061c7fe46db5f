import { isIP } from 'node:net';
import { Type, type Static } from 'typebox';
import { checkClientTls, clientTlsFields } from '../../config/client-tls.js';
import { durationMs } from '../../config/duration.js';
import { checkHeaders, headersSection } from '../../config/request-headers.js';
import { choice, duration, filePath, section } from '../../config/schema.js';
import { deliveryKeys } from '../../delivery/queue/config.js';
import { BATCH_ID_HEADER } from '../../otlp/wire/batch-id.js';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../../signal/batch.js';

const url = (description: string) =>
  Type.Optional(Type.String({ pattern: '^https?://[^/?#@\\s]+([/?][^#\\s]*)?$', description }));

export const otlpHttpConfig = section({
  protocol: choice(['http', 'grpc'], {
    default: 'http',
    description: 'Protocol of requests: http (OTLP/HTTP with protobuf) or grpc (OTLP/gRPC).',
  }),
  endpoint: url('Base URL, such as http://gateway:4318; /v1/traces, /v1/metrics and /v1/logs are appended.'),
  traces_endpoint: url('Full URL for traces, overriding endpoint.'),
  metrics_endpoint: url('Full URL for metrics, overriding endpoint.'),
  logs_endpoint: url('Full URL for logs, overriding endpoint.'),
  balance: Type.Optional(
    section(
      {
        interval: duration({ default: '5s', description: 'Interval between look-ups of the addresses.' }),
      },
      {
        description: 'Distributes whole runs over all addresses of the host in endpoint. Absent: not.',
        isOptional: true,
      },
    ),
  ),
  headers: headersSection('Headers of every request, such as authorization: "Bearer …".'),
  compression: choice(['gzip', 'none'], { default: 'gzip', description: 'Compression of request bodies.' }),
  tls: Type.Optional(
    section(
      {
        ca_file: Type.Optional(
          filePath({ description: 'PEM file with the certificates to trust instead of the public ones.' }),
        ),
        ...clientTlsFields,
      },
      { description: 'TLS settings for https URLs.', isOptional: true },
    ),
  ),
  ...deliveryKeys({ timeout: '30s' }),
});

export type OtlpHttpConfig = Static<typeof otlpHttpConfig>;

/** The services of OTLP/gRPC. */
const SERVICES: Readonly<Record<TelemetrySignal, string>> = {
  traces: 'trace.v1.TraceService',
  metrics: 'metrics.v1.MetricsService',
  logs: 'logs.v1.LogsService',
};

/** The URL for each signal that has one. */
export function urlsOf(config: OtlpHttpConfig): ReadonlyMap<TelemetrySignal, URL> {
  const whole: Readonly<Record<TelemetrySignal, string | undefined>> = {
    traces: config.traces_endpoint,
    metrics: config.metrics_endpoint,
    logs: config.logs_endpoint,
  };
  const urls = new Map<TelemetrySignal, URL>();
  for (const signal of TELEMETRY_SIGNALS) {
    const path =
      config.protocol === 'grpc'
        ? `opentelemetry.proto.collector.${SERVICES[signal]}/Export`
        : `v1/${signal}`;
    const text = whole[signal] ?? (config.endpoint && `${config.endpoint.replace(/\/+$/, '')}/${path}`);
    if (text !== undefined) urls.set(signal, new URL(text));
  }
  return urls;
}

/** Checks rules that the schema cannot express. Errors never contain header values. */
export function checkOtlpHttp(config: OtlpHttpConfig): { readonly path: string; readonly message: string }[] {
  const problems: { path: string; message: string }[] = [];
  const urls = ['endpoint', 'traces_endpoint', 'metrics_endpoint', 'logs_endpoint'] as const;
  if (urls.every((key) => config[key] === undefined))
    problems.push({
      path: '/endpoint',
      message: 'is missing: set a URL such as http://gateway:4318',
    });
  for (const key of urls)
    if (config[key] !== undefined && !URL.canParse(config[key]))
      problems.push({ path: `/${key}`, message: 'is not a URL' });
  if (config.protocol === 'grpc') {
    for (const key of urls)
      if (key !== 'endpoint' && config[key] !== undefined)
        problems.push({
          path: `/${key}`,
          message: 'is for protocol http: set endpoint, such as http://gateway:4317',
        });
    const { endpoint = '' } = config;
    if (URL.canParse(endpoint) && new URL(endpoint).pathname !== '/')
      problems.push({ path: '/endpoint', message: 'must not have a path with protocol grpc' });
  }
  if (config.balance !== undefined) problems.push(...checkBalance(config));
  if (config.endpoint?.includes('?') === true)
    problems.push({
      path: '/endpoint',
      message: 'must not have a query; set traces_endpoint, metrics_endpoint and logs_endpoint instead',
    });
  problems.push(
    ...checkHeaders(config.headers, ['content-type', 'te', BATCH_ID_HEADER]),
    ...checkClientTls(config.tls),
  );
  return problems;
}

function checkBalance({ balance, endpoint = '', ...config }: OtlpHttpConfig) {
  const problems: { path: string; message: string }[] = [];
  for (const key of ['traces_endpoint', 'metrics_endpoint', 'logs_endpoint'] as const)
    if (config[key] !== undefined)
      problems.push({ path: `/${key}`, message: 'cannot be combined with balance: set endpoint' });
  if (URL.canParse(endpoint) && isIP(new URL(endpoint).hostname.replace(/^\[|\]$/g, '')) !== 0)
    problems.push({ path: '/endpoint', message: 'must have a host name, not an address, with balance' });
  if (balance !== undefined && durationMs(balance.interval) === 0)
    problems.push({ path: '/balance/interval', message: 'must be greater than 0, for example 5s' });
  return problems;
}
