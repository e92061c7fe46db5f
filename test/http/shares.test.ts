import fc from 'fast-check';
import t from 'tap';
import { NOBODY, Shares } from '../../src/http/shares.js';
import { holds } from '../support/property.js';

void t.test('a single owner gets half, and some remains for others', async (t) => {
  const shares = new Shares({ max: 120, share: 0.5 });
  const greedy = (owner: string): number => {
    while (shares.take(owner, 1));
    return shares.held(owner);
  };
  t.equal(greedy('a'), 60);
  t.equal(greedy('b'), 30);
  t.equal(greedy('c'), 15);
  t.equal(shares.used, 105);
  shares.give('a', 60);
  t.equal(greedy('b'), 52, 'returned amounts are redistributed');
  t.equal(greedy('a'), 26);
});

void t.test(
  'the first request of an owner takes any free amount, and a share of 1 takes everything',
  async (t) => {
    const shares = new Shares({ max: 100, share: 0.5 });
    t.ok(shares.take('a', 90));
    t.notOk(shares.take('a', 1));
    t.ok(shares.take('b', 10));
    t.notOk(shares.take('c', 1), 'nothing left');
    const all = new Shares({ max: 100, share: 1 });
    for (let i = 0; i < 100; i++) t.ok(all.take('a', 1));
    t.notOk(all.fits('a', 1));
    const nobody = new Shares({ max: 10, share: 0.5 });
    for (let i = 0; i < 10; i++) t.ok(nobody.take(NOBODY, 1), 'anonymous use is limited by the total only');
  },
);

void t.test('totals are right and no owner exceeds its share', async (t) => {
  const step = fc.record({
    owner: fc.constantFrom('a', 'b', 'c', 'd'),
    amount: fc.integer({ min: 1, max: 30 }),
  });
  holds(
    t,
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 9 }), (steps, tenths) => {
      const shares = new Shares({ max: 200, share: tenths / 10 });
      const held = new Map<string, number[]>();
      for (const { owner, amount } of steps) {
        const pieces = held.get(owner) ?? [];
        held.set(owner, pieces);
        const isFirst = pieces.length === 0;
        if (shares.take(owner, amount)) {
          pieces.push(amount);
          const sum = pieces.reduce((total, piece) => total + piece, 0);
          if (!isFirst && sum > 200 * (tenths / 10) + 1e-9) return false;
        } else {
          const given = pieces.pop();
          if (given !== undefined) shares.give(owner, given);
        }
        const sums = [...held].map(([name, all]) => [name, all.reduce((a, b) => a + b, 0)] as const);
        if (sums.some(([name, sum]) => shares.held(name) !== sum)) return false;
        if (shares.used !== sums.reduce((total, [, sum]) => total + sum, 0) || shares.used > 200)
          return false;
      }
      return true;
    }),
  );
});
