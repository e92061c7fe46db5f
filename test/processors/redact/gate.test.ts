import fc from 'fast-check';
import t from 'tap';
import { KeyNames } from '../../../src/processors/redact/keys.js';
import { BUILTIN } from '../../../src/processors/redact/text/builtin.js';
import type { Finder } from '../../../src/processors/redact/text/finder.js';
import { folded } from '../../../src/processors/redact/text/folding.js';
import { Gate } from '../../../src/processors/redact/values/gate.js';
import { redactionOf } from '../../../src/processors/redact/redaction-of.js';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { spanType } from '../../../src/otlp/wire/messages.js';
import { falseExamples, trueExamples } from '../../support/redaction-corpus.js';
import { LIKE_FORMS, REAL_FORMS } from '../../support/redaction-forms.js';

/** The gate must pass everything that the finders find, because nothing checks what it holds back. */

const FINDERS: readonly Finder[] = Object.values(BUILTIN);
const gate = new Gate(FINDERS, []);
const { redactor } = redactionOf(
  { builtin: Object.keys(BUILTIN) as (keyof typeof BUILTIN)[], patterns: [], keys: [], fields: [] },
  () => undefined,
);

/** An encoded OTLP span with these attributes. */
function bytesOf(attributes: Readonly<Record<string, unknown>>, others: object = {}): Uint8Array {
  return spanType
    .encode({ name: 'n', kind: 1, attributes: toKeyValues(attributes as never), ...others })
    .finish();
}

/** JSON variants of some libraries: all characters escaped as numbers, or slashes escaped. */
const escapedByNumber = (text: string): string =>
  `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`;
const withSlashes = (text: string): string => JSON.stringify([text]).replaceAll('/', '\\/');

/** Contexts of a text. */
const AROUND: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => `see ${text} for more`,
  (text) => JSON.stringify({ a: [text], b: 'c' }),
  (text) => JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ c: text }) }) }),
  escapedByNumber,
  withSlashes,
  (text) => JSON.stringify(escapedByNumber(text)),
];

const texts = [
  ...Object.values(REAL_FORMS).flat(),
  ...LIKE_FORMS,
  ...[...trueExamples(), ...falseExamples()].flatMap(({ value }) =>
    typeof value === 'string' ? [value] : [],
  ),
];

