/** Rows between two numbers that are read along: as many take longer than another part of a query, half a millisecond. */
const MAX_GAP = 1000;

/**
 * A query for long rows by their numbers, which may give others between them, too. Rows far from each other are read by
 * themselves: a list of numbers, or a join, reads all texts between the first and the last of them.
 *
 * @param numbers at least one @param select makes a query of a condition
 */
export function byRanges(numbers: readonly number[], select: (condition: string) => string): string {
  return ranges(numbers)
    .map(([first, last]) => select(`number BETWEEN ${BigInt(first)} AND ${BigInt(last)}`))
    .join(' UNION ALL ');
}

/** The ranges that numbers make, the first and the last of each, where small gaps are none. */
function ranges(numbers: readonly number[]): readonly (readonly [first: number, last: number])[] {
  const found: [number, number][] = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const range = found.at(-1);
    if (range && number - range[1] <= MAX_GAP) range[1] = number;
    else found.push([number, number]);
  }
  return found;
}
