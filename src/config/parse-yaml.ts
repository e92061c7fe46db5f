import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from 'yaml';
import type { Position, Problem } from './config-error.js';
import type { ConfigNode } from './config-node.js';

/** Aliases repeat what they refer to: without a limit a few lines could become gigabytes. */
const MAX_NODES = 100_000;

/**
 * Parses one YAML text into nodes with positions.
 *
 * @param file the name for positions
 * @param wanted the expected root, for errors
 * @returns the root, or undefined if the text cannot be parsed; an empty text is an empty map.
 */
export function parseYaml(
  text: string,
  file: string,
  wanted = 'a map of sections (receivers:, exporters:, …)',
): { readonly root: ConfigNode | undefined; readonly problems: readonly Problem[] } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2' });
  const reader = new Reader(document, lines, file);
  for (const error of firstErrors(document.errors)) {
    // `{ key: ${env:NAME} }` ends at the substitution's own brace.
    const isSubstitution = text[error.pos[0] - 1] === '$' && text[error.pos[0]] === '{';
    const hint = isSubstitution ? '; inside { } and [ ] put "${…}" in quotes' : '';
    reader.report('error', error.pos[0], `cannot be read: ${error.message}${hint}`);
  }
  for (const warning of document.warnings) reader.report('warning', warning.pos[0], warning.message);
  if (document.errors.length > 0) return { root: undefined, problems: reader.problems };

  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null))
    return {
      root: { kind: 'map', position: reader.position(0), entries: new Map() },
      problems: reader.problems,
    };
  const root = reader.read(contents);
  if (root?.kind !== 'map' && reader.problems.every((problem) => problem.severity !== 'error'))
    reader.report('error', contents.range[0], `the file must be ${wanted}`);
  return { root: root?.kind === 'map' ? root : undefined, problems: reader.problems };
}

/** After the first syntax error, every further word is unexpected: only the first of these errors is useful. */
function firstErrors<E extends { readonly code: string }>(errors: readonly E[]): readonly E[] {
  const lost = errors.findIndex(({ code }) => code === 'UNEXPECTED_TOKEN');
  return lost < 0 ? errors : errors.filter(({ code }, index) => index <= lost || code !== 'UNEXPECTED_TOKEN');
}

/** `<<` without quotes, as in YAML 1.1. */
function isMergeKey(key: Node): boolean {
  return isScalar(key) && key.value === '<<' && key.type === 'PLAIN';
}

class Reader {
  readonly problems: Problem[] = [];
  readonly #document: Document.Parsed;
  readonly #lines: LineCounter;
  readonly #file: string;
  #count = 0;
  /** Collections that are being read: an alias to one of them would never end. */
  readonly #open = new Set<Node>();

  constructor(document: Document.Parsed, lines: LineCounter, file: string) {
    this.#document = document;
    this.#lines = lines;
    this.#file = file;
  }

  report(severity: Problem['severity'], offset: number, message: string): void {
    this.problems.push({ severity, position: this.position(offset), path: [], message });
  }

  position(offset: number): Position {
    const { line, col } = this.#lines.linePos(offset);
    return { file: this.#file, line: Math.max(line, 1), column: Math.max(col, 1) };
  }

  /** @returns undefined after a problem was reported. */
  read(node: Node | null): ConfigNode | undefined {
    const offset = node?.range?.[0] ?? 0;
    const position = this.position(offset);
    this.#count += 1;
    if (this.#count > MAX_NODES) {
      if (this.#count === MAX_NODES + 1)
        this.report(
          'error',
          offset,
          `more than ${MAX_NODES} values after expanding aliases: use fewer aliases`,
        );
      return undefined;
    }
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      if (target !== undefined && this.#open.has(target)) {
        this.report(
          'error',
          offset,
          `alias *${node.source} refers to a value that contains it: remove the alias`,
        );
        return undefined;
      }
      if (target !== undefined) return this.read(target);
      this.report(
        'error',
        offset,
        `alias *${node.source} refers to nothing; put a text that begins with * in quotes`,
      );
      return undefined;
    }
    if (node === null || isScalar(node)) return this.#readScalar(node, position, offset);
    this.#open.add(node);
    const read = isMap<Node, Node | null>(node)
      ? this.#readMap(node.items, position)
      : this.#readList(isSeq<Node>(node) ? node.items : [], position);
    this.#open.delete(node);
    return read;
  }

  #readList(nodes: readonly Node[], position: Position): ConfigNode {
    const items = nodes.map((item) => this.read(item));
    return { kind: 'list', position, items: items.filter((item) => item !== undefined) };
  }

  #readMap(
    items: readonly { readonly key: Node; readonly value: Node | null }[],
    position: Position,
  ): ConfigNode {
    const entries = new Map<string, { keyPosition: Position; node: ConfigNode }>();
    const merged: ConfigNode[] = [];
    for (const { key, value } of items) {
      const keyOffset = key.range?.[0] ?? 0;
      const keyPosition = this.position(keyOffset);
      const name = isScalar(key) ? String(key.value) : undefined;
      if (name === undefined || name === '__proto__') {
        this.report('error', keyOffset, 'not a valid key: use a plain word');
        continue;
      }
      const node: ConfigNode | undefined =
        value === null
          ? { kind: 'scalar', position: keyPosition, value: null, source: '' }
          : this.read(value);
      if (isMergeKey(key)) merged.push(...(node ? this.#mapsToMerge(node, keyOffset) : []));
      else if (node) entries.set(name, { keyPosition, node });
    }
    // Keys of the map itself count first, then those of earlier maps.
    for (const map of merged) {
      if (map.kind !== 'map') continue;
      for (const [name, entry] of map.entries) if (!entries.has(name)) entries.set(name, entry);
    }
    return { kind: 'map', position, entries };
  }

  /** The maps that a merge key names: one, or a list of them. */
  #mapsToMerge(node: ConfigNode, keyOffset: number): readonly ConfigNode[] {
    const maps = node.kind === 'list' ? node.items : [node];
    if (maps.every(({ kind }) => kind === 'map')) return maps;
    this.report('error', keyOffset, '<< merges maps: write <<: *anchor or <<: [*one, *other]');
    return [];
  }

  #readScalar(node: Node | null, position: Position, offset: number): ConfigNode | undefined {
    const value = isScalar(node) ? node.value : null;
    const source = isScalar(node) ? (node.source ?? String(value)) : '';
    if (
      value === null ||
      typeof value === 'string' ||
      typeof value === 'number' ||
      typeof value === 'boolean'
    )
      return { kind: 'scalar', position, value, source };
    this.report('error', offset, 'this kind of value is not allowed here: use text, a number, true or false');
    return undefined;
  }
}
