import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { Type } from 'typebox';
import type { FieldError } from '../../src/component/http.js';
import { queryOf } from '../../src/http/operation-call.js';
import { readQuery } from '../../src/http/query-values.js';
import { holds } from '../support/property.js';

const schema = Type.Object({ at: Type.String({ format: 'date-time' }), count: Type.Number() });

function read(query: Record<string, string>): Record<string, unknown> & { readonly errors: FieldError[] } {
  const errors: FieldError[] = [];
  return { ...readQuery(schema, new URLSearchParams(query), errors), errors };
}

void t.test('restores the + of an offset sent as a space and keeps other spaces', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['2026-11-03T08:15:30 01:00', '2026-11-03T08:15:30+01:00'],
    ['2026-11-03T08:15:30.123456789 01:00', '2026-11-03T08:15:30.123456789+01:00'],
    ['2026-11-03T08:15 0100', '2026-11-03T08:15+0100'],
    ['2026-11-03 08:15 01', '2026-11-03 08:15+01'],
    ['2026-11-03 08:15:30', '2026-11-03 08:15:30'],
    ['2026-11-03 08:15', '2026-11-03 08:15'],
    ['2026-11-03T08:15:30+01:00', '2026-11-03T08:15:30+01:00'],
    ['2026-11-03T08:15:30Z', '2026-11-03T08:15:30Z'],
    ['', ''],
  ];
  for (const [given, expected] of cases) t.equal(read({ at: given })['at'], expected, given);
});

void t.test('reads numbers as they are written', async (t) => {
  const numbers = fc.tuple(
    fc.constantFrom('', '+', '-'),
    fc.constantFrom('0', '12', '12.', '12.5', '.5', '.', ''),
    fc.constantFrom('', 'e3', 'E-12', 'e+123', 'e', 'e1234', ' '),
  );
  holds(
    t,
    fc.property(numbers, ([sign, digits, exponent]) => {
      const text = sign + digits + exponent;
      const isNumber = /\d/.test(digits) && /^(?:e[+-]?\d{1,3})?$/i.test(exponent);
      const value = read({ count: text });
      return isNumber ? value.errors.length === 0 : value.errors[0]?.message === 'must be a number';
    }),
  );
});

void t.test('reads overlong values in linear time', async (t) => {
  // With quadratic time this would not finish.
  const length = 4 * 1024 * 1024;
  const spaces = `2026-11-03T08:${' '.repeat(length)}`;
  t.equal(read({ at: spaces })['at'], spaces);
  const offsets = `2026-11-03T08:${' 01'.repeat(length / 3)}x`;
  t.equal(read({ at: offsets })['at'], offsets);
  for (const digits of ['1'.repeat(length), `.${'1'.repeat(length)}`, `1.${'1'.repeat(length)}`]) {
    t.same(read({ count: `${digits}x` }).errors, [{ field: 'count', message: 'must be a number' }]);
  }
});

void t.test('writes the parameters of a call as they are read', async (t) => {
  const wide = Type.Object({
    score: Type.Array(Type.String()),
    'metadata.KEY': Type.Record(Type.String(), Type.String(), { prefix: 'metadata.' }),
    count: Type.Number(),
    previews: Type.Boolean(),
  });
  const texts = fc.string({ unit: 'grapheme' }).map((text) => text.toWellFormed());
  const odd = fc.constantFrom('$&', '$1', "$'", 'a.KEY', 'plan!', '=&+ %', '__proto__x');
  holds(
    t,
    fc.property(
      fc.record(
        {
          score: fc.array(fc.oneof(texts, odd), { minLength: 1 }),
          'metadata.KEY': fc.dictionary(fc.oneof(odd, texts), texts, { minKeys: 1, noNullPrototype: true }),
          count: fc.nat(),
          previews: fc.boolean(),
        },
        { noNullPrototype: true },
      ),
      (values) => isDeepStrictEqual(readQuery(wide, queryOf({ ...values, absent: undefined }), []), values),
    ),
  );
});
