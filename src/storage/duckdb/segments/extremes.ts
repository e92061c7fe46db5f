/**
 * The least and the greatest of any number of numbers. As arguments of `Math.min` more than some hundred thousand would overflow
 * the stack.
 *
 * @returns for none `Infinity` and `-Infinity`, as `Math.min()` and `Math.max()` do
 */
export function extremesOf(numbers: Iterable<number>): { readonly least: number; readonly most: number } {
  let [least, most] = [Infinity, -Infinity];
  for (const number of numbers) {
    if (number < least) least = number;
    if (number > most) most = number;
  }
  return { least, most };
}
