import { RE2JS } from 're2js';

/** Replaces `matches` in the source given to CEL, with the same length: CEL's own may backtrack without limit. */
export const MATCHES = 'Matches';

/** The patterns of all expressions that were compiled; they are written in configurations, so they are few. */
const compiled = new Map<string, RE2JS>();

/** Compiles an RE2 pattern. Search time grows only with the length of the text. @throws Error for an invalid pattern */
export function compilePattern(source: string): RE2JS {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  const pattern = RE2JS.compile(source);
  compiled.set(source, pattern);
  return pattern;
}

/** Whether a pattern that was compiled occurs in a text. */
export function matches(text: string, source: string): boolean {
  return compilePattern(source).test(text);
}
