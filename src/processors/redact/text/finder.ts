import type { Sign } from './signs.js';

/** A part of a text, from `start` up to `end`. */
export interface Match {
  readonly start: number;
  readonly end: number;
}

/** Finds sensitive data in texts. */
export interface Finder {
  /** The name in the configuration and in metrics. */
  readonly name: string;
  readonly replacement: string;
  /**
   * If a text, or bytes read as Latin-1, contains none of these signs, it has no match in ASCII (see `isFoldable` for other
   * characters). Checking signs is much cheaper than searching, and nearly every text has none. Absent: unknown.
   */
  readonly signs?: readonly Sign[];
  /** Alternative signs for protobuf. */
  readonly wireSigns?: readonly Sign[];
  /** Takes time proportional to the length. @param text the result of {@link folded} */
  find(text: string): readonly Match[];
}

const WORD = /[\p{L}\p{N}_]/u;

/** Whether the character at a position is a letter, a digit or an underscore. */
export function isWordAt(text: string, at: number): boolean {
  if (at < 0 || at >= text.length) return false;
  const code = text.charCodeAt(at);
  if (code < 128)
    return (
      (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95
    );
  return WORD.test(text[at] ?? '');
}

export function isDigitAt(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code >= 48 && code <= 57;
}

/** All matches of a global pattern that pass a check. @param check returns the match, a part of it, or nothing */
export function allMatches(
  text: string,
  pattern: RegExp,
  check: (found: RegExpExecArray) => Match | undefined,
): Match[] {
  const matches: Match[] = [];
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const match = check(found);
    if (match !== undefined) {
      matches.push(match);
      pattern.lastIndex = Math.max(match.end, found.index + 1);
    } else if (found[0] === '') pattern.lastIndex++;
  }
  return matches;
}
