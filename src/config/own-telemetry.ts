import { Type, type Static } from 'typebox';
import { checkClientTls, clientTlsFields } from './client-tls.js';
import { parseDuration } from './duration.js';
import { checkHeaders, headersSection } from './request-headers.js';
import { choice, duration, filePath, section } from './schema.js';

/** The endpoint that stands for this daemon's own intake. */
export const SELF = 'self';

/** The path of the section. */
export const OWN_TELEMETRY = 'service.telemetry.otlp';

export const OwnTelemetrySchema = section(
  {
    endpoint: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      pattern: '^(|self|https?://[^/?#@\\s]+(/[^?#\\s]*)?)$',
      patternErrorMessage: 'must be a URL such as http://collector:4318, or self for this daemon',
      default: null,
      description: 'Base URL of an OTLP server, or self for this daemon. Set to null to send nothing.',
    }),
    protocol: choice(['http', 'grpc'], {
      default: 'http',
      description: 'Protocol: http (OTLP/HTTP with protobuf; /v1/traces is appended) or grpc.',
    }),
    headers: headersSection('Headers of every request, such as authorization: "Bearer …".'),
    compression: choice(['gzip', 'none'], { default: 'gzip', description: 'Compression of requests.' }),
    timeout: duration({
      default: '10s',
      description: 'Time limit for a request including retries. Its items are then dropped.',
    }),
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
    user: Type.String({
      default: 'jackdaw@localhost',
      pattern: '^[^\\s@<>(),;:"\\\\]+@[^\\s@<>(),;:"\\\\]+$',
      patternErrorMessage: 'must be an e-mail address',
      maxLength: 254,
      description: 'E-mail address of the user who gets the data with endpoint self; created if missing.',
    }),
    resource: Type.Record(Type.String(), Type.String(), {
      default: {},
      description: 'Attributes that describe this daemon, such as deployment.environment.name.',
    }),
    traces: section(
      {
        enabled: Type.Boolean({ default: true, description: 'Whether traces are sent.' }),
        sample_ratio: Type.Number({
          minimum: 0,
          maximum: 1,
          default: 0.1,
          description: 'Share of requests and deliveries that are traced.',
        }),
      },
      { description: 'Traces of requests, calls of stores, and deliveries.' },
    ),
    metrics: section(
      {
        enabled: Type.Boolean({ default: true, description: 'Whether metrics are sent.' }),
        interval: duration({
          default: '60s',
          description: 'Interval at which all metrics are read and sent.',
        }),
      },
      { description: 'The metrics that /metrics serves.' },
    ),
    logs: section(
      {
        enabled: Type.Boolean({ default: true, description: 'Whether log lines are sent.' }),
        level: choice(['info', 'warn', 'error'], {
          default: 'info',
          description: 'Minimum level to send; lines below service.telemetry.logs.level are never sent.',
        }),
      },
      { description: 'The log of the daemon.' },
    ),
  },
  { description: 'Sends traces, metrics and the log of the daemon itself by OTLP.' },
);

export type OwnTelemetryConfig = Static<typeof OwnTelemetrySchema>;

/** Checks rules that the schema cannot express. Errors never contain header values. */
export function checkOwnTelemetry(
  config: OwnTelemetryConfig,
): readonly { readonly path: string; readonly message: string }[] {
  const { endpoint, protocol, timeout, metrics } = config;
  const problems: { path: string; message: string }[] = [];
  if (endpoint !== null && endpoint !== '' && endpoint !== SELF) {
    if (!URL.canParse(endpoint)) problems.push({ path: '/endpoint', message: 'is not a URL' });
    else if (protocol === 'grpc' && new URL(endpoint).pathname !== '/')
      problems.push({ path: '/endpoint', message: 'must not have a path with protocol grpc' });
  }
  for (const [path, value] of [
    ['/timeout', timeout],
    ['/metrics/interval', metrics.interval],
  ] as const)
    if (parseDuration(value) === 0)
      problems.push({ path, message: 'must be greater than 0, for example 1s' });
  return [
    ...problems,
    ...checkHeaders(config.headers, ['content-type', 'user-agent', 'te', 'traceparent']),
    ...checkClientTls(config.tls),
  ];
}
