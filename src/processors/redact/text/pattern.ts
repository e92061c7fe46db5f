import { RE2JS } from 're2js';
import type { Finder, Match } from './finder.js';
import { patternSigns } from './pattern-signs.js';

/** A pattern of RE2 as a finder. @throws Error for what is none, and for one that an empty text has */
export function patternFinder(name: string, regex: string, replacement: string): Finder {
  const pattern = RE2JS.compile(regex);
  if (pattern.test('')) throw new Error('it is found in an empty text, so that it would be found everywhere');
  const signs = patternSigns(regex);
  return {
    name,
    replacement,
    ...(signs && { signs }),
    find(text) {
      // Most texts have none, and to know that takes the least time.
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
