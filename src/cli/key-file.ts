import { dirname, join } from 'node:path';
import { INITIAL_KEY_FILE } from '../auth/bootstrap.js';
import { parseComponentId } from '../component/component-id.js';
import { nodeAt, type MapNode } from '../config/config-node.js';
import { loadTree } from '../config/load.js';
import { configSources, type ConfigOptions } from './config-files.js';
import type { CliIo } from './io.js';

/** Where the control store lies unless its section says something else. */
const DEFAULT_STORE = './data/jackdaw.control.db';

/**
 * The file with the first API key of the daemon that has this configuration: it lies beside the control store of its API.
 *
 * @returns null where that store is in no file
 * @throws ConfigError where the configuration cannot be read
 */
export function initialKeyFile(options: ConfigOptions, io: Pick<CliIo, 'env'>): string | null {
  const { sources, environment } = configSources(options, io);
  const { root } = loadTree(sources, environment);
  const id = controlId(root);
  if (parseComponentId(id)?.type !== 'sqlite') return null;
  const path = textAt(root, ['extensions', id, 'path']) ?? DEFAULT_STORE;
  return join(dirname(path), INITIAL_KEY_FILE);
}

/** The id of the control store that the API uses, else of the first one in a file. */
function controlId(root: MapNode): string {
  const extensions = nodeAt(root, ['extensions']);
  const ids = extensions?.kind === 'map' ? [...extensions.entries.keys()] : [];
  const first = (type: string) => ids.find((id) => parseComponentId(id)?.type === type);
  return textAt(root, ['extensions', first('query') ?? 'query', 'control']) ?? first('sqlite') ?? 'sqlite';
}

function textAt(root: MapNode, path: readonly string[]): string | undefined {
  const node = nodeAt(root, path);
  return node?.kind === 'scalar' && typeof node.value === 'string' ? node.value : undefined;
}
