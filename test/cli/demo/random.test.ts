import t from 'tap';
import { Random } from '../../../bench/random.js';

function draw<T>(count: number, one: () => T): T[] {
  return Array.from({ length: count }, one);
}

void t.test('a key always gives the same sequence, so that benchmarks send the same bodies', async (t) => {
  const random = new Random('jackdaw');
  for (let drawn = 0; drawn < 4; drawn += 1) random.uint32();
  t.equal(random.uint32(), 1344331890);
  t.not(new Random('jackdaw').uint32(), new Random('jackdaw ').uint32());
});

void t.test('values stay within their limits and reach them', async (t) => {
  const random = new Random('bounds');
  t.same([...new Set(draw(300, () => random.integer(2, 5)))].sort(), [2, 3, 4, 5]);
  t.ok(draw(1000, () => random.float()).every((value) => value >= 0 && value < 1));
});

void t.test('picks are distributed and follow weights', async (t) => {
  const random = new Random('picks');
  const heavy = draw(2000, () => random.weighted([1, 9], (weight) => weight)).filter((w) => w === 9).length;
  t.ok(heavy > 1700 && heavy < 1900);
  t.throws(() => random.pick([]), RangeError);
});
