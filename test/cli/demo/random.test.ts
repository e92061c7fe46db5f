import t from 'tap';
import { Random } from '../../../bench/random.js';
import { isUuid } from '../../../src/signal/ids.js';

function draw<T>(count: number, one: () => T): T[] {
  return Array.from({ length: count }, one);
}

void t.test('one key gives one sequence for good: ids that were sent must come again', async (t) => {
  const random = new Random('jackdaw');
  t.equal(random.uuid(), '24ba4f87-6e26-4b24-8d02-e2306168440f');
  t.equal(random.uint32(), 1344331890);
  t.not(new Random('jackdaw').uuid(), new Random('jackdaw ').uuid());
});

void t.test('values keep to their bounds and reach them', async (t) => {
  const random = new Random('bounds');
  t.same([...new Set(draw(300, () => random.integer(2, 5)))].sort(), [2, 3, 4, 5]);
  t.ok(draw(1000, () => random.unit()).every((value) => value >= 0 && value < 1));
  t.ok(draw(1000, () => random.logNormal(100, 0.5)).every((value) => value > 0 && Number.isFinite(value)));
  t.ok(draw(100, () => random.uuid()).every((id) => isUuid(id)));
});

void t.test('picks are spread, weights hold, samples are of different members', async (t) => {
  const random = new Random('picks');
  const heavy = draw(2000, () => random.weighted([1, 9], (weight) => weight)).filter((w) => w === 9).length;
  t.ok(heavy > 1700 && heavy < 1900);
  t.same(random.sample([1, 2, 3], 5).sort(), [1, 2, 3]);
  t.equal(new Set(random.sample([1, 2, 3, 4], 2)).size, 2);
  t.throws(() => random.pick([]), RangeError);
});