void t.test('the gate passes every text with a finding and bytes that contain it', async (t) => {
  const lost: string[] = [];
  let found = 0;
  for (const text of texts)
    for (const around of AROUND) {
      const whole = around(text);
      if (redactor.text(whole) === whole) continue;
      found++;
      const isJson = /^["[{]/.test(whole);
      if (isJson && !gate.mayHoldText(whole)) lost.push(`text: ${whole}`);
      for (const bytes of [
        bytesOf({ a: whole, b: 'x' }),
        bytesOf({ a: [whole, 'x'], b: 1 }),
        bytesOf({ a: 'x' }, { status: { message: whole, code: 2 } }),
        bytesOf({}, { name: whole }),
      ])
        if (!gate.mayHold(bytes)) lost.push(`bytes: ${whole}`);
    }
  t.ok(found > 1500, `${found} found`);
  t.strictSame(lost, []);
});

void t.test('also behind and before any protobuf byte', async (t) => {
  const lost: string[] = [];
  for (const text of Object.values(REAL_FORMS).flat()) {
    if (redactor.text(text) === text) continue;
    // Lengths that are codes of digits and letters; the next field follows.
    for (const length of [48, 50, 57, 65, 90, 97, 122])
      for (const padded of [`${text} `.padEnd(length, 'o '), ` ${text}`.padStart(length, ' o'), text]) {
        if (redactor.text(padded) === padded) continue;
        const bytes = bytesOf({ a: padded, bcdefghij: 'o'.repeat(48) });
        if (!gate.mayHold(bytes)) lost.push(padded);
      }
  }
  t.strictSame(lost, []);
});

void t.test('passes card numbers as numbers, and telephone numbers under matching keys', async (t) => {
  const cards = [4111111111111111, 378282246310005, 30569309025904];
  for (const card of cards) {
    t.ok(gate.mayHold(bytesOf({ a: card })), `integer ${card}`);
    t.ok(
      gate.mayHold(spanType.encode({ attributes: [{ key: 'a', value: { doubleValue: card } }] }).finish()),
    );
  }
  t.ok(gate.mayHold(bytesOf({ phone: 4155552671 })));
  t.notOk(gate.mayHold(bytesOf({ count: 4155552671, at: 1768478400000, ratio: 0.1234567890123 })));
});

void t.test('finders find nothing that the gate holds back, in texts of fragments', async () => {
  const pieces = fc.constantFrom(
    ...[
      '4111',
      '1111',
      ' ',
      '-',
      '.',
      '+',
      '00',
      '0',
      '49',
      '(0)',
      '415',
      '555',
      '2671',
      'tel ',
      'phone',
      ': ',
      ':',
      '::',
      '1',
      '2001',
      'db8',
      'fe80',
    ],
    ...[
      '192',
      '168',
      '256',
      'DE89',
      '3704',
      '0044',
      'GB',
      '29',
      'a',
      '@',
      'b',
      '.de',
      '%40',
      'bearer ',
      'Basic ',
      'password',
      '=',
      '"',
      '\\',
      '\\"',
    ],
    ...[
      'api_key',
      'token',
      ' string ',
      '\n',
      '\t',
      '> ',
      '=> ',
      'sk-',
      'ghp_',
      'a1B2c3D4',
      'xoxb-',
      'eyJhbGciOiJub25lIn0',
      '://',
      '/',
      '\u00fc',
      '\uff11',
      '\u2014',
    ],
  );
  const text = fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(text, fc.nat(60), (written, pad) => {
      const whole = `${'o'.repeat(pad)} ${written}`;
      const found = FINDERS.filter((finder) => finder.find(folded(whole)).length > 0);
      if (found.length === 0) return true;
      const passed = redactor.text(whole) !== whole;
      return passed && gate.mayHold(bytesOf({ a: whole, b: 1 })) && gate.mayHoldText(whole);
    }),
    { numRuns: 4000 },
  );
});

void t.test('passes key names in any spelling and nothing else', async (t) => {
  const names = new Gate([], [new KeyNames(['user_id', 'Authorization', 'a.b*'])]);
  for (const key of [
    'user_id',
    'USER-ID',
    'userId',
    'u_s.e-r__id',
    'http.header.AUTHORIZATION',
    'A-B*',
    '\u212aey',
    'user\u005fid',
  ])
    t.equal(names.mayHold(bytesOf({ [key]: 'x' })), key !== '\u212aey', key);
  t.ok(
    new Gate([], [new KeyNames(['token'])]).mayHold(bytesOf({ 'to\u212aen': 'x' })),
    'the Kelvin sign is a k',
  );
  t.ok(names.mayHoldText('{"user\\u005fid": 1}'));
  t.notOk(names.mayHoldText('{"user": "id", "author": "b*"}'));
  for (const odd of ['\u00e4rztin', 'a"b', '', '.'])
    t.ok(new Gate([], [new KeyNames([odd])]).mayHold(bytesOf({ a: 'x' })), 'these cannot be decided');
});

void t.test('long texts of signs take linear time', async (t) => {
  const times = 300_000;
  for (const piece of [
    '1 ',
    '00',
    'a@',
    '\\u0',
    '\\u005cu0',
    'eyJ',
    'a1',
    ':a',
    '::',
    'token ',
    'password',
    'password:',
    'pwd\\\\',
    'u_',
    'curl -u ',
    '//:',
  ])
    new Gate(FINDERS, [new KeyNames(['user_id'])]).mayHoldText(piece.repeat(times));
  t.pass('ends');
});
