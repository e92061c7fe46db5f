import { Type, type Static } from 'typebox';
import { checkClientTls } from '../../config/client-tls.js';
import { durationMs } from '../../config/duration.js';
import { duration, extensionId, filePath, secret, section, size } from '../../config/schema.js';
import { MS_PER_DAY } from '../../signal/time-units.js';

/** With less hardly any statement would be answered while the servers are busy. */
const LEAST_TIMEOUT_MS = 1000;

export const clickHouseConfig = section({
  urls: Type.Array(Type.String({ pattern: '^https?://\\S+$' }), {
    minItems: 1,
    maxItems: 16,
    default: ['http://127.0.0.1:8123'],
    description:
      'HTTP interfaces of the servers, all of which hold the same data. The first one that answers is used; all daemons should name them in one order.',
  }),
  database: Type.String({
    pattern: '^[A-Za-z_][A-Za-z0-9_]{0,63}$',
    default: 'jackdaw',
    description: 'The database with the tables. It is made where it is not there.',
  }),
  username: Type.String({ minLength: 1, default: 'default', description: 'The user of ClickHouse.' }),
  password: Type.Optional(secret({ description: 'Its password. It is never shown.' })),
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
      },
      { description: 'For https URLs.', isOptional: true },
    ),
  ),
  control: extensionId({
    default: 'sqlite',
    description: 'The extension that keeps users: rows carry its numbers of them.',
  }),
  cluster: Type.Optional(
    Type.String({
      pattern: '^[A-Za-z_][A-Za-z0-9_-]{0,63}$',
      description: 'The cluster on which tables are made (ON CLUSTER). Absent: on the server that is asked.',
    }),
  ),
  replicated: Type.Boolean({
    default: false,
    description: 'Make tables with Replicated engines, and have two servers take each write.',
  }),
  migrate: Type.Boolean({
    default: true,
    description: 'Make and change the tables at the start. Of several daemons that may, one does.',
  }),
  connections: Type.Integer({
    default: 10,
    minimum: 2,
    maximum: 200,
    description: 'Connections to a server.',
  }),
  request_timeout: duration({
    default: '30s',
    description:
      'How long one statement may take. Then it is given up, and tried again where that does no harm.',
  }),
  max_queue_size: size({
    default: '128MiB',
    description:
      'Size of the items that may wait for their insert. More is refused with 503, to be sent again.',
  }),
  group: section(
    {
      max_items: Type.Integer({
        default: 10_000,
        minimum: 100,
        maximum: 1_000_000,
        description: 'Items of one insert, about: those of a batch stay together.',
      }),
    },
    { description: 'How items of several requests go into one insert.' },
  ),
  retention: section(
    {
      traces: Type.Optional(
        duration({
          description:
            'How long runs and spans are kept, in whole UTC days by their starts. Absent: for ever.',
        }),
      ),
      metrics: Type.Optional(
        duration({
          description: 'How long metric points are kept, in whole UTC days by their time. Absent: for ever.',
        }),
      ),
      logs: Type.Optional(
        duration({
          description: 'How long log records are kept, in whole UTC days by their time. Absent: for ever.',
        }),
      ),
    },
    { description: 'How long stored data is kept.' },
  ),
});

type Config = Static<typeof clickHouseConfig>;

/** Checks what the schema cannot express. */
export function checkClickHouse(config: Config): { readonly path: string; readonly message: string }[] {
  const problems: { path: string; message: string }[] = [...checkClientTls(config.tls)];
  config.urls.forEach((url, at) => {
    const path = `/urls/${String(at)}`;
    if (!URL.canParse(url)) problems.push({ path, message: 'is no URL' });
    else if (hasMore(new URL(url)))
      problems.push({
        path,
        message: 'must be a scheme, a host and a port: write user and password as username and password',
      });
  });
  if (config.tls?.cert_file !== undefined && config.tls.ca_file === undefined)
    problems.push({ path: '/tls/ca_file', message: 'is missing: cert_file needs it' });
  if (durationMs(config.request_timeout) < LEAST_TIMEOUT_MS)
    problems.push({ path: '/request_timeout', message: 'must be at least 1s' });
  if (config.replicated && config.urls.length < 2 && config.cluster === undefined)
    problems.push({
      path: '/replicated',
      message: 'needs more than one server: name them in urls, or their cluster',
    });
  for (const [name, kept] of Object.entries(config.retention)) {
    const days = durationMs(kept) / MS_PER_DAY;
    if (!Number.isInteger(days) || days < 1)
      problems.push({
        path: `/retention/${name}`,
        message: 'must be a number of whole days, at least one: 30d',
      });
  }
  return problems;
}

/** Passwords that were written into a URL all the same. */
export function passwordsIn({ urls }: Config): readonly string[] {
  return urls
    .flatMap((url) => (URL.canParse(url) ? [new URL(url).password] : []))
    .filter((word) => word !== '');
}

function hasMore({ username, password, pathname, search, hash }: URL): boolean {
  return [username, password, search, hash].some((part) => part !== '') || pathname !== '/';
}

/** In whole days. */
export function daysKept(kept: string | undefined): number | null {
  return kept === undefined ? null : durationMs(kept) / MS_PER_DAY;
}
