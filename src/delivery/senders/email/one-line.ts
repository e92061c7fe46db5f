/** Characters that end lines, direct other characters, or cannot be seen at all. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\s]+/gu;

/** Text of strangers in a form that one line of plain text may contain: it cannot pretend to be anything else. */
export function oneLine(text: string): string {
  return text.replaceAll(INVISIBLE, ' ').trim();
}
