import { Type, type Static } from 'typebox';
import { HOST_PATTERN } from './endpoint.js';
import { OwnTelemetrySchema } from './own-telemetry.js';
import { choice, cidr, duration, optionalEndpoint, secret, section, size } from './schema.js';

/** The top-level sections that belong to the daemon itself. Defaults are written only here. */
export const AuthSchema = section(
  {
    enabled: Type.Boolean({
      default: true,
      description:
        'Whether the API requires a key. If false, callers act as the first user; loopback listeners only.',
    }),
    bootstrap_key: Type.Optional(
      secret({
        description:
          'First API key of an empty store (jd_ and 43 base64url characters). Generated if absent.',
        pattern: '^jd_[A-Za-z0-9_-]{43}$',
      }),
    ),
    bootstrap_email: Type.String({
      default: 'admin@localhost',
      pattern: '^[^\\s@<>(),;:"\\\\]+@[^\\s@<>(),;:"\\\\]+$',
      maxLength: 254,
      description: 'E-mail address of the first user of an empty store.',
    }),
  },
  { description: 'Authentication of API callers.' },
);

/** 32 bytes in base64: 43 characters; the last one ends in two zero bits. */
export const SECRETS_KEY_PATTERN = '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$';

export const SecretsSchema = section(
  {
    key: Type.Optional(
      secret({
        description: 'Key that encrypts secrets in the store, such as those of webhooks: 32 bytes in base64.',
        pattern: SECRETS_KEY_PATTERN,
        patternErrorMessage: 'must be 32 bytes in base64, as "openssl rand -base64 32" prints them',
      }),
    ),
  },
  { description: 'Encryption of secrets in the store.' },
);

/** `alerts@example.com`, or with a display name: `Jackdaw <alerts@example.com>`. */
const SENDER_PATTERN =
  '^(?:[^\\u0000-\\u001F\\u007F<>@,;:"]* <[^\\s\\u007F<>@,;:"]+@[^\\s\\u007F<>@,;:"]+>|[^\\s\\u007F<>@,;:"]+@[^\\s\\u007F<>@,;:"]+)$';

export const SmtpSchema = section(
  {
    host: Type.Optional(
      Type.String({
        description: 'Host name or address of the mail server. If absent or empty, no e-mail is sent.',
        pattern: '^[^\\s:/@\\[\\]]*$|^[0-9a-fA-F:.]{2,45}$',
        patternErrorMessage: 'must be a host name or an address without a port: smtp.example.com',
        maxLength: 253,
      }),
    ),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        description: 'Port of the mail server. Default: 587, or 465 with secure.',
      }),
    ),
    secure: Type.Boolean({
      default: false,
      description: 'Whether to use TLS from the first byte. If false, STARTTLS is used.',
    }),
    user: Type.Optional(
      Type.String({ maxLength: 1024, description: 'User name. Leave empty for no authentication.' }),
    ),
    password: Type.Optional(secret({ description: 'Password of the user.', maxLength: 1024 })),
    from: Type.Optional(
      Type.String({
        description: 'From address, such as Jackdaw <alerts@example.com>. Required if host is set.',
        pattern: SENDER_PATTERN,
        patternErrorMessage: 'must be an e-mail address: alerts@example.com, or Jackdaw <alerts@example.com>',
        maxLength: 320,
      }),
    ),
    require_tls: Type.Optional(
      Type.Boolean({
        description:
          'Whether to require TLS with a trusted certificate. Default: true, except for a loopback host.',
      }),
    ),
  },
  { description: 'Mail server for alert notices.' },
);

const ids = (description: string, options: { default?: string[]; minItems?: number } = {}) =>
  Type.Array(Type.String(), { description, isChangeable: true, ...options });

const PipelineSchema = section({
  receivers: ids('Ids of receivers.', { minItems: 1 }),
  processors: ids('Ids of processors, in order.', { default: [] }),
  exporters: ids('Ids of exporters.', { minItems: 1 }),
});

