import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { creditCard } from '../../../src/processors/redact/text/credit-card.js';
import type { Match } from '../../../src/processors/redact/text/finder.js';
import { iban } from '../../../src/processors/redact/text/iban.js';
import { holds } from '../../support/property.js';

const CARD =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)\d*|3[47]\d*|(?:6011|65|64[4-9]|35(?:2[89]|[3-8])|62)\d*|(?:36|38|39|30[0-5])\d*)$/;
const GROUPINGS = ['4 4 4 4', '4 4 4 4 3', '4 6 5', '4 6 4', '4 3 3 3', '6 13', '8 8'];

function lengthsOf(digits: string): readonly number[] {
  if (digits.startsWith('4')) return [13, 16, 19];
  if (/^(?:5|2)/.test(digits)) return [16];
  if (/^3[47]/.test(digits)) return [15];
  return /^(?:3[0689])/.test(digits) ? [14] : [16, 17, 18, 19];
}

function isCard(digits: string): boolean {
  const sum = Array.from(digits)
    .reverse()
    .reduce((total, digit, i) => {
      const value = Number(digit) * (i % 2 === 0 ? 1 : 2);
      return total + (value > 9 ? value - 9 : value);
    }, 0);
  const isUniform = new Set(digits).size === 1;
  return CARD.test(digits) && lengthsOf(digits).includes(digits.length) && sum % 10 === 0 && !isUniform;
}

/** Reference implementation: card numbers in a text of digits, spaces and hyphens. */
function cardsIn(text: string): Match[] {
  const found: Match[] = [];
  const groups = [...text.matchAll(/\d+/g)].map((group) => ({
    start: group.index,
    end: group.index + group[0].length,
  }));
  for (let first = 0; first < groups.length; first++) {
    for (let last = first; last < groups.length; last++) {
      const [start, end] = [groups[first]?.start ?? 0, groups[last]?.end ?? 0];
      const parts = text.slice(start, end).split(/[ -]/);
      const shape = parts.map(({ length }) => length).join(' ');
      // Two separators in a row give an empty part.
      if (parts.includes('') || !isCard(parts.join(''))) continue;
      if (first !== last && !GROUPINGS.includes(shape)) continue;
      found.push({ start, end });
      first = last;
      break;
    }
  }
  return found;
}

/** Reference implementation: IBANs of Norway and Belgium in a text of letters, digits, spaces and hyphens. */
function ibansIn(text: string): Match[] {
  const found: Match[] = [];
  const number = /(?<![A-Z0-9])(?:NO(?:[ -]?[A-Z0-9]){13}|BE(?:[ -]?[A-Z0-9]){14})(?![A-Z0-9])/gi;
  for (const match of text.matchAll(number)) {
    const characters = match[0].replaceAll(/[ -]/g, '').toUpperCase();
    if (!/^..\d\d/.test(match[0])) continue;
    const moved = characters.slice(4) + characters.slice(0, 4);
    const digits = Array.from(moved, (character) => Number.parseInt(character, 36)).join('');
    if (BigInt(digits) % 97n === 1n) found.push({ start: match.index, end: match.index + match[0].length });
  }
  return found;
}

/** With valid check digits more often than by chance. */
const cards = fc
  .tuple(
    fc.constantFrom(
      '4',
      '51',
      '2221',
      '2720',
      '2721',
      '34',
      '37',
      '6011',
      '65',
      '644',
      '36',
      '300',
      '3528',
      '3527',
      '62',
      '1',
    ),
    fc.array(fc.nat(9), { minLength: 10, maxLength: 18 }),
    fc.constantFrom([99], [4, 4, 4, 4, 3], [4, 6, 5], [4, 3, 3, 3], [6, 13], [8, 8], [3, 3, 99]),
    fc.constantFrom(' ', '-', '  '),
  )
  .map(([brand, more, shape, separator]) => {
    const begun = `${brand}${more.join('')}`.slice(0, 18);
    const right = Array.from({ length: 10 }, (_, last) => `${begun}${last}`).find(isCard) ?? begun;
    const groups: string[] = [];
    let rest = right;
    for (const length of shape) {
      if (rest !== '') groups.push(rest.slice(0, length));
      rest = rest.slice(length);
    }
    return [...groups, ...(rest === '' ? [] : [rest])].join(separator);
  });
const texts = fc
  .array(fc.oneof(cards, fc.stringMatching(/^[0-9 -]{0,8}$/), fc.constantFrom('4 4 4 4 ', '0', ' ')), {
    maxLength: 6,
  })
  .map((parts) => parts.join(' '));

void t.test('finds the card numbers of a reference implementation', async (t) => {
  t.same(cardsIn('4111 1111 1111 1111'), [{ start: 0, end: 19 }]);
  holds(
    t,
    fc.property(texts, (text) => isDeepStrictEqual(creditCard.find(text), cardsIn(text))),
    { numRuns: 3000 },
  );
});

const ibans = fc
  .tuple(
    fc.constantFrom('NO', 'be', 'XX'),
    fc.stringMatching(/^[0-9A-Za-z]{9,12}$/),
    fc.constantFrom(' ', '-', ''),
  )
  .map(([country, account, separator]) => {
    const right = Array.from(
      { length: 97 },
      (_, check) => `${country}${String(check).padStart(2, '0')}${account}`,
    );
    const number = right.find((one) => ibansIn(one).length > 0) ?? `${country}00${account}`;
    return `${number.slice(0, 6)}${separator}${number.slice(6)}`;
  });

void t.test('finds the IBANs of a reference implementation', async (t) => {
  t.same(ibansIn('NO93 8601 1117 947'), [{ start: 0, end: 18 }]);
  holds(
    t,
    fc.property(fc.array(ibans, { maxLength: 3 }), (numbers) => {
      const text = numbers.join(', ');
      return isDeepStrictEqual(iban.find(text), ibansIn(text));
    }),
    { numRuns: 1000 },
  );
});
