/** Names by case-insensitive patterns in which `*` stands for anything. A lookup is linear in the length of the name. */
export class NamePatterns {
  readonly #exact: ReadonlySet<string>;
  /** The parts between the stars, of those that have any. */
  readonly #parts: readonly (readonly string[])[];

  constructor(patterns: readonly string[]) {
    const folded = patterns.map((pattern) => pattern.trim().toLowerCase());
    this.#exact = new Set(folded.filter((pattern) => !pattern.includes('*')));
    this.#parts = folded.filter((pattern) => pattern.includes('*')).map((pattern) => pattern.split('*'));
  }

  has(name: string): boolean {
    const folded = name.trim().toLowerCase();
    return this.#exact.has(folded) || this.#parts.some((parts) => fits(folded, parts));
  }
}

/** What stands in the place of the one star of a pattern, as it is written in `name`; undefined if that does not fit. */
export function inPlaceOfStar(name: string, pattern: string): string | undefined {
  const [before = '', after = ''] = pattern.toLowerCase().split('*');
  const folded = name.toLowerCase();
  // Some letters change their length with their case.
  if (folded.length !== name.length || name.length <= before.length + after.length) return undefined;
  if (!folded.startsWith(before) || !folded.endsWith(after)) return undefined;
  return name.slice(before.length, name.length - after.length);
}

/** Matching each part at its first possible place leaves the most room for the following parts. */
function fits(name: string, parts: readonly string[]): boolean {
  const [first = '', ...inner] = parts;
  const last = inner.pop() ?? '';
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let from = first.length;
  for (const part of inner) {
    const at = name.indexOf(part, from);
    if (at < 0) return false;
    from = at + part.length;
  }
  return from <= name.length - last.length;
}
