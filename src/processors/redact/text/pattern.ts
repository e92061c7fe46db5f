import { RE2JS } from 're2js';
import type { Finder, Match } from './finder.js';
import { readRuns, type Run } from './pattern-runs.js';
import { frequencyOf } from './literals.js';
import { pairs, type Sign } from './signs.js';

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

/** With candidates at a larger share of characters, checking signs would take as long as the pattern itself. */
const MOST_OFTEN = 0.02;
/** Pairs in numbers (`-1.5e+21`, `NaN`, `Infinity`). Numbers are searched, but may be written differently in the sent data. */
const IN_NUMBERS = new Set(
  [
    ...Array.from({ length: 10 }, (_, digit) => [
      `.${digit}`,
      `${digit}.`,
      `${digit}e`,
      `+${digit}`,
      `-${digit}`,
    ]),
    ...Array.from({ length: 100 }, (_, both) => String(both).padStart(2, '0')),
    ...['e+', 'e-', '-I', 'In', 'nf', 'fi', 'in', 'ni', 'it', 'ty', 'Na', 'aN'],
  ].flat(),
);

/**
 * The signs of a pattern: in each alternative, the rarest pair of adjacent characters of every match.
 *
 * @returns undefined if there is no such pair, or if it is too common
 */
export function patternSigns(regex: string): readonly Sign[] | undefined {
  const alternatives = readRuns(regex);
  const signs = alternatives?.map((runs) => rarest(runs));
  if (signs === undefined || signs.includes(undefined)) return undefined;
  const found = signs.filter((sign) => sign !== undefined);
  return found.reduce((sum, { often }) => sum + often, 0) > MOST_OFTEN
    ? undefined
    : found.map(({ sign }) => sign);
}

/** The rarest pair of adjacent characters in any of the runs; each match contains all runs. */
function rarest(runs: readonly Run[]): { readonly sign: Sign; readonly often: number } | undefined {
  let best: { readonly sign: Sign; readonly often: number } | undefined;
  for (const run of runs)
    for (let second = 1; second < run.length; second++) {
      const [before = [], behind = []] = run.slice(second - 1, second + 1);
      const texts = before.flatMap((one) => behind.map((other) => String.fromCharCode(one, other)));
      if (texts.some((text) => IN_NUMBERS.has(text))) continue;
      const often = texts.reduce((sum, text) => sum + frequencyOf(text), 0);
      if (best === undefined || often < best.often) best = { sign: signOf(run, second), often };
    }
  return best;
}

/** @param second position in the run of the pair's second character */
function signOf(run: Run, second: number): Sign {
  const sets = run.map((codes) => new Set(codes));
  return {
    pairs: pairs(run[second - 1] ?? [], run[second] ?? []),
    isThere: (source, at) => sets.every((set, place) => set.has(source.code(at - second + place))),
  };
}