export const ServiceSchema = section(
  {
    extensions: ids('Ids of the extensions to run.', { default: [] }),
    pipelines: Type.Record(Type.String(), PipelineSchema, {
      description: 'Pipelines, named by signal and an optional name: traces, traces/archive.',
      minProperties: 1,
    }),
    shutdown_delay: duration({
      default: '0s',
      description:
        'Time that listeners stay open after SIGTERM while /readyz returns 503, before shutdown_timeout.',
    }),
    shutdown_timeout: duration({
      default: '25s',
      description: 'Time limit for stopping. Components that take longer are aborted one second later.',
    }),
    intake: section(
      {
        threads: Type.Union([Type.Literal('auto'), Type.Integer({ minimum: 0, maximum: 64 })], {
          default: 'auto',
          description:
            'Threads that decode and process requests. auto: by cores and memory. 0: the main thread does.',
        }),
        max_task_time: duration({
          default: '10s',
          description: 'Time after which a thread that does not respond is ended; its request gets 422.',
        }),
      },
      { description: 'Threads that decode requests and run pipelines.' },
    ),
    http: section(
      {
        engine: choice(['node', 'uws'], {
          default: 'node',
          description:
            'HTTP server: node, or uws (uWebSockets.js, installed separately; see src/http/engines.md).',
        }),
        hosts: Type.Array(
          Type.String({
            pattern: HOST_PATTERN,
            maxLength: 253,
            patternErrorMessage:
              'must be a name, with or without a port: jackdaw.example.com, *.internal:8443',
          }),
          {
            default: [],
            description:
              'Host names to accept besides the listener itself, such as *.internal:8443. Others get 421.',
          },
        ),
        trusted_proxies: Type.Array(cidr(), {
          default: [],
          description:
            'Proxies (CIDRs) whose X-Forwarded-For or Forwarded header is trusted for the client address.',
        }),
        max_requests_in_flight: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: 'Maximum requests in progress. Further requests get 503. Default: 4096.',
          }),
        ),
        max_pipelined_requests: Type.Optional(
          Type.Integer({
            minimum: 1,
            description:
              'Pipelined requests per connection; above this, the connection is closed. Default: 100.',
          }),
        ),
        max_bodies_in_flight: Type.Optional(
          size({
            default: '256MiB',
            memoryShare: { share: 1 / 16, least: '16MiB' },
            description: 'Bytes of all bodies in progress, at least four maximum bodies. Others get 503.',
          }),
        ),
        max_header_size: Type.Optional(
          size({
            description: 'Maximum size of request line and headers. Larger ones get 431. Default: 32KiB.',
          }),
        ),
        headers_timeout: Type.Optional(
          duration({
            description: 'Time limit for receiving headers. Default: 10s; always 10s with uWebSockets.js.',
          }),
        ),
        idle_timeout: Type.Optional(
          duration({
            description:
              'Time after which idle connections are closed. Default: 60s; always 10s with uWebSockets.js.',
          }),
        ),
        min_rate: Type.Optional(
          size({
            description:
              'Minimum bytes per second of bodies and responses; slower ones are ended. 0: none. Default: 1KiB.',
          }),
        ),
        max_connections: Type.Optional(
          Type.Integer({
            minimum: 1,
            description:
              'Maximum connections. At the limit, the connection idle the longest is closed. Default: 8192.',
          }),
        ),
        max_connections_per_address: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: 'Maximum connections per address (or IPv6 /64), except loopback. Default: 1024.',
          }),
        ),
      },
      { description: 'Settings of every HTTP listener.' },
    ),
    user_limits: section(
      {
        share: Type.Number({
          minimum: 0.01,
          maximum: 1,
          default: 0.5,
          description:
            'Share of requests, request bytes and store queues that one user may hold. 1: no limit.',
        }),
        requests_per_second: Type.Number({
          minimum: 0,
          default: 0,
          description:
            'Requests per second and user over all listeners. Further requests get 429. 0: no limit.',
        }),
        request_burst: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: 'Requests accepted at once. Default: two seconds worth.',
          }),
        ),
        bytes_per_second: size({
          default: 0,
          description:
            'Decompressed bytes per second and user; above this, later requests get 429. 0: no limit.',
        }),
        byte_burst: Type.Optional(
          size({ description: 'Bytes accepted at once. Default: two seconds worth.' }),
        ),
        stored_bytes: size({
          default: 0,
          description: 'Bytes that a user without its own limit may store. 0: no limit.',
        }),
      },
      { description: 'Limits per user, over all its keys.' },
    ),
    telemetry: section(
      {
        logs: section(
          {
            level: choice(['debug', 'info', 'warn', 'error'], {
              default: 'info',
              description: 'Minimum level to log.',
            }),
            format: choice(['auto', 'pretty', 'json'], {
              default: 'auto',
              description: 'Log format; auto means pretty on a terminal and JSON otherwise.',
            }),
          },
          { description: 'Log of the daemon, on standard error.' },
        ),
        metrics: section(
          {
            endpoint: optionalEndpoint({
              default: '127.0.0.1:8888',
              description: 'Address that serves /metrics in Prometheus format. Set to null to disable it.',
            }),
          },
          { description: 'Metrics of the daemon.' },
        ),
        otlp: OwnTelemetrySchema,
      },
      { description: 'What the daemon reports about itself.' },
    ),
  },
  { description: 'Pipelines, extensions and daemon-wide settings.' },
);

export const PluginsSchema = Type.Array(Type.String({ minLength: 1 }), {
  default: [],
  description:
    'Plugins, each the path of an ES module or YAML template relative to this file, or a package name.',
});

export type AuthConfig = Static<typeof AuthSchema>;
export type SecretsConfig = Static<typeof SecretsSchema>;
export type SmtpConfig = Static<typeof SmtpSchema>;
export type ServiceConfig = Static<typeof ServiceSchema>;
export type PipelineConfig = Static<typeof PipelineSchema>;

/** The sections of components by the kind they hold. */
export const COMPONENT_SECTIONS = {
  receiver: 'receivers',
  processor: 'processors',
  exporter: 'exporters',
  extension: 'extensions',
} as const;
