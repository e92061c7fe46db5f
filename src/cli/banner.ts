import { randomUUID } from 'node:crypto';
import type { Daemon } from '../pipeline/daemon.js';

const INGEST_PATH = '/api/v1/traces/batch';

export interface BannerOptions {
  readonly version: string;
  readonly daemon: Pick<Daemon, 'paths' | 'initialKeyFile'>;
  readonly isAuthEnabled: boolean;
  /** URL that logs a browser in; null if it must not be shown or does not exist. */
  readonly loginLink: string | null;
  readonly now: Date;
}

/** The daemon's URLs, by their names in the banner. */
export function urlsOf({ paths }: Pick<Daemon, 'paths'>) {
  const urlOf = (isWanted: (path: string) => boolean) =>
    [...paths].find(([, served]) => served.some(isWanted))?.[0];
  const api = urlOf((path) => path.startsWith('/api/v1/'));
  const health = urlOf((path) => path === '/readyz');
  const metrics = urlOf((path) => path === '/metrics');
  const pages = urlOf((path) => path === '/login');
  return {
    web: pages && `${pages}/`,
    api: api && `${api}/api/v1`,
    otlp: urlOf((path) => path === '/v1/traces'),
    grpc: urlOf((path) => path.startsWith('/opentelemetry.proto.')),
    health: health && `${health}/readyz`,
    metrics: metrics && `${metrics}/metrics`,
  };
}

/**
 * The daemon's addresses, the location of its first key, and a command that sends a first trace. Never contains a key. On a terminal
 * it also contains a one-time login link.
 */
export function formatBanner({ version, daemon, isAuthEnabled, loginLink, now }: BannerOptions): string {
  const { web, api, otlp, grpc, health, metrics } = urlsOf(daemon);
  const ingest = [...daemon.paths].find(([, paths]) => paths.includes(INGEST_PATH))?.[0];
  const key = isAuthEnabled ? (daemon.initialKeyFile ?? 'as configured or created before') : 'none needed';
  const toEnter = isAuthEnabled ? 'for a link that logs you in: jackdaw login' : 'no login needed';
  const rows = [
    [
      'Web',
      web &&
        (loginLink === null || !isAuthEnabled
          ? `${web} (${toEnter})`
          : `${loginLink} (works once, for 15 minutes)`),
    ],
    ['API', api],
    ['OTLP', otlp],
    ['gRPC', grpc && `${grpc} (OTLP)`],
    ['Health', health],
    ['Metrics', metrics],
    ['API key', api && key],
  ].filter((row): row is [string, string] => row[1] !== undefined);
  return [
    `Jackdaw ${version} is running.`,
    '',
    ...rows.map(([name, value]) => `  ${name.padEnd(8)} ${value}`),
    ...(ingest === undefined
      ? []
      : ['', 'Send a first trace:', '', firstTrace(ingest, isAuthEnabled, daemon.initialKeyFile, now)]),
    '',
  ].join('\n');
}

function firstTrace(url: string, isAuthEnabled: boolean, keyFile: string | null, now: Date): string {
  const traceId = randomUUID();
  const startedAt = new Date(now.getTime() - 1500).toISOString();
  const times = { started_at: startedAt, ended_at: now.toISOString() };
  const body = {
    traces: [
      {
        trace: { trace_id: traceId, agent: 'hello-agent', success: true, ...times },
        spans: [{ span_id: randomUUID(), trace_id: traceId, type: 'agent', name: 'say hello', ...times }],
      },
    ],
  };
  const key = keyFile === null ? '$JACKDAW_KEY' : `$(cat ${quote(keyFile)})`;
  return [
    `curl -sS ${url}${INGEST_PATH}`,
    ...(isAuthEnabled ? [`  -H "Authorization: Bearer ${key}"`] : []),
    `  -H 'Content-Type: application/json'`,
    `  -d '${JSON.stringify(body)}'`,
  ].join(' \\\n');
}

/** Quotes a path for a shell inside `"$(…)"`. */
function quote(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`;
}
