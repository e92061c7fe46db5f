const EXTENSION = '.queue';
const NOTES_EXTENSION = '.done';
const DIGITS = 16;

/** The name of a segment's file. */
export function nameOf(number: number): string {
  return `${String(number).padStart(DIGITS, '0')}${EXTENSION}`;
}

/** The file beside a segment's that notes what is done. */
export function notesOf(path: string): string {
  return path.slice(0, -EXTENSION.length) + NOTES_EXTENSION;
}

/** Numbers of the segments in a directory, ascending. @param names of its files */
export function numbersOf(names: readonly string[]): number[] {
  return names
    .filter((name) => /^[0-9]{16}\.queue$/.test(name))
    .map((name) => Number(name.slice(0, DIGITS)))
    .sort((a, b) => a - b);
}
