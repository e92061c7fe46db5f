/**
 * The minimum and maximum. `Math.min(...numbers)` overflows the stack above some hundred thousand arguments.
 *
 * @returns `Infinity` and `-Infinity` if empty, like `Math.min()` and `Math.max()`
 */
export function extremesOf(numbers: Iterable<number>): { readonly least: number; readonly most: number } {
  let [least, most] = [Infinity, -Infinity];
  for (const number of numbers) {
    if (number < least) least = number;
    if (number > most) most = number;
  }
  return { least, most };
}
