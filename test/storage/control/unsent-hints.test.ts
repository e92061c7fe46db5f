import t from 'tap';
import { randomUUID } from 'node:crypto';
import {
  serializeHints,
  readHints,
  UnsentHints,
} from '../../../src/storage/control/postgres/unsent-hints.js';

const NONE = { topics: new Set<never>(), deliveries: [], lost: 0 };

void t.test('messages fit the size limit, and surplus ids are counted', async (t) => {
  const unsent = new UnsentHints();
  t.ok(unsent.isEmpty);
  const ids = Array.from({ length: 1300 }, () => randomUUID());
  unsent.add({ topics: new Set(['keys', 'events']), deliveries: ids, lost: 0 });
  unsent.add({ ...NONE, deliveries: ids.slice(0, 10) });
  let [messages, lost] = [0, 0];
  const changes: string[] = [];
  while (!unsent.isEmpty) {
    const hints = unsent.take();
    const words = [randomUUID(), ...serializeHints(hints)].join(' ');
    t.ok(words.length < 8000, 'as PostgreSQL takes it');
    t.same(readHints(words.split(' ').slice(1)), hints);
    messages += 1;
    lost += hints.lost;
    changes.push(...hints.deliveries);
  }
  t.same(changes, ids.slice(0, 1000));
  t.same([messages, lost], [5, 300]);
});

void t.test(
  'what could not be sent is sent later, and words of another version are passed over',
  async (t) => {
    const unsent = new UnsentHints();
    unsent.add({ topics: new Set(['keys']), deliveries: ['a'], lost: 2 });
    const hints = unsent.take();
    t.ok(unsent.isEmpty);
    unsent.add(hints);
    t.same(unsent.take(), hints);
    t.same(readHints(['keys', '#later', '!x', '']), { ...NONE, topics: new Set(['keys']) });
  },
);
