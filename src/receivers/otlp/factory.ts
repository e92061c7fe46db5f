import { parseDuration } from '../../config/duration.js';
import { parseSize } from '../../config/size.js';
import { tlsResources } from '../../config/tls.js';
import type { ReceiverFactory, Resource } from '../../component/factory.js';
import { isSet, otlpConfig, type OtlpConfig } from './config.js';
import { OtlpReceiver } from './receiver.js';

export const otlpReceiver: ReceiverFactory<typeof otlpConfig> = {
  kind: 'receiver',
  type: 'otlp',
  description: 'Receives traces, metrics and logs from OpenTelemetry clients by OTLP over HTTP and gRPC.',
  stability: 'beta',
  signals: ['traces', 'metrics', 'logs'],
  takesOwnTelemetry: true,
  // The main thread knows the users.
  placement: ({ tenant }) => (tenant === undefined ? 'any' : 'main'),
  configSchema: otlpConfig,
  check: (config) => [...checkZeros(config), ...checkEndpoints(config)],
  resources: ({ protocols: { http, grpc }, api_endpoint: api }) => [
    ...listenerOf('http_listener', http.endpoint, http.tls),
    ...listenerOf('grpc_listener', grpc.endpoint, grpc.tls),
    ...listenerOf('http_listener', api, undefined),
  ],
  create: (settings) => new OtlpReceiver(settings),
};

function checkZeros({ protocols, request_timeout: timeout }: OtlpConfig) {
  const sizes = Object.entries(protocols).map(
    ([name, { max_request_body_size: size }]) =>
      [`/protocols/${name}/max_request_body_size`, parseSize(size)] as const,
  );
  return [...sizes, ['/request_timeout', parseDuration(timeout)] as const]
    .filter(([, value]) => value === 0)
    .map(([path]) => ({ path, message: 'must be greater than 0, or every request is refused' }));
}

function checkEndpoints({ protocols: { http, grpc }, api_endpoint: api }: OtlpConfig) {
  const isSomewhere = api === undefined || [http.endpoint, grpc.endpoint, api].some(isSet);
  return isSomewhere
    ? []
    : [
        {
          path: '',
          message: 'has no listener: set protocols.http.endpoint, protocols.grpc.endpoint or api_endpoint',
        },
      ];
}

function listenerOf(
  kind: 'http_listener' | 'grpc_listener',
  endpoint: string | null | undefined,
  tls: OtlpConfig['protocols']['http']['tls'],
): readonly Resource[] {
  if (endpoint === undefined || !isSet(endpoint)) return [];
  return [{ kind, endpoint }, ...tlsResources(endpoint, tls)];
}
