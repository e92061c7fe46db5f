import { Type, type Static } from 'typebox';
import { tenantSection } from '../../auth/tenants.js';
import { duration, optionalEndpoint, section, size } from '../../config/schema.js';
import { tlsFiles } from '../../config/tls.js';

/** The keys that both protocols have. @param endpoint with OTLP's default port @param maxSize of a request */
function protocol(endpoint: string, maxSize: string) {
  return {
    endpoint: optionalEndpoint({
      description: 'Address to listen on. Set to null to disable this listener.',
      default: endpoint,
    }),
    max_request_body_size: size({
      description: 'Maximum request size, before and after decompression.',
      default: maxSize,
      memoryShare: { share: 1 / 128, least: '4MiB' },
    }),
    tls: tlsFiles(),
  };
}

function agentNames(description: string) {
  return Type.Array(Type.String({ minLength: 1, maxLength: 200, description: 'Name; * matches anything.' }), {
    maxItems: 1000,
    default: [],
    description,
  });
}

export const otlpConfig = section({
  protocols: section(
    {
      http: section(protocol('127.0.0.1:4318', '64MiB'), {
        description: 'OTLP over HTTP in protobuf and JSON: POST /v1/traces, /v1/metrics and /v1/logs.',
      }),
      grpc: section(
        {
          ...protocol('127.0.0.1:4317', '4MiB'),
          max_bodies_in_flight: size({
            description:
              'Bytes of all requests in progress, at least four maximum requests. Others get UNAVAILABLE.',
            default: '128MiB',
            memoryShare: { share: 1 / 32, least: '16MiB' },
          }),
          max_connections: Type.Integer({
            minimum: 1,
            default: 1024,
            description: 'Maximum connections. At the limit, the connection idle the longest is closed.',
          }),
          max_connections_per_address: Type.Integer({
            minimum: 1,
            default: 256,
            description:
              'Maximum connections per address (or IPv6 /64). Loopback is exempt; NAT clients share an address.',
          }),
        },
        { description: 'OTLP over gRPC for traces, metrics and logs.' },
      ),
    },
    { description: 'Protocols to accept.' },
  ),
  api_endpoint: Type.Optional(
    optionalEndpoint({
      description:
        'Listener that also accepts OTLP/HTTP under /api/v1/otlp/v1/. Absent: endpoint of query; null: none.',
    }),
  ),
  request_timeout: duration({
    description: 'Time limit for receiving a request. Slower requests are refused as retryable.',
    default: '30s',
  }),
  idle_timeout: duration({
    description: 'Time without new spans after which an unfinished trace is marked as timed out. 0s: never.',
    default: '1h',
  }),
  orphan_wait: duration({
    description:
      'Time without new spans after which a trace of ended spans completes although a parent is missing. 0s: after idle_timeout.',
    default: '30s',
  }),
  max_in_flight: section(
    {
      requests: Type.Integer({
        minimum: 1,
        default: 1024,
        description: 'Requests waiting for the store. When reached, requests get 503.',
      }),
      bytes: size({
        description: 'Bytes of requests waiting for the store. When reached, requests get 503.',
        default: '128MiB',
        memoryShare: { share: 1 / 32, least: '8MiB' },
      }),
    },
    { description: 'Limits for requests waiting for the store, over all protocols.' },
  ),
  tenant: tenantSection(),
  agent_names: section(
    {
      generic: agentNames('Extra names to ignore as agent names, in addition to the built-in ones.'),
      specific: agentNames(
        'Names to always accept as agent names, including those of workflows and other root spans.',
      ),
    },
    {
      description: 'Which span and agent names name a run, case-insensitive; * matches anything.',
    },
  ),
});

export type OtlpConfig = Static<typeof otlpConfig>;

/** Null and an empty text both disable the listener. */
export function isSet(endpoint: string | null): endpoint is string {
  return endpoint !== null && endpoint !== '';
}
