import { Type, type Static } from 'typebox';
import { duration, optionalEndpoint, section, size } from '../../config/schema.js';
import { tlsFiles } from '../../config/tls.js';

/**
 * The keys that both protocols have.
 *
 * @param endpoint with the port that OTLP names
 * @param maxSize of a request
 */
function protocol(endpoint: string, maxSize: string) {
  return {
    endpoint: optionalEndpoint({
      description: 'Where to listen; null for nowhere.',
      default: endpoint,
    }),
    max_request_body_size: size({
      description: 'Largest request, before and after decompression. More is refused.',
      default: maxSize,
    }),
    tls: tlsFiles(),
  };
}

function agentNames(description: string) {
  return Type.Array(Type.String({ minLength: 1, maxLength: 200, description: 'A name.' }), {
    maxItems: 1000,
    default: [],
    description,
  });
}

export const otlpConfig = section({
  protocols: section(
    {
      http: section(protocol('127.0.0.1:4318', '64MiB'), {
        description: 'OTLP over HTTP, in protobuf and JSON: POST /v1/traces, /v1/metrics, /v1/logs.',
      }),
      grpc: section(
        {
          ...protocol('127.0.0.1:4317', '4MiB'),
          max_bodies_in_flight: size({
            description:
              'Size of all requests that are arriving, being inflated or waiting for the store; what would exceed it is refused, to be sent again. Never less than four of the largest request (with service.user_limits.share 0.5).',
            default: '128MiB',
          }),
          max_connections: Type.Integer({
            minimum: 1,
            default: 1024,
            description:
              'Connections at a time. To make room for one more, the one that has been without a call for the longest time is closed; where all have a call, the new one is.',
          }),
          max_connections_per_address: Type.Integer({
            minimum: 1,
            default: 256,
            description:
              'The same for each address, or each /64 of IPv6 addresses. This machine itself has no such limit. Many clients may share one address behind gateways and NAT.',
          }),
        },
        { description: 'OTLP over gRPC: the Export services of traces, metrics and logs.' },
      ),
    },
    { description: 'The ways in.' },
  ),
  api_endpoint: optionalEndpoint({
    description:
      'The listener that takes OTLP over HTTP under /api/v1/otlp/v1/ as well, usually the one of the API; null for none.',
    default: '127.0.0.1:4319',
  }),
  request_timeout: duration({
    description: 'Time limit for a whole request to arrive. Slower ones are refused, to be sent again.',
    default: '30s',
  }),
  idle_timeout: duration({
    description:
      'A trace without an end counts as timed out when no span has come for it in this time. 0s: never.',
    default: '1h',
  }),
  max_in_flight: section(
    {
      requests: Type.Integer({
        minimum: 1,
        default: 1024,
        description: 'Requests that may wait for the store. More are refused with 503.',
      }),
      bytes: size({
        description: 'Bytes of the requests that wait for the store. More are refused with 503.',
        default: '128MiB',
      }),
    },
    { description: 'How much may be in progress at once, over all protocols.' },
  ),
  agent_names: section(
    {
      generic: agentNames(
        'Names that say nothing of an agent, beside those that are known: such a root does not name its run.',
      ),
      specific: agentNames(
        'Names that do, whatever is known of them: of agents, work flows, and of roots of any kind.',
      ),
    },
    {
      description:
        'Which names of spans and agents name a run. Upper and lower case are the same; * stands for anything.',
    },
  ),
});

export type OtlpConfig = Static<typeof otlpConfig>;

/** Null and the empty text both mean that it does not listen. */
export function isSet(endpoint: string | null): endpoint is string {
  return endpoint !== null && endpoint !== '';
}
