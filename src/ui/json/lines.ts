import { tryParseJson, type Json } from './parse.js';

/** A displayed line of JSON. */
export interface JsonLine {
  /** Indexes from the root, such as `.0.3`. */
  readonly path: string;
  readonly depth: number;
  /** Set for object members; array indexes are not shown. */
  readonly key: string | undefined;
  readonly value: Json;
  /** Whether a non-empty object or array is expanded; undefined for other values. */
  readonly isOpen: boolean | undefined;
}

/** Levels expanded at first. */
const OPEN_LEVELS = 3;

/**
 * The visible lines in order.
 *
 * @param toggled paths whose expansion differs from the default
 * @param parsed paths of strings that are shown as the JSON they contain
 */
export function jsonLines(
  root: Json,
  toggled: ReadonlySet<string>,
  parsed: ReadonlySet<string> = new Set(),
): readonly JsonLine[] {
  const lines: JsonLine[] = [];
  const waiting: Omit<JsonLine, 'isOpen'>[] = [{ path: '', depth: 0, key: undefined, value: root }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, depth } = next;
    const isParsed = next.value.kind === 'string' && parsed.has(path);
    const value = isParsed ? parsedText(next.value) : next.value;
    const members = membersOf(value);
    const isOpen = members.length === 0 ? undefined : (depth < OPEN_LEVELS || isParsed) !== toggled.has(path);
    lines.push({ ...next, value, isOpen });
    if (isOpen !== true) continue;
    for (let at = members.length - 1; at >= 0; at -= 1) {
      const member = members[at];
      if (member)
        waiting.push({ path: `${path}.${String(at)}`, depth: depth + 1, key: member[0], value: member[1] });
    }
  }
  return lines;
}

function parsedText(value: Json): Json {
  return value.kind === 'string' ? (tryParseJson(value.text) ?? value) : value;
}

function membersOf(value: Json): readonly (readonly [string | undefined, Json])[] {
  if (value.kind === 'object') return value.entries;
  if (value.kind === 'array') return value.items.map((item) => [undefined, item] as const);
  return [];
}

/** The size of a collapsed value: `{3}`, `[12]`. */
export function formatSize(value: Json): string {
  if (value.kind === 'object') return value.entries.length === 0 ? '{}' : `{${String(value.entries.length)}}`;
  if (value.kind === 'array') return value.items.length === 0 ? '[]' : `[${String(value.items.length)}]`;
  return '';
}
