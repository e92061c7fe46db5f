import { Type, type Static } from 'typebox';
import { choice, filePath, secret, section } from '../../config/schema.js';
import { deliveryKeys } from '../../delivery/queue/config.js';
import { TELEMETRY_SIGNALS, type TelemetrySignal } from '../../signal/batch.js';

const url = (description: string) =>
  Type.Optional(Type.String({ pattern: '^https?://[^/?#@\\s]+([/?][^#\\s]*)?$', description }));

export const otlpHttpConfig = section({
  endpoint: url('Base URL; /v1/traces, /v1/metrics and /v1/logs are appended: http://gateway:4318.'),
  traces_endpoint: url('Whole URL for traces, instead of one made from endpoint.'),
  metrics_endpoint: url('Whole URL for metrics, instead of one made from endpoint.'),
  logs_endpoint: url('Whole URL for logs, instead of one made from endpoint.'),
  headers: Type.Record(Type.String(), secret({ description: 'The value; it is never shown.' }), {
    default: {},
    description: 'Headers of every request, such as authorization: "Bearer …".',
  }),
  compression: choice(['gzip', 'none'], { default: 'gzip', description: 'How bodies are compressed.' }),
  tls: Type.Optional(
    section(
      {
        ca_file: Type.Optional(
          filePath({ description: 'PEM file with the certificates to trust, instead of the public ones.' }),
        ),
        cert_file: Type.Optional(filePath({ description: 'PEM file with the client certificate.' })),
        key_file: Type.Optional(
          filePath({ description: 'PEM file with the key of the client certificate.' }),
        ),
        server_name_override: Type.Optional(
          Type.String({ minLength: 1, description: 'The name that the server’s certificate must have.' }),
        ),
        insecure_skip_verify: Type.Boolean({
          default: false,
          description:
            'Do not check the server’s certificate: anybody in between can read and change everything.',
        }),
      },
      { description: 'For https URLs.', isOptional: true },
    ),
  ),
  ...deliveryKeys({ timeout: '30s' }),
});

export type OtlpHttpConfig = Static<typeof otlpHttpConfig>;

/** The URL for each signal that has one. */
export function urlsOf(config: OtlpHttpConfig): ReadonlyMap<TelemetrySignal, URL> {
  const whole: Readonly<Record<TelemetrySignal, string | undefined>> = {
    traces: config.traces_endpoint,
    metrics: config.metrics_endpoint,
    logs: config.logs_endpoint,
  };
  const urls = new Map<TelemetrySignal, URL>();
  for (const signal of TELEMETRY_SIGNALS) {
    const text = whole[signal] ?? (config.endpoint && `${config.endpoint.replace(/\/+$/, '')}/v1/${signal}`);
    if (text !== undefined) urls.set(signal, new URL(text));
  }
  return urls;
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** As RFC 9110 defines them: visible characters, spaces and tabs. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Headers that describe the body, or that belong to the connection. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  'content-type',
  'content-encoding',
  'content-length',
  'transfer-encoding',
  'host',
  'connection',
]);

/** Checks what the schema cannot express. Values of headers are never repeated. */
export function checkOtlpHttp(config: OtlpHttpConfig): { readonly path: string; readonly message: string }[] {
  const problems: { path: string; message: string }[] = [];
  const urls = ['endpoint', 'traces_endpoint', 'metrics_endpoint', 'logs_endpoint'] as const;
  if (urls.every((key) => config[key] === undefined))
    problems.push({
      path: '/endpoint',
      message: 'is missing: write where to send, such as http://gateway:4318',
    });
  for (const key of urls)
    if (config[key] !== undefined && !URL.canParse(config[key]))
      problems.push({ path: `/${key}`, message: 'is no URL' });
  if (config.endpoint?.includes('?') === true)
    problems.push({
      path: '/endpoint',
      message: 'must not have a query; write traces_endpoint and so on in full',
    });
  for (const [name, value] of Object.entries(config.headers)) {
    const path = `/headers/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (!HEADER_NAME.test(name)) problems.push({ path, message: 'is not the name of a header' });
    else if (OWN_HEADERS.has(name.toLowerCase())) problems.push({ path, message: 'is set by the exporter' });
    else if (!HEADER_VALUE.test(value))
      problems.push({
        path,
        message: 'has a value with characters that are not allowed in a header, such as a line break',
      });
  }
  const { tls } = config;
  if (tls && (tls.cert_file === undefined) !== (tls.key_file === undefined))
    problems.push({
      path: tls.cert_file === undefined ? '/tls/key_file' : '/tls/cert_file',
      message: 'needs both cert_file and key_file',
    });
  return problems;
}
