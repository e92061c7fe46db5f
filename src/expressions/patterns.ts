import { RE2JS } from 're2js';

/** Stands for `matches` in what is given to CEL, which is as long: CEL's own takes patterns that can take for ever. */
export const MATCHES = 'Matches';

/** The patterns of all expressions that were compiled; they are written in configurations, so they are few. */
const compiled = new Map<string, RE2JS>();

/** Compiles a pattern of RE2. The time that it takes to search a text grows only with the text's length. @throws Error for what is none */
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
