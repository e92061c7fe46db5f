import t from 'tap';
import { randomUUID } from 'node:crypto';
import {
  serializeHints,
  readHints,
  UnsentHints,
} from '../../../src/storage/control/postgres/unsent-hints.js';

const NONE = { topics: new Set<never>(), deliveries: [], lost: 0 };

void t.test('splits messages at the size limit and counts dropped ids', async (t) => {
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
    t.ok(words.length < 8000, 'within the limit of PostgreSQL');
    t.same(readHints(words.split(' ').slice(1)), hints);
    messages += 1;
    lost += hints.lost;
    changes.push(...hints.deliveries);
  }
  t.same(changes, ids.slice(0, 1000));
  t.same([messages, lost], [5, 300]);
});

void t.test('requeues unsent hints and ignores unknown words', async (t) => {
  const unsent = new UnsentHints();
  unsent.add({ topics: new Set(['keys']), deliveries: ['a'], lost: 2 });
  const hints = unsent.take();
  t.ok(unsent.isEmpty);
  unsent.add(hints);
  t.same(unsent.take(), hints);
  t.same(readHints(['keys', '#later', '!x', '']), { ...NONE, topics: new Set(['keys']) });
});
