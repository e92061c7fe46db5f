import type { Json } from './parse.js';

/** One line of JSON as it is shown. */
export interface JsonLine {
  /** Names the place: positions from the outermost value, such as `.0.3`. */
  readonly path: string;
  readonly depth: number;
  /** Of a member of an object; the position within an array is not shown. */
  readonly key: string | undefined;
  readonly value: Json;
  /** Of an object or an array with something in it: whether its members are shown; undefined for all others. */
  readonly isOpen: boolean | undefined;
}

/** Of a value that is opened for the first time, levels that are shown. */
const OPEN_LEVELS = 3;

/**
 * @param turned paths of values that are shown otherwise than at first: closed instead of open, or open instead of closed
 * @returns the lines that are to be seen, in order
 */
export function jsonLines(root: Json, turned: ReadonlySet<string>): readonly JsonLine[] {
  const lines: JsonLine[] = [];
  const waiting: Omit<JsonLine, 'isOpen'>[] = [{ path: '', depth: 0, key: undefined, value: root }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, depth, value } = next;
    const members = membersOf(value);
    const isOpen = members.length === 0 ? undefined : depth < OPEN_LEVELS !== turned.has(path);
    lines.push({ ...next, isOpen });
    if (isOpen !== true) continue;
    for (let at = members.length - 1; at >= 0; at -= 1) {
      const member = members[at];
      if (member)
        waiting.push({ path: `${path}.${String(at)}`, depth: depth + 1, key: member[0], value: member[1] });
    }
  }
  return lines;
}

function membersOf(value: Json): readonly (readonly [string | undefined, Json])[] {
  if (value.kind === 'object') return value.entries;
  if (value.kind === 'array') return value.items.map((item) => [undefined, item] as const);
  return [];
}

/** What a closed value says of itself: `{3}`, `[12]`. */
export function sizeWords(value: Json): string {
  if (value.kind === 'object') return value.entries.length === 0 ? '{}' : `{${String(value.entries.length)}}`;
  if (value.kind === 'array') return value.items.length === 0 ? '[]' : `[${String(value.items.length)}]`;
  return '';
}
