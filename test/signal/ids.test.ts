import fc from 'fast-check';
import t from 'tap';
import { isUuid, UUID_PATTERN, uuidV7, uuidV7Time } from '../../src/signal/ids.js';
import { anyCharacter } from '../support/any-character.js';
import { holds } from '../support/property.js';

const PATTERN = new RegExp(UUID_PATTERN);
const GOOD = 'a287bb31-e317-4336-10d8-827617471140';

void t.test('accepts any 8-4-4-4-12 hex text as a UUID', async (t) => {
  t.ok(isUuid(GOOD));
  t.ok(isUuid(GOOD.toUpperCase()));
  t.ok(isUuid('00000000-0000-0000-0000-000000000000'));
  t.ok(isUuid('ffffffff-ffff-ffff-ffff-ffffffffffff'));
});

void t.test('rejects other texts', async (t) => {
  const cases = [
    '',
    GOOD.replaceAll('-', ''),
    `{${GOOD}}`,
    `urn:uuid:${GOOD}`,
    ` ${GOOD}`,
    `${GOOD}\n`,
    GOOD.slice(1),
    `${GOOD}0`,
    GOOD.replace('a', 'g'),
    GOOD.replace('a', '\u0430'),
    GOOD.replace('2', '２'),
    GOOD.replace('-', '_'),
    'a287bb3-1e317-4336-10d8-827617471140',
    '------------------------------------',
  ];
  for (const text of cases) t.notOk(isUuid(text), JSON.stringify(text));
});

void t.test('agrees with the published pattern, also with one character changed', async (t) => {
  holds(
    t,
    fc.property(
      fc.uuid(),
      fc.nat(35),
      fc.string({ unit: anyCharacter, minLength: 1, maxLength: 1 }),
      (id, at, put) => {
        const changed = id.slice(0, at) + put + id.slice(at + 1);
        return isUuid(id) && isUuid(changed) === PATTERN.test(changed);
      },
    ),
    { numRuns: 3000 },
  );
});

void t.test('generated ids are UUIDv7 that start with their time', async (t) => {
  holds(
    t,
    fc.property(fc.integer({ min: 0, max: 2 ** 42 }), fc.constantFrom(0, 0.25, 0.999), (ms, fraction) => {
      const id = uuidV7(ms + fraction);
      const hex = id.replaceAll('-', '');
      return (
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id) &&
        parseInt(hex.slice(0, 12), 16) === ms &&
        uuidV7Time(id) === ms
      );
    }),
  );
});

void t.test('ids of one millisecond are unique and sort before later ones', async (t) => {
  const ids = Array.from({ length: 10_000 }, () => uuidV7(1_780_000_000_000));
  t.equal(new Set(ids).size, ids.length);
  t.ok(uuidV7(1_780_000_000_000) < uuidV7(1_780_000_000_001));
});
