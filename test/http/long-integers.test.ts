import fc from 'fast-check';
import t from 'tap';
import { quoteLongIntegers } from '../../src/http/long-integers.js';
import { holds } from '../support/property.js';

const quoted = (text: string): string => Buffer.from(quoteLongIntegers(Buffer.from(text))).toString();

void t.test('quotes integers that exceed a double', async (t) => {
  t.equal(quoted('[9007199254740993]'), '["9007199254740993"]');
  t.equal(
    quoted('{"a":-9223372036854775808,"b":[1, 18446744073709551615 ]}'),
    '{"a":"-9223372036854775808","b":[1, "18446744073709551615" ]}',
  );
  t.equal(quoted('9007199254740993'), '"9007199254740993"');
});

void t.test('keeps short numbers, non-integers and strings', async (t) => {
  for (const text of [
    '[999999999999999, -99999999999999]',
    '[0.12345678901234567, 12345678901234567.5, 1234567890123456789e2, 1E+16]',
    '{"9007199254740993":"9007199254740993"}',
    '"a \\" 9007199254740993 \\\\"',
    '"unfinished 9007199254740993',
    '',
  ])
    t.equal(quoted(text), text);
  const bytes = Buffer.from('[1]');
  t.equal(quoteLongIntegers(bytes), bytes, 'not copied');
});

void t.test('changes nothing but long integers in any JSON', async (t) => {
  const value = fc.jsonValue({ maxDepth: 4 });
  holds(
    t,
    fc.property(value, fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n }), (value, long) => {
      const text = JSON.stringify([value, null]).replace(/null\]$/, `${long.toString()}]`);
      const [read, integer] = JSON.parse(quoted(text)) as [unknown, unknown];
      const isSame = JSON.stringify(read) === JSON.stringify(JSON.parse(JSON.stringify(value)));
      return String(integer) === long.toString() && (isSame || /\d{16}/.test(JSON.stringify(value)));
    }),
  );
});
