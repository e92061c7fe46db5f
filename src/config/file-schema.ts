import { Type, type Static } from 'typebox';
import { HOST_PATTERN } from './endpoint.js';
import { choice, cidr, duration, optionalEndpoint, secret, section, size } from './schema.js';

/** The top-level sections that belong to the daemon itself. Defaults are written only here. */
export const AuthSchema = section(
  {
    enabled: Type.Boolean({
      default: true,
      description:
        'Ask for an API key under /api/v1. If false, everybody is the first user with every scope; only allowed while every listener is on a loopback address.',
    }),
    bootstrap_key: Type.Optional(
      secret({
        description:
          'The first API key of an empty store: jd_ and 43 characters of base64url. Absent: one is made and written to initial-api-key beside the store.',
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
  { description: 'Who may use the API.' },
);

/** 32 bytes in base64: 43 characters, the last of which ends in two bits that are 0. */
export const SECRETS_KEY_PATTERN = '^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$';

export const SecretsSchema = section(
  {
    key: Type.Optional(
      secret({
        description:
          'The key that encrypts secrets which the store must be able to give back, such as those of webhook endpoints: 32 bytes in base64. Absent: one is made when it is first needed, and written to secrets-key beside the store.',
        pattern: SECRETS_KEY_PATTERN,
        patternErrorMessage: 'must be 32 bytes in base64, as "openssl rand -base64 32" prints them',
      }),
    ),
  },
  { description: 'How secrets are kept in the store.' },
);

/** `alerts@example.com`, or with a name before it: `Jackdaw <alerts@example.com>`. */
const SENDER_PATTERN =
  '^(?:[^\\u0000-\\u001F\\u007F<>@,;:"]* <[^\\s\\u007F<>@,;:"]+@[^\\s\\u007F<>@,;:"]+>|[^\\s\\u007F<>@,;:"]+@[^\\s\\u007F<>@,;:"]+)$';

export const SmtpSchema = section(
  {
    host: Type.Optional(
      Type.String({
        description: 'Name or address of the mail server. Absent or empty: nothing is sent by e-mail.',
        pattern: '^[^\\s:/@\\[\\]]*$|^[0-9a-fA-F:.]{2,45}$',
        patternErrorMessage:
          'must be the name or the address of a mail server, without a port: smtp.example.com',
        maxLength: 253,
      }),
    ),
    port: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 65_535,
        description: 'Port of the mail server. Absent: 587, and 465 with secure.',
      }),
    ),
    secure: Type.Boolean({
      default: false,
      description: 'Speak TLS from the first byte. Otherwise STARTTLS secures the connection.',
    }),
    user: Type.Optional(
      Type.String({ maxLength: 1024, description: 'The user to log in as. Absent or empty: no login.' }),
    ),
    password: Type.Optional(secret({ description: 'Password of the user.', maxLength: 1024 })),
    from: Type.Optional(
      Type.String({
        description: 'Sender of all e-mails: alerts@example.com, or Jackdaw <alerts@example.com>.',
        pattern: SENDER_PATTERN,
        patternErrorMessage:
          'must be an e-mail address: alerts@example.com, or with a name Jackdaw <alerts@example.com>',
        maxLength: 320,
      }),
    ),
    require_tls: Type.Optional(
      Type.Boolean({
        description:
          'Send nothing without TLS and a trusted certificate. Absent: true, unless the host is this machine (localhost, 127.0.0.1, ::1).',
      }),
    ),
  },
  { description: 'The mail server through which notices of alerts are sent.' },
);

const ids = (description: string, options: { default?: string[]; minItems?: number } = {}) =>
  Type.Array(Type.String(), { description, ...options });

const PipelineSchema = section({
  receivers: ids('Where the data comes from: ids of receivers.', { minItems: 1 }),
  processors: ids('What happens to it, in this order: ids of processors.', { default: [] }),
  exporters: ids('Where it goes: ids of exporters.', { minItems: 1 }),
});

export const ServiceSchema = section(
  {
    extensions: ids('The extensions that run: ids from the extensions section.', { default: [] }),
    pipelines: Type.Record(Type.String(), PipelineSchema, {
      description: 'Named by signal, followed by a name where there are several: traces, traces/archive.',
      minProperties: 1,
    }),
    shutdown_delay: duration({
      default: '0s',
      description:
        'How long listeners stay open after SIGTERM while /readyz says 503; before shutdown_timeout.',
    }),
    shutdown_timeout: duration({
      default: '25s',
      description:
        'How long a stop may take. A component that is not done by then is told so, gets one more second, and is abandoned.',
    }),
    http: section(
      {
        engine: choice(['node', 'uws'], {
          default: 'node',
          description:
            'What serves HTTP: node, or uws for uWebSockets.js, which has to be installed. Their differences are listed in src/http/engines.md.',
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
              'Names that requests may have in their Host header beside localhost and the addresses of the listener, with or without a port: jackdaw.example.com, *.internal:8443. Others get 421.',
          },
        ),
        trusted_proxies: Type.Array(cidr(), {
          default: [],
          description:
            'Proxies (CIDRs) whose X-Forwarded-For or Forwarded names the client for limits, audit and log.',
        }),
        max_requests_in_flight: Type.Optional(
          Type.Integer({ minimum: 1, description: 'Requests in progress; more get 503. Absent: 4096.' }),
        ),
        max_pipelined_requests: Type.Optional(
          Type.Integer({
            minimum: 1,
            description:
              'Requests that may wait on one connection for those before them. With more, the connection ends after their answers. Absent: 100. uWebSockets.js closes it when an answer is not immediate.',
          }),
        ),
        max_bodies_in_flight: Type.Optional(
          size({
            description:
              'All bodies of requests in progress; what would exceed it gets 503. Never less than four of the largest body that is accepted (with user_limits.share 0.5). Absent: 256MiB.',
          }),
        ),
        max_header_size: Type.Optional(
          size({ description: 'Request line and headers; larger ones get 431. Absent: 32KiB.' }),
        ),
        headers_timeout: Type.Optional(
          duration({
            description: 'Time limit for the headers to arrive. Absent: 10s. With uWebSockets.js always 10s.',
          }),
        ),
        idle_timeout: Type.Optional(
          duration({
            description:
              'When a connection without a request is closed. Absent: 60s. With uWebSockets.js always 10s.',
          }),
        ),
        min_rate: Type.Optional(
          size({
            description:
              'Bytes a second: a body that comes more slowly for 10s gets 408, an answer that is read more slowly for idle_timeout is cut off. 0: any progress is enough. Absent: 1KiB.',
          }),
        ),
        max_connections: Type.Optional(
          Type.Integer({
            minimum: 1,
            description:
              'Open connections. To make room for one more, the one that has been without a request for the longest time is closed. Absent: 8192. With uWebSockets.js those with a request count.',
          }),
        ),
        max_connections_per_address: Type.Optional(
          Type.Integer({
            minimum: 1,
            description:
              'The same for each address, or each /64 of IPv6 addresses. This machine itself has no such limit. Many clients may share one address behind gateways and NAT. Absent: 1024.',
          }),
        ),
      },
      { description: 'Limits of each HTTP listener.' },
    ),
    user_limits: section(
      {
        share: Type.Number({
          minimum: 0.01,
          maximum: 1,
          default: 0.5,
          description:
            'The share of requests in progress, and of their bytes, that one user may hold on each listener, and of what waits for the store. The less is free, the less one user gets. 1: everything.',
        }),
        requests_per_second: Type.Number({
          minimum: 0,
          default: 0,
          description:
            'Requests a second of one user, over all listeners; more get 429 with Retry-After. 0: no limit.',
        }),
        request_burst: Type.Optional(
          Type.Integer({
            minimum: 1,
            description: 'Requests that may come at once. Absent: as many as in two seconds.',
          }),
        ),
        bytes_per_second: size({
          default: 0,
          description:
            'Bytes a second of the bodies of one user, after decompression. A body is accepted as a whole, and later requests get 429 until it is paid for. 0: no limit.',
        }),
        byte_burst: Type.Optional(
          size({ description: 'Bytes that may come at once. Absent: as many as in two seconds.' }),
        ),
        stored_bytes: size({
          default: 0,
          description: 'Bytes that a user without a limit of its own may store in total. 0: no limit.',
        }),
      },
      { description: 'How much of what all users share one user may have, with whichever key.' },
    ),
    telemetry: section(
      {
        logs: section(
          {
            level: choice(['debug', 'info', 'warn', 'error'], {
              default: 'info',
              description: 'The least important level that is written.',
            }),
            format: choice(['auto', 'pretty', 'json'], {
              default: 'auto',
              description: 'auto: pretty on a terminal, JSON otherwise.',
            }),
          },
          { description: 'The daemon’s own log, on standard error.' },
        ),
        metrics: section(
          {
            endpoint: optionalEndpoint({
              default: '127.0.0.1:8888',
              description: 'Where /metrics answers in Prometheus text; null: nowhere.',
            }),
          },
          { description: 'The daemon’s own metrics.' },
        ),
      },
      { description: 'What the daemon reports about itself.' },
    ),
  },
  { description: 'Which of the components above run, and how.' },
);

export const PluginsSchema = Type.Array(Type.String({ minLength: 1 }), {
  default: [],
  description:
    'Plugins: the path of an ES module or a YAML template (.yaml), relative to this file, or the name of a package.',
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
