import fc from 'fast-check';
import t from 'tap';
import { foldedName } from '../../src/signal/folded-name.js';
import { anyCharacter } from '../support/any-character.js';
import { holds } from '../support/property.js';

const UUID = 'bd8e5fbe-ad60-4167-80ed-e434c84a0073';
const SHA = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b';

/** Names with their folded forms; equal if omitted. */
const NAMES: readonly (readonly [name: string, folded?: string])[] = [
  [''],
  ['rerank'],
  ['StrOutputParser'],
  ['Größe'],

  // Short numbers tell things apart.
  ['Step 1'],
  ['Step 12 of 40'],
  ['shard-2'],
  ['custom-7'],
  ['GET /users/17/orders'],
  ['postgresql/shop_123'],
  ['1.5'],
  ['10.0.0.7'],
  ['2001:db8::a'],
  ['::1'],
  ['s3 upload'],
  ['k8s'],
  ['sha256'],
  ['gpt-4o-mini'],
  ['v2'],

  // Long ones do not.
  ['GET /users/17345/orders', 'GET /users/<n>/orders'],
  ['orders-2026', 'orders-<n>'],
  ['job17345', 'job<n>'],
  ['batch 2026-11-22', 'batch <n>'],
  ['batch 2026-11-22T10:00:00Z', 'batch <n>'],
  ['batch_20261122T100000Z', 'batch_<n>'],
  ['report 2026-11-22 (final)', 'report <n> (final)'],

  [`group_topic_${UUID}`, 'group_topic_<id>'],
  [`group_topic_${UUID.replaceAll('-', '_')}`, 'group_topic_<id>'],
  [`x ${UUID.toUpperCase()}.(${UUID})-T`, 'x <id>.(<id>)-T'],
  [UUID, '<id>'],
  [SHA, '<id>'],
  ['pod-7d9c6f5b', 'pod-<id>'],
  ['commit 7d9c6f5b81e2a4c0', 'commit <id>'],
  ['chatcmpl-BqZ1x9Kd03LmQp7TzVw2', 'chatcmpl-<id>'],
  ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '<id>'],

  // Hexadecimal and long words.
  ['deadbeef'],
  ['facade'],
  ['RoundRobinGroupChatManager2'],
];

for (const [name, folded = name] of NAMES)
  void t.test(name, async (t) => {
    t.equal(foldedName(name), folded);
  });

const name = fc
  .array(
    fc.oneof(
      fc.constantFrom(UUID, SHA, 'a1', '12345', '7', '<n>', '<id>', '-', '_', ' ', 'é', 'step'),
      fc.string({ unit: anyCharacter, maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(...Array.from('0123456789abcdefTZ-_')), maxLength: 40 }),
    ),
    { maxLength: 12 },
  )
  .map((parts) => parts.join(''));

void t.test('folding removes UUIDs and long numbers from any name', async (t) => {
  holds(
    t,
    fc.property(name, (name) => {
      const folded = foldedName(name);
      return (
        folded.isWellFormed() === name.isWellFormed() &&
        folded.length <= 3 * name.length &&
        !/(?<![a-z0-9\u0080-\uffff])[0-9]{4,}(?![a-z0-9\u0080-\uffff])/i.test(folded) &&
        !/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/.test(folded)
      );
    }),
  );
});

const longNumber = fc.integer({ min: 1000 });

void t.test('names that differ only in ids and long numbers fold to one', async (t) => {
  holds(
    t,
    fc.property(fc.uuid(), longNumber, fc.uuid(), longNumber, (id, number, otherId, otherNumber) => {
      const nameOf = (id: string, number: number) => `run ${number} of topic_${id}`;
      return foldedName(nameOf(id, number)) === foldedName(nameOf(otherId, otherNumber));
    }),
  );
});
