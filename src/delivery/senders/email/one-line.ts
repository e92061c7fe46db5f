/** Characters that end lines, direct other characters, or cannot be seen at all. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;

/** Text of strangers as one line of plain text may hold it: it cannot pretend to be anything beside itself. */
export function oneLine(text: string): string {
  return text.replaceAll(INVISIBLE, ' ').trim();
}
