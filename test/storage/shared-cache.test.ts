import t from 'tap';
import { SharedCache } from '../../src/storage/shared/shared-cache.js';

function held(cache: SharedCache<number>, user: number): Record<string, number> {
  return Object.fromEntries(cache.ofUser(user));
}

void t.test('evicts the least recently used entry of the user over its share', async (t) => {
  const cache = new SharedCache<number>({ mostSize: 100, mostSizeOfUser: 10 });
  cache.put(1, 'a', 1, 4);
  cache.put(1, 'b', 2, 4);
  cache.put(2, 'a', 3, 9);
  t.equal(cache.get(1, 'a'), 1);
  cache.put(1, 'c', 4, 4);
  t.strictSame(held(cache, 1), { a: 1, c: 4 });
  t.strictSame(held(cache, 2), { a: 3 });
  cache.put(1, 'c', 5, 9);
  t.strictSame(held(cache, 1), { c: 5 }, 'the new size counts');
  t.equal(cache.size, 18);
  cache.put(1, 'c', 6, 11);
  t.strictSame(held(cache, 1), {}, 'too large to cache');
  t.equal(cache.get(1, 'c'), undefined);
  cache.delete(2, 'a');
  cache.delete(2, 'a');
  t.equal(cache.size, 0);
  t.ok(cache.isEmpty);
});

void t.test('evicts entries of the least recently active user when the cache is full', async (t) => {
  const cache = new SharedCache<number>({ mostSize: 20, mostSizeOfUser: 10, mostOfUser: 2 });
  cache.put(1, 'a', 1, 5);
  cache.put(2, 'a', 2, 5);
  cache.put(3, 'a', 3, 5);
  cache.get(1, 'a');
  cache.put(3, 'b', 4, 5);
  cache.put(4, 'a', 5, 5);
  t.strictSame(
    [1, 2, 3, 4].map((user) => held(cache, user)),
    [{ a: 1 }, {}, { a: 3, b: 4 }, { a: 5 }],
  );
  cache.put(3, 'c', 6, 1);
  t.strictSame(held(cache, 3), { b: 4, c: 6 }, 'at most two per user');
  cache.clear();
  t.equal(cache.size, 0);
  t.strictSame(held(cache, 3), {});
});
