import { dirname, join } from 'node:path';
import { INITIAL_KEY_FILE } from '../auth/bootstrap.js';
import { parseComponentId } from '../component/component-id.js';
import { nodeAt, type MapNode } from '../config/config-node.js';
import { loadTree } from '../config/load.js';
import { configSources, type ConfigOptions } from './config-files.js';
import type { CliIo } from './io.js';

/** Where the store lies unless its section says something else. */
const DEFAULT_STORE = './data/jackdaw.duckdb';

/**
 * The file with the first API key of the daemon that has this configuration: it lies beside the store of its API.
 *
 * @throws ConfigError where the configuration cannot be read
 */
export function initialKeyFile(options: ConfigOptions, io: Pick<CliIo, 'env'>): string {
  const { sources, environment } = configSources(options, io);
  const { root } = loadTree(sources, environment);
  const path = textAt(root, ['extensions', storeId(root), 'path']) ?? DEFAULT_STORE;
  return join(dirname(path), INITIAL_KEY_FILE);
}

/** The id of the store that the API uses, else of the first one. */
function storeId(root: MapNode): string {
  const extensions = nodeAt(root, ['extensions']);
  const ids = extensions?.kind === 'map' ? [...extensions.entries.keys()] : [];
  const first = (type: string) => ids.find((id) => parseComponentId(id)?.type === type);
  return textAt(root, ['extensions', first('query') ?? 'query', 'store']) ?? first('duckdb') ?? 'duckdb';
}

function textAt(root: MapNode, path: readonly string[]): string | undefined {
  const node = nodeAt(root, path);
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}
