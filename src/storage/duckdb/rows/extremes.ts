/**
 * The least and the greatest of some numbers, however many they are: as arguments of `Math.min` more than some hundred thousand
 * of them overflow the stack.
 *
 * @returns of none: `Infinity` and `-Infinity`, as `Math.min()` and `Math.max()` say
 */
export function extremesOf(numbers: Iterable<number>): { readonly least: number; readonly most: number } {
  let [least, most] = [Infinity, -Infinity];
  for (const number of numbers) {
    if (number < least) least = number;
    if (number > most) most = number;
  }
  return { least, most };
}
