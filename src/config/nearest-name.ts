import { distance } from 'fastest-levenshtein';

/** The most similar name; undefined if no name is similar enough. */
export function nearestName(wrong: string, names: Iterable<string>): string | undefined {
  let best: string | undefined;
  // Two typos cover swapped letters; for very short words, they would match every name.
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

/** `; did you mean "endpoint"?`, or the valid names if none is similar, or an empty text if there are no names. */
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
