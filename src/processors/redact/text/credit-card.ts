import { isDigitAt, isWordAt, type Finder, type Match } from './finder.js';
import { beginnings, BEGINS_NUMBER, codes } from './signs.js';
import { isDigitIn, type Source } from './source.js';
import { wireNumbers } from './wire-numbers.js';

const SHORTEST = 13;
const LONGEST = 19;
const IN_NUMBER = codes('0123456789 -');
const [BLANK, HYPHEN] = [0x20, 0x2d];

/** What numbers of cards begin with, and how many digits they have. */
const BRANDS: readonly (readonly [pattern: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|65|64[4-9])/, [16, 17, 18, 19]],
  [/^(?:36|38|39|30[0-5])/, [14]],
  [/^35(?:2[89]|[3-8])/, [16, 17, 18, 19]],
  [/^62/, [16, 17, 18, 19]],
];
/** How they are written, apart from all digits together. */
const GROUPINGS = new Set(['4 4 4 4', '4 4 4 4 3', '4 6 5', '4 6 4', '4 3 3 3', '6 13', '8 8']);

interface Group {
  readonly start: number;
  readonly end: number;
}

/** Numbers of credit cards: by brand, length and the check digit of Luhn, together or in their usual groups. */
export const creditCard: Finder = {
  name: 'credit_card',
  replacement: '[credit_card]',
  signs: [
    {
      pairs: BEGINS_NUMBER,
      behind: IN_NUMBER,
      third: IN_NUMBER,
      fifth: IN_NUMBER,
      isThere: (source, at) =>
        hasShortest(source, at) && beginnings(source, at).some((start) => mayBeCard(source.text, start)),
    },
  ],
  wireSigns: wireNumbers((digits) => digits.length >= SHORTEST && mayBeCard(digits, 0)),
  find: (text) => [...cardsIn(text)],
};

/** Whether there are as many digits as the shortest number has, with one blank or hyphen between some of them. */
function hasShortest(source: Source, start: number): boolean {
  let count = 0;
  for (let at = start; ; at++) {
    const code = source.code(at);
    if (code >= 48 && code <= 57) count++;
    else if ((code !== BLANK && code !== HYPHEN) || !isDigitIn(source, at + 1)) return false;
    if (count === SHORTEST) return true;
  }
}

function isBetween(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return (code === BLANK || code === HYPHEN) && isDigitAt(text, at + 1);
}

/** Whether any number of the first digits from there on is that of a card, in whatever groups. */
function mayBeCard(text: string, start: number): boolean {
  let digits = '';
  for (let at = start; digits.length < LONGEST; at++) {
    if (isDigitAt(text, at)) digits += text[at] ?? '';
    else if (!isBetween(text, at)) return false;
    if (digits.length >= SHORTEST && isDigitAt(text, at) && isCard(digits)) return true;
  }
  return false;
}

function* cardsIn(text: string): Generator<Match> {
  for (const groups of runsOf(text)) {
    for (let first = 0; first < groups.length; first++) {
      const last = lastOfCard(text, groups, first);
      const [start, end] = [groups[first]?.start, last === undefined ? undefined : groups[last]?.end];
      if (last === undefined || start === undefined || end === undefined) continue;
      yield { start, end };
      first = last;
    }
  }
}

/** Groups of digits that stand one behind the other, with one blank or hyphen between them. */
function* runsOf(text: string): Generator<Group[]> {
  let groups: Group[] = [];
  for (const { index, 0: digits } of text.matchAll(/\d+/g)) {
    const group = { start: index, end: index + digits.length };
    const before = groups.at(-1);
    const isNext = before?.end === index - 1 && (text[index - 1] === ' ' || text[index - 1] === '-');
    if (!isNext) {
      if (groups.length > 0) yield groups;
      groups = [];
    }
    groups.push(group);
  }
  if (groups.length > 0) yield groups;
}

function lastOfCard(text: string, groups: readonly Group[], first: number): number | undefined {
  let digits = '';
  let shape = '';
  for (let last = first; last < groups.length; last++) {
    const group = groups[last];
    if (group === undefined) return undefined;
    digits += text.slice(group.start, group.end);
    shape += `${shape === '' ? '' : ' '}${group.end - group.start}`;
    if (digits.length > LONGEST) return undefined;
    if (digits.length < SHORTEST || (last > first && !GROUPINGS.has(shape))) continue;
    const start = groups[first]?.start ?? 0;
    if (isCard(digits) && !isInsideWord(text, start, group.end)) return last;
  }
  return undefined;
}

function isInsideWord(text: string, start: number, end: number): boolean {
  const isDecimal = (at: number, beyond: number) => text[at] === '.' && isDigitAt(text, beyond);
  return (
    isWordAt(text, start - 1) ||
    isWordAt(text, end) ||
    isDecimal(start - 1, start - 2) ||
    isDecimal(end, end + 1)
  );
}

function isCard(digits: string): boolean {
  return (
    BRANDS.some(([pattern, lengths]) => lengths.includes(digits.length) && pattern.test(digits)) &&
    isLuhn(digits) &&
    !/^(\d)\1*$/.test(digits)
  );
}

/** Whether the last digit is the check digit of the others. */
function isLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    const doubled = digit * 2;
    sum += i % 2 === 0 ? digit : doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
