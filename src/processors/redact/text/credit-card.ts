import { isDigitAt, isWordAt, type Finder, type Match } from './finder.js';
import { beginnings, BEGINS_NUMBER, codes } from './signs.js';
import { isDigitIn, type Source } from './source.js';
import { wireNumbers } from './wire-numbers.js';

const SHORTEST = 13;
const LONGEST = 19;
const IN_NUMBER = codes('0123456789 -');
const [BLANK, HYPHEN] = [0x20, 0x2d];
const ZERO = 0x30;

/** Prefixes and lengths of card numbers. */
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

/** Whether any number of the first digits from there on is that of a card, in any grouping. */
function mayBeCard(text: string, start: number): boolean {
  const row = new DigitRow();
  for (let at = start; row.mayGrow; at++) {
    if (isDigitAt(text, at)) {
      row.add(text.charCodeAt(at) - ZERO);
      if (row.isCard) return true;
    } else if (!isBetween(text, at)) return false;
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

/** Consecutive groups of digits, separated by one blank or hyphen. */
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
  const row = new DigitRow();
  for (let last = first; last < groups.length; last++) {
    const group = groups[last];
    if (group === undefined) return undefined;
    for (let at = group.start; at < group.end; at++) {
      if (!row.mayGrow) return undefined;
      row.add(text.charCodeAt(at) - ZERO);
    }
    const isUsual = () => last === first || GROUPINGS.has(shapeOf(groups.slice(first, last + 1)));
    const start = groups[first]?.start ?? 0;
    if (row.isCard && isUsual() && !isInsideWord(text, start, group.end)) return last;
  }
  return undefined;
}

function shapeOf(groups: readonly Group[]): string {
  return groups.map(({ start, end }) => end - start).join(' ');
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

/** Number of leading digits that identify a brand: no pattern reads more. */
const PREFIX_DIGITS = 4;
/** By leading digits: one bit for each possible length; -1 if not computed yet. */
const lengthsByPrefix = new Int32Array(10 ** PREFIX_DIGITS).fill(-1);

function lengthsOf(prefix: number): number {
  const known = lengthsByPrefix[prefix] ?? 0;
  if (known >= 0) return known;
  const digits = String(prefix).padStart(PREFIX_DIGITS, '0');
  const lengths = BRANDS.flatMap(([pattern, some]) => (pattern.test(digits) ? some : []));
  return (lengthsByPrefix[prefix] = lengths.reduce((bits, length) => bits | (1 << length), 0));
}

/** Candidate digits of a card number, read one by one: a text may have one at every second character. */
class DigitRow {
  #length = 0;
  #prefix = 0;
  /** The lengths that it may have, as bits. */
  #lengths = -1;
  #first = 0;
  #isUniform = true;
  /** Luhn sums, with the digits at even positions doubled, and with those at odd positions doubled. */
  #evenSum = 0;
  #oddSum = 0;

  /** Whether more digits may make it the number of a card. */
  get mayGrow(): boolean {
    return this.#length < LONGEST && this.#lengths !== 0;
  }

  add(digit: number): void {
    if (this.#length === 0) this.#first = digit;
    else if (digit !== this.#first) this.#isUniform = false;
    if (this.#length < PREFIX_DIGITS) {
      this.#prefix = this.#prefix * 10 + digit;
      if (this.#length === PREFIX_DIGITS - 1) this.#lengths = lengthsOf(this.#prefix);
    }
    const twice = digit > 4 ? digit * 2 - 9 : digit * 2;
    const isEven = this.#length % 2 === 0;
    this.#evenSum += isEven ? twice : digit;
    this.#oddSum += isEven ? digit : twice;
    this.#length++;
  }

  /** By brand and length, and with the right check digit. */
  get isCard(): boolean {
    if (this.#length < SHORTEST || ((this.#lengths >> this.#length) & 1) === 0 || this.#isUniform)
      return false;
    // The last digit is not doubled.
    return (this.#length % 2 === 0 ? this.#evenSum : this.#oddSum) % 10 === 0;
  }
}
