import { RE2JS } from 're2js';
import type { Finder, Match } from './finder.js';
import { patternSigns } from './pattern-signs.js';

/** An RE2 pattern as a finder. @throws Error for an invalid pattern, and for one that matches an empty text */
export function patternFinder(name: string, regex: string, replacement: string): Finder {
  const pattern = RE2JS.compile(regex);
  if (pattern.test('')) throw new Error('it is found in an empty text, so that it would be found everywhere');
  const signs = patternSigns(regex);
  return {
    name,
    replacement,
    ...(signs && { signs }),
    find(text) {
      // Most texts have no match, and `test` is the cheapest check.
      if (!pattern.test(text)) return [];
      const matches: Match[] = [];
      const matcher = pattern.matcher(text);
      while (matcher.find()) {
        const match = { start: matcher.start(), end: matcher.end() };
        if (match.end > match.start) matches.push(match);
      }
      return matches;
    },
  };
}
