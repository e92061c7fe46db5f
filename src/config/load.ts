import { ConfigError, type Problem } from './config-error.js';
import { nodeAt, type MapNode } from './config-node.js';
import { substitute, type Environment } from './environment.js';
import { mergeNodes } from './merge.js';
import { parseYaml } from './parse-yaml.js';

/** One text of configuration and the name it has in errors. */
export interface ConfigSource {
  readonly file: string;
  readonly text: string;
  /** The built-in configuration, over which files are merged; no user can edit it. */
  readonly isBuiltIn?: true;
}

/**
 * Reads the files of `--config`, merges later ones over earlier ones, and substitutes environment values.
 *
 * @throws ConfigError with every file that cannot be read
 */
export function readSources(files: readonly string[], environment: Environment): readonly ConfigSource[] {
  const problems: Problem[] = [];
  const sources = files.map((file) => {
    try {
      return { file, text: environment.readFile(file) };
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      problems.push({ severity: 'error', path: [], message: `--config ${file} cannot be read: ${reason}` });
      return { file, text: '' };
    }
  });
  if (problems.length > 0) throw new ConfigError(problems);
  return sources;
}

/** The key that says that a file changes the built-in configuration although it names pipelines, and its only value. */
export const EXTENDS = 'extends';
const BUILT_IN = 'default';

/**
 * Whether texts make a complete configuration: one defines pipelines, and none extends the built-in configuration. An unreadable
 * text counts as complete, so that only its errors are reported.
 */
export function areComplete(sources: readonly ConfigSource[]): boolean {
  const roots = sources.map(({ file, text }) => parseYaml(text, file).root);
  if (roots.includes(undefined)) return true;
  const written = (path: readonly string[]): boolean =>
    roots.some((root) => {
      const node = root && nodeAt(root, path);
      return node !== undefined && !(node.kind === 'scalar' && node.value === null);
    });
  return written(['service', 'pipelines']) && !written([EXTENDS]);
}

/** Without what belongs to the file: {@link EXTENDS}, and sections `x-…`, which hold anchors for other sections. */
function withoutOwnKeys(root: MapNode): MapNode {
  const isOwn = (name: string): boolean => name === EXTENDS || name.startsWith('x-');
  return { ...root, entries: new Map([...root.entries].filter(([name]) => !isOwn(name))) };
}

function extensionProblems(root: MapNode): Problem[] {
  const entry = root.entries.get(EXTENDS);
  if (entry === undefined || (entry.node.kind === 'scalar' && entry.node.value === BUILT_IN)) return [];
  const message = `must be ${BUILT_IN}, the built-in configuration; to merge over a file, name it before this one with --config`;
  return [{ severity: 'error', position: entry.node.position, path: [EXTENDS], message }];
}

/**
 * Parses, merges and substitutes.
 *
 * @returns the configuration as written, and its problems so far
 * @throws ConfigError if a text is not a YAML map, which prevents further checks
 */
export function loadTree(
  sources: readonly ConfigSource[],
  environment: Environment,
): { readonly root: MapNode; readonly problems: readonly Problem[] } {
  const problems: Problem[] = [];
  const roots: MapNode[] = [];
  for (const source of sources) {
    const parsed = parseYaml(source.text, source.file);
    problems.push(...parsed.problems);
    if (parsed.root?.kind !== 'map') continue;
    problems.push(...extensionProblems(parsed.root));
    roots.push(withoutOwnKeys(parsed.root));
  }
  if (problems.some(({ severity }) => severity === 'error')) throw new ConfigError(problems);
  const [first, ...others] = roots;
  let root: MapNode = first ?? {
    kind: 'map',
    position: { file: 'configuration', line: 1, column: 1 },
    entries: new Map(),
  };
  for (const other of others) {
    const merged = mergeNodes(root, other);
    root = merged.root;
    problems.push(...merged.problems);
  }
  const substituted = substitute(root, environment);
  problems.push(...substituted.problems);
  return { root: substituted.node.kind === 'map' ? substituted.node : root, problems };
}
