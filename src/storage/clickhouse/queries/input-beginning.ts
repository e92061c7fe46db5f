/** Characters of the input that an outline shows, in UTF-16 units. */
const SHOWN = 200;

/** The first characters of a text, none of them in half. */
export function inputBeginning(text: string): string {
  const some = text.slice(0, SHOWN);
  return /[\uD800-\uDBFF]$/.test(some) ? some.slice(0, -1) : some;
}
