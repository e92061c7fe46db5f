import fc from 'fast-check';
import t from 'tap';
import type { JsonValue } from '../../src/signal/attributes.js';
import { parseJson, serializeJson } from '../../src/signal/json.js';
import { holds } from '../support/property.js';

/** The bytes of a text at the given offset from a word boundary. */
function bytesAt(lead: number, text: string): Uint8Array {
  const length = Buffer.byteLength(text);
  const bytes = Buffer.from(new ArrayBuffer(lead + length), lead);
  bytes.write(text);
  return bytes;
}

void t.test('integers keep their digits in any context', async (t) => {
  const digits = '12345678901234567890';
  const big = BigInt(digits);
  const cases: readonly (readonly [string, JsonValue])[] = [
    [digits, big],
    [`-${digits}`, -big],
    [` ${digits}\n`, big],
    [`[${digits},-${digits} , ${digits}]`, [big, -big, big]],
    [`{"a":${digits},"b" : ${digits}}`, { a: big, b: big }],
    [
      `{"__proto__":${digits}}`,
      JSON.parse('{"__proto__":0}', (key, value: JsonValue) => (key === '' ? value : big)) as JsonValue,
    ],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['9007199254740991', 9_007_199_254_740_991],
    ['-9007199254740992', -9_007_199_254_740_992n],
    ['1000000000000000', 1_000_000_000_000_000],
    // Non-integers are doubles.
    [`${digits}.0`, Number(digits)],
    [`${digits}e0`, Number(digits)],
    [`0.${digits}`, Number(`0.${digits}`)],
    [`1e-${'0'.repeat(20)}1`, 0.1],
    // Texts are unchanged.
    [`"${digits}"`, digits],
    [`["a,${digits}","\\\\",${digits},"\\"${digits}"]`, [`a,${digits}`, '\\', big, `"${digits}`]],
    [`{" ${digits}":"[${digits}]"}`, { [` ${digits}`]: `[${digits}]` }],
    [`["日本",${digits}]`, ['日本', big]],
  ];
  for (const [text, expected] of cases) {
    t.strictSame(parseJson(text), expected, text);
    for (const lead of [0, 1, 2, 3]) {
      t.strictSame(parseJson(text, bytesAt(lead, text)), expected, `${text} behind ${lead} bytes`);
    }
  }
  t.equal(
    serializeJson({ a: [big, { b: -big }, '~1~', 1.5] }),
    `{"a":[${digits},{"b":-${digits}},"~1~",1.5]}`,
  );
});

void t.test('rejects invalid JSON with the error of JSON.parse', async (t) => {
  const long = '1'.repeat(20);
  const texts = [
    `{${long}:1}`,
    `{${long} :1}`,
    `[0${long}]`,
    `[--${long}]`,
    `[1 ${long}]`,
    `[${long} ${long}]`,
    `[${long}`,
    `{"a":${long}x}`,
    `{"a":"${long}`,
    `[${long}]]`,
  ];
  for (const text of texts) {
    let message = '';
    try {
      JSON.parse(text);
    } catch (error) {
      ({ message } = error as SyntaxError);
    }
    t.throws(() => parseJson(text), { name: 'SyntaxError', message }, text);
  }
});

void t.test('keeps numbers that do not fit a double', async (t) => {
  t.strictSame(parseJson('9'.repeat(309)), BigInt('9'.repeat(309)));
  t.equal(parseJson('9'.repeat(310)), Infinity);
  let inside = parseJson(`${'['.repeat(5000)}12345678901234567890${']'.repeat(5000)}`);
  for (; Array.isArray(inside); [inside = null] = inside);
  t.equal(inside, 12_345_678_901_234_567_890n, 'at any depth');
});

void t.test('reads many long integers far from any string in linear time', async (t) => {
  const count = 400_000;
  // Would take minutes if each number searched for the next string: longer than the timeout.
  const list = parseJson(`[${'12345678901234567890,'.repeat(count)}"end"]`) as readonly JsonValue[];
  t.equal(list.length, count + 1);
  t.equal(list[count - 1], 12_345_678_901_234_567_890n);
});

void t.test('parsing reverses serializing', async (t) => {
  const integer = fc
    .bigInt(-(10n ** 40n), 10n ** 40n)
    .map((value) => (Number.isSafeInteger(Number(value)) ? Number(value) : value));
  const leaf = fc.oneof(
    integer,
    fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
    fc.bigInt(10n ** 15n, 10n ** 25n).map((value) => `,${value}`),
    fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
    fc.boolean(),
    fc.constant(null),
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
    ),
  }));
  holds(
    t,
    fc.property(value, fc.nat({ max: 4 }), (any, lead) => {
      const text = serializeJson(any);
      // Doubles with 16 or more digits before the point are written like integers.
      const again = lead === 4 ? parseJson(text) : parseJson(text, bytesAt(lead, text));
      return serializeJson(again) === text;
    }),
  );
});
