import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { spanType } from '../../../src/otlp/wire/messages.js';
import { KeyNames } from '../../../src/processors/redact/keys.js';
import type { Finder } from '../../../src/processors/redact/text/finder.js';
import { patternFinder } from '../../../src/processors/redact/text/pattern.js';
import { patternSigns } from '../../../src/processors/redact/text/pattern.js';
import { TextRedactor } from '../../../src/processors/redact/text/text-redactor.js';
import { Gate } from '../../../src/processors/redact/values/gate.js';
import { Redactor } from '../../../src/processors/redact/values/redactor.js';
import { holds, SEED } from '../../support/property.js';

/** Searching by signs must find everything that a plain search finds. */

const { JACKDAW_TEST_RUNS: runs } = process.env;

function redactorOf(finders: readonly Finder[]): { readonly redactor: Redactor; readonly gate: Gate } {
  const none = new KeyNames([]);
  const gate = new Gate(finders, [none, none]);
  const count = () => undefined;
  const rules = { names: none, hashed: none, hash: null };
  return { gate, redactor: new Redactor(new TextRedactor(finders, count), gate, rules, count) };
}

function withoutSigns(finder: Finder): Finder {
  return { name: finder.name, replacement: finder.replacement, find: (text) => finder.find(text) };
}

/** Pattern parts in the common syntax of RE2 and JavaScript. */
const PARTS = [
  ...['phone: ', 'key_Id: ', 'call_In', 'e: ', 'X: '],
  ...[
    'E-',
    'AKIA',
    'cust',
    'ID#',
    'key',
    'Sk',
    'Id',
    'tI',
    'N',
    'aN',
    'In',
    'x',
    '-',
    '@',
    '_',
    ':',
    ' ',
    '"',
    'é',
    'ß',
  ],
  ...[
    '\\d',
    '\\d{3}',
    '\\d+',
    '[A-F0-9]{4}',
    '[a-z]+',
    '[xyz]?',
    '[]a]',
    '[a-]',
    '[.(|]',
    'a{2,4}',
    'b{0}',
    'c{2}',
    'd*',
    'f+?',
  ],
  ...[
    '(foo|bar)',
    '(?:x-y)?',
    '(a(b|[)]))',
    '(\\)q)',
    '\\b',
    '.',
    '\\w+',
    '\\s',
    '\\.',
    '\\-',
    '\\/',
    '[\\d-]',
    '|',
  ],
];
/** Without word boundaries, which the finder checks. @throws Error if no match can be generated */
function matchOf(regex: string): fc.Arbitrary<string> {
  return fc.stringMatching(new RegExp(regex.replaceAll('\\b', ''), 'u'));
}

const patterns = fc
  .tuple(fc.array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 6 }), fc.boolean())
  .map(([parts, hasNoCase]) => ({ regex: parts.join(''), hasNoCase }))
  .filter(({ regex }) => {
    try {
      patternFinder('p', regex, '[p]');
      matchOf(regex);
      return true;
    } catch {
      return false;
    }
  });

/** Spellings of a match: unchanged, in the other case, or with characters that fold to ASCII. */
const WRITTEN: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.toLowerCase(),
  (text) => text.replaceAll(/[!-~]/g, (one) => String.fromCharCode(one.charCodeAt(0) - 0x21 + 0xff01)),
  (text) => text.replace(/[!-~]/, (one) => String.fromCharCode(one.charCodeAt(0) - 0x21 + 0xff01)),
  (text) => text.replaceAll('-', '\u2011').replaceAll(/k/gi, '\u212a').replaceAll(/s/gi, '\u017f'),
];
/** Contexts of a match. */
const AROUND: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `see ${text} for more, 2026-01-15`,
  (text) => JSON.stringify({ a: [text], b: 'c' }),
  (text) => JSON.stringify({ a: JSON.stringify({ b: text }) }),
  (text) => JSON.stringify([text]).replaceAll('/', '\\/'),
  (text) =>
    `["${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"]`,
];
/** A match that starts between a key and its value: the key as sent, and the value. */
function asEntry(text: string): Readonly<Record<string, string>> {
  const [key = '', ...others] = text.split(': ');
  return { [key.replaceAll(/([a-z])_([A-Z])/g, '$1$2')]: others.join(': ') };
}
const KEYS = ['a', 'phone', 'clientKey', 'my_key', 'apiKeyId', 'custKey'];
const NUMBERS = [
  0,
  1.5,
  1e21,
  1.5e-7,
  -5,
  NaN,
  Infinity,
  4111111111111111n,
  123456789012345678901n,
  '{"n": 1E-5}',
  '[1e21]',
];

const examples = patterns.chain(({ regex, hasNoCase }) =>
  fc.record({
    pattern: fc.constant(hasNoCase ? `(?i)${regex}` : regex),
    match: matchOf(regex),
    written: fc.constantFrom(...WRITTEN),
    around: fc.constantFrom(...AROUND),
    key: fc.constantFrom(...KEYS),
    number: fc.constantFrom(...NUMBERS),
  }),
);

void t.test('signs lose no match, in texts and in bytes of spans', async (t) => {
  let [known, found] = [0, 0];
  holds(
    t,
    fc.property(examples, ({ pattern, match, written, around, key, number }) => {
      const finder = patternFinder('p', pattern, '[p]');
      if (finder.signs === undefined) return;
      known++;
      const gated = redactorOf([finder]);
      const plain = redactorOf([withoutSigns(finder)]);
      const value = around(written(match));
      for (const attributes of [{ [key]: value }, { [value]: 'x' }, asEntry(match), { [key]: number }]) {
        const redacted = plain.redactor.object(attributes as never);
        const isFound = !isDeepStrictEqual(redacted, attributes);
        if (isFound) found++;
        const bytes = spanType.encode({ attributes: toKeyValues(attributes) }).finish();
        if (isFound && !gated.gate.mayHold(bytes)) throw new Error(`bytes: ${JSON.stringify(pattern)}`);
        assert.deepStrictEqual(gated.redactor.object(attributes as never), redacted);
      }
    }),
    { numRuns: Number(runs ?? 1500), seed: SEED },
  );
  t.ok(known > 200, `${known} with signs`);
  t.ok(found > 200, `${found} found`);
});

void t.test('knows the signs of these patterns', async (t) => {
  for (const pattern of [
    'E-\\d{6}',
    'AKIA[0-9A-Z]{16}',
    '\\d{3}-\\d{2}-\\d{4}',
    '(?i)acct[0-9]+',
    'PNR-|TKT#',
    '\\bcust-[a-z]+',
  ])
    t.ok(patternSigns(pattern), pattern);
  // No required text, digits, too common text, letters with three forms, and unsupported syntax.
  for (const pattern of [
    '\\d{9}',
    '[a-z]+',
    'x',
    '(?i)sk',
    'a|E-1',
    '(?s)E-1',
    '[^a]E-1',
    '\\x45-1',
    '\\pLE-1',
    'x?y',
    ': E',
    'e\\+1',
  ])
    t.equal(patternSigns(pattern), undefined, pattern);
});

void t.test('supports more patterns than bits', async (t) => {
  const finders = Array.from({ length: 40 }, (_, at) => patternFinder(`p${at}`, `Q${at}#X`, `[${at}]`));
  const { redactor } = redactorOf(finders);
  t.equal(redactor.text('Q1#X Q27#X Q28#X Q39#X Q40#X'), '[1] [27] [28] [39] Q40#X');
});
