import fc from 'fast-check';
import t from 'tap';
import { foldedName } from '../../src/signal/folded-name.js';
import { anyCharacter } from '../support/any-character.js';
import { holds } from '../support/property.js';

const UUID = 'bd8e5fbe-ad60-4167-80ed-e434c84a0073';
const SHA = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b';

/** A name with its folded form where names contain numbers and where they do not (equal if omitted). */
const NAMES: readonly (readonly [name: string, withNumbers: string, without?: string])[] = [
  ['', ''],
  ['rerank', 'rerank'],
  ['StrOutputParser', 'StrOutputParser'],
  ['Größe', 'Größe'],

  ['Step 1', 'Step <n>', 'Step 1'],
  ['Step 12 of 40', 'Step <n> of <n>', 'Step 12 of 40'],
  ['iteration-3', 'iteration-<n>', 'iteration-3'],
  ['GET /users/17/orders', 'GET /users/<n>/orders', 'GET /users/17/orders'],
  ['1.5', '<n>.<n>', '1.5'],
  ['batch 2026-11-22T10:00:00Z', 'batch <n>-<n>-<n>:<n>:<n>', 'batch 2026-11-22T10:00:00Z'],
  ['batch_20261122T100000Z', 'batch_<n>', 'batch_20261122T100000Z'],
  ['job17345', 'job<n>', 'job17345'],

  // Numbers that belong to a word.
  ['s3 upload', 's3 upload'],
  ['k8s', 'k8s'],
  ['sha256', 'sha256'],
  ['gpt-4o-mini', 'gpt-4o-mini'],
  ['v2', 'v2'],
  ['ISO8601', 'ISO8601'],

  [`group_topic_${UUID}`, 'group_topic_<id>', 'group_topic_<id>'],
  [`group_topic_${UUID.replaceAll('-', '_')}`, 'group_topic_<id>', 'group_topic_<id>'],
  [`x ${UUID.toUpperCase()}.(${UUID})-T`, 'x <id>.(<id>)-T', 'x <id>.(<id>)-T'],
  [UUID, '<id>', '<id>'],
  [`${UUID}0`, '<id>-ad60-<n>-80ed-<id>', 'bd8e5fbe-ad60-4167-80ed-e434c84a00730'],
  [SHA, '<id>', '<id>'],
  ['pod-7d9c6f5b', 'pod-<id>', 'pod-7d9c6f5b'],
  ['commit 7d9c6f5b81e2a4c0', 'commit <id>', 'commit <id>'],
  ['chatcmpl-BqZ1x9Kd03LmQp7TzVw2', 'chatcmpl-<id>', 'chatcmpl-<id>'],
  ['01ARZ3NDEKTSV4RRFFQ69G5FAV', '<id>', '<id>'],

  // Hexadecimal and long words.
  ['deadbeef', 'deadbeef'],
  ['facade', 'facade'],
  ['RoundRobinGroupChatManager2', 'RoundRobinGroupChatManager2'],
];

for (const [name, withNumbers, without = name] of NAMES)
  void t.test(name, async (t) => {
    t.equal(foldedName(name, true), withNumbers);
    t.equal(foldedName(name, false), without, 'numbers stay');
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

void t.test('folding removes UUIDs and numbers from any name', async (t) => {
  holds(
    t,
    fc.property(name, (name) => {
      const folded = foldedName(name, true);
      return (
        folded.isWellFormed() === name.isWellFormed() &&
        folded.length <= 3 * name.length &&
        !/(?<![a-z0-9\u0080-\uffff])[0-9]+(?![a-z0-9\u0080-\uffff])/i.test(folded) &&
        !/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/.test(folded)
      );
    }),
  );
});

void t.test('names that differ only in ids and numbers fold to one', async (t) => {
  holds(
    t,
    fc.property(fc.uuid(), fc.nat(), fc.uuid(), fc.nat(), (id, number, otherId, otherNumber) => {
      const nameOf = (id: string, number: number) => `run ${number} of topic_${id}`;
      return foldedName(nameOf(id, number), true) === foldedName(nameOf(otherId, otherNumber), true);
    }),
  );
});
