import { dirname, join } from 'node:path';
import { INITIAL_KEY_FILE } from '../auth/bootstrap.js';
import { parseComponentId } from '../component/component-id.js';
import { nodeAt, type MapNode } from '../config/config-node.js';
import { parseEndpoint } from '../config/endpoint.js';
import { loadTree } from '../config/load.js';
import { configSources, type ConfigOptions } from './config-files.js';
import type { CliIo } from './io.js';

/** Default path of the control store. */
const DEFAULT_STORE = './data/jackdaw.control.db';

/** Default endpoint of the health extension. */
const DEFAULT_HEALTH = '127.0.0.1:13133';

/** Default socket of the extension `tap`. */
const DEFAULT_TAP = './data/tap.sock';

/**
 * The file with the first API key of a daemon with this configuration, next to the control store of its API.
 *
 * @returns null if that store is not in a file
 * @throws ConfigError if the configuration cannot be read
 */
export function initialKeyFile(options: ConfigOptions, io: Pick<CliIo, 'env'>): string | null {
  const root = rootOf(options, io);
  const control = textAt(root, ['extensions', apiId(root), 'control']);
  const id = control ?? firstOfType(root, 'sqlite') ?? 'sqlite';
  if (parseComponentId(id)?.type !== 'sqlite') return null;
  const path = textAt(root, ['extensions', id, 'path']) ?? DEFAULT_STORE;
  return join(dirname(path), INITIAL_KEY_FILE);
}

/**
 * The API address of a local daemon with this configuration, such as `http://127.0.0.1:4319`.
 *
 * @returns undefined if it listens on a random port, or no endpoint is configured
 * @throws ConfigError if the configuration cannot be read
 */
export function apiAddress(options: ConfigOptions, io: Pick<CliIo, 'env'>): string | undefined {
  const root = rootOf(options, io);
  const path = ['extensions', apiId(root)];
  const { host, port } = parseEndpoint(textAt(root, [...path, 'endpoint']) ?? '') ?? {};
  if (host === undefined || port === undefined || port === 0) return undefined;
  const scheme = nodeAt(root, [...path, 'tls'])?.kind === 'map' ? 'https' : 'http';
  return `${scheme}://${addressHere(host)}:${port}`;
}

/**
 * The address of the health endpoint of a local daemon with this configuration.
 *
 * @returns undefined if it listens on a random port
 * @throws ConfigError if the configuration cannot be read
 */
export function healthAddress(options: ConfigOptions, io: Pick<CliIo, 'env'>): string | undefined {
  const root = rootOf(options, io);
  const id = firstOfType(root, 'health') ?? 'health';
  const { host, port } = parseEndpoint(textAt(root, ['extensions', id, 'endpoint']) ?? DEFAULT_HEALTH) ?? {};
  return host === undefined || port === undefined || port === 0
    ? undefined
    : `http://${addressHere(host)}:${port}`;
}

/**
 * The socket of the extension `tap` of a daemon with this configuration.
 *
 * @returns undefined if the daemon does not run the extension
 */
export function tapSocket(options: ConfigOptions, io: Pick<CliIo, 'env'>): string | undefined {
  const root = rootOf(options, io);
  const id = firstOfType(root, 'tap');
  return id === undefined ? undefined : (textAt(root, ['extensions', id, 'socket']) ?? DEFAULT_TAP);
}

/** The format of the log as configured; `auto` if the configuration cannot be read. */
export function logFormat(options: ConfigOptions, io: Pick<CliIo, 'env'>): 'auto' | 'pretty' | 'json' {
  try {
    const format = textAt(rootOf(options, io), ['service', 'telemetry', 'logs', 'format']);
    return format === 'pretty' || format === 'json' ? format : 'auto';
  } catch {
    return 'auto';
  }
}

/** The host by which a listener is reachable from this machine. */
function addressHere(host: string): string {
  if (['', '0.0.0.0', '::'].includes(host)) return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

function rootOf(options: ConfigOptions, io: Pick<CliIo, 'env'>): MapNode {
  const { sources, environment } = configSources(options, io);
  return loadTree(sources, environment).root;
}

function apiId(root: MapNode): string {
  return firstOfType(root, 'query') ?? 'query';
}

function firstOfType(root: MapNode, type: string): string | undefined {
  const extensions = nodeAt(root, ['extensions']);
  const ids = extensions?.kind === 'map' ? [...extensions.entries.keys()] : [];
  return ids.find((id) => parseComponentId(id)?.type === type);
}

function textAt(root: MapNode, path: readonly string[]): string | undefined {
  const node = nodeAt(root, path);
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}
