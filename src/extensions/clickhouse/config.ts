import { Type, type Static } from 'typebox';
import { checkClientTls } from '../../config/client-tls.js';
import { durationMs } from '../../config/duration.js';
import { duration, extensionId, filePath, secret, section, size } from '../../config/schema.js';
import { MS_PER_DAY } from '../../signal/time-units.js';

/** With less, hardly any statement would finish while the servers are busy. */
const LEAST_TIMEOUT_MS = 1000;

export const clickHouseConfig = section({
  urls: Type.Array(Type.String({ pattern: '^https?://\\S+$' }), {
    minItems: 1,
    maxItems: 16,
    default: ['http://127.0.0.1:8123'],
    description:
      'URLs of servers that hold the same data. The first that responds is used; use one order everywhere.',
  }),
  database: Type.String({
    pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$',
    default: 'jackdaw',
    description: 'Database name. Created if missing.',
  }),
  username: Type.String({ minLength: 1, default: 'default', description: 'ClickHouse user.' }),
  password: Type.Optional(secret({ description: 'Password of the ClickHouse user. It is never shown.' })),
  tls: Type.Optional(
    section(
      {
        ca_file: Type.Optional(
          filePath({ description: 'PEM file with the certificates to trust instead of the public ones.' }),
        ),
        cert_file: Type.Optional(filePath({ description: 'PEM file with the client certificate.' })),
        key_file: Type.Optional(
          filePath({ description: 'PEM file with the key of the client certificate.' }),
        ),
      },
      { description: 'TLS settings for https URLs.', isOptional: true },
    ),
  ),
  control: extensionId({
    default: 'sqlite',
    description: 'Id of the control store whose user ids the rows reference.',
  }),
  cluster: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$',
      description:
        'Cluster to create tables on (ON CLUSTER). If absent, they are created on the connected server.',
    }),
  ),
  replicated: Type.Boolean({
    default: false,
    description: 'Whether to use Replicated table engines and require two servers to accept each write.',
  }),
  migrate: Type.Boolean({
    default: true,
    description:
      'Whether to create and migrate tables at start. With several daemons, only one does it at a time.',
  }),
  connections: Type.Integer({
    default: 10,
    minimum: 2,
    maximum: 200,
    description: 'Connections to each server.',
  }),
  request_timeout: duration({
    default: '30s',
    description: 'Time limit for one statement. Afterwards it is cancelled, and retried if that is safe.',
  }),
  max_queue_size: size({
    default: '128MiB',
    memoryShare: { share: 1 / 32, least: '8MiB' },
    description: 'Size of the write queue. When full, requests get a retryable 503.',
  }),
  group: section(
    {
      max_items: Type.Integer({
        default: 10_000,
        minimum: 100,
        maximum: 1_000_000,
        description: 'Approximate number of items per insert. Items of one batch stay together.',
      }),
    },
    { description: 'How items of several requests are combined into one insert.' },
  ),
  retention: section(
    {
      traces: Type.Optional(
        duration({
          description:
            'Retention of runs and spans, in whole UTC days by start time. If absent, they are kept forever.',
        }),
      ),
      metrics: Type.Optional(
        duration({
          description: 'Retention of metric points, in whole UTC days. If absent, they are kept forever.',
        }),
      ),
      logs: Type.Optional(
        duration({
          description: 'Retention of log records, in whole UTC days. If absent, they are kept forever.',
        }),
      ),
    },
    { description: 'Retention of stored data.' },
  ),
});

type Config = Static<typeof clickHouseConfig>;

/** Checks what the schema cannot express. */
export function checkClickHouse(config: Config): { readonly path: string; readonly message: string }[] {
  const problems: { path: string; message: string }[] = [...checkClientTls(config.tls)];
  config.urls.forEach((url, at) => {
    const path = `/urls/${String(at)}`;
    if (!URL.canParse(url)) problems.push({ path, message: 'is not a URL' });
    else if (hasMore(new URL(url)))
      problems.push({
        path,
        message: 'must be only scheme, host and port: set the user in username and the password in password',
      });
  });
  if (config.tls?.cert_file !== undefined && config.tls.ca_file === undefined)
    problems.push({ path: '/tls/ca_file', message: 'is missing: cert_file needs it' });
  if (durationMs(config.request_timeout) < LEAST_TIMEOUT_MS)
    problems.push({ path: '/request_timeout', message: 'must be at least 1s' });
  if (config.replicated && config.urls.length < 2 && config.cluster === undefined)
    problems.push({
      path: '/replicated',
      message: 'needs more than one server: list them in urls, or set cluster',
    });
  for (const [name, kept] of Object.entries(config.retention)) {
    const days = durationMs(kept) / MS_PER_DAY;
    if (!Number.isInteger(days) || days < 1)
      problems.push({
        path: `/retention/${name}`,
        message: 'must be a whole number of days, at least one: 30d',
      });
  }
  return problems;
}

/** Passwords in URLs: they are rejected there, and must not appear in messages. */
export function passwordsIn({ urls }: Config): readonly string[] {
  return urls
    .flatMap((url) => (URL.canParse(url) ? [new URL(url).password] : []))
    .filter((word) => word !== '');
}

function hasMore({ username, password, pathname, search, hash }: URL): boolean {
  return [username, password, search, hash].some((part) => part !== '') || pathname !== '/';
}

/** A retention in days; null if absent. */
export function daysKept(kept: string | undefined): number | null {
  return kept === undefined ? null : durationMs(kept) / MS_PER_DAY;
}
