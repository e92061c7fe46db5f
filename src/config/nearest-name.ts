import { distance } from 'fastest-levenshtein';

/** The nearest of those names that are near enough to be meant; undefined where none is. */
export function nearestName(wrong: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  // Two typos cover a swap of letters; in very short words they would reach everything.
  let bestDistance = (wrong.length < 3 ? 1 : Math.max(2, Math.floor(wrong.length / 3))) + 1;
  for (const name of names) {
    const found = distance(wrong.toLowerCase(), name.toLowerCase());
    if (found < bestDistance) {
      best = name;
      bestDistance = found;
    }
  }
  return best;
}

/** `; did you mean "endpoint"?`, or the valid names where none is near, or nothing where there are none. */
export function suggestion(wrong: string, names: readonly string[]): string {
  const nearest = nearestName(wrong, names);
  if (nearest !== undefined) return `; did you mean "${nearest}"?`;
  return names.length === 0
    ? ''
    : `; known here: ${[...names]
        .sort()
        .map((name) => `"${name}"`)
        .join(', ')}`;
}
