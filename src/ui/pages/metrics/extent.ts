/** Minimum and maximum; both 0 without values. */
export function extentOf(values: readonly (number | null)[]): {
  readonly least: number;
  readonly most: number;
} {
  let [least, most] = [Infinity, -Infinity];
  for (const value of values) {
    if (value === null) continue;
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  return least <= most ? { least, most } : { least: 0, most: 0 };
}
