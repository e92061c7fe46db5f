import type { ExtensionFactory } from '../../component/factory.js';
import { ControlExtension } from '../../storage/control/control-extension.js';
import { Type, type Static } from 'typebox';
import { section, secret } from '../../config/schema.js';

const DEFAULT_URL = 'postgres://127.0.0.1:5432/jackdaw';

const postgresConfig = section({
  url: {
    ...secret({
      description: 'Database URL: postgres://user:password@host:port/database. It is never shown.',
    }),
    default: DEFAULT_URL,
  },
  connections: Type.Integer({
    default: 10,
    minimum: 1,
    maximum: 100,
    description: 'Connections to the database, in addition to the one that listens for changes.',
  }),
});

type Config = Static<typeof postgresConfig>;

/** Problems of the URL, without its text. */
function urlProblems({ url }: Config): { path: string; message: string }[] {
  const parsed = parse(url);
  const isUsable =
    parsed !== null &&
    /^postgres(ql)?:$/.test(parsed.protocol) &&
    (parsed.hostname !== '' || parsed.searchParams.has('host')) &&
    parsed.pathname.length > 1;
  return isUsable ? [] : [{ path: '/url', message: 'must be postgres://user:password@host:port/database' }];
}

/** The password, which errors of the network or the database might repeat without the rest of the URL. */
function passwordsIn({ url }: Config): readonly string[] {
  const parsed = parse(url);
  if (parsed === null) return [];
  const written = [parsed.password, parsed.searchParams.get('password') ?? ''];
  return [...new Set(written.flatMap((text) => [text, decoded(text)]))].filter((text) => text !== '');
}

function parse(url: string): URL | null {
  return URL.canParse(url) ? new URL(url) : null;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The control store in a database that several daemons share. See `README.md` in this folder. */
export const postgresExtension: ExtensionFactory<typeof postgresConfig> = {
  kind: 'extension',
  type: 'postgres',
  description: 'Control store in PostgreSQL, which several daemons can share.',
  stability: 'beta',
  configSchema: postgresConfig,
  check: urlProblems,
  secrets: passwordsIn,
  create: (settings) => {
    const { url, connections } = settings.config;
    return new ControlExtension(settings, { engine: 'postgres', url, connections });
  },
};
