const EXTENSION = '.queue';
const NOTES_EXTENSION = '.done';
const DIGITS = 16;

/** The name of a segment's file. */
export function nameOf(number: number): string {
  return `${String(number).padStart(DIGITS, '0')}${EXTENSION}`;
}

/** The file next to a segment that notes the finished records. */
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

/** Maximum size of a segment; an eighth of a small limit. */
const SEGMENT_BYTES = 64 * 1024 * 1024;
const SEGMENTS = 8;
const LEAST_SEGMENT_BYTES = 64 * 1024;

/** The size at which a segment is full, given the limit of the whole queue in bytes. */
export function segmentBytesWithin(maxBytes: number): number {
  return Math.max(LEAST_SEGMENT_BYTES, Math.min(SEGMENT_BYTES, Math.floor(maxBytes / SEGMENTS)));
}
