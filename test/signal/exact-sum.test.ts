import fc from 'fast-check';
import t from 'tap';
import { ExactSum } from '../../src/signal/exact-sum.js';
import { holds } from '../support/property.js';

void t.test('sums are exact', async (t) => {
  holds(
    t,
    fc.property(fc.array(fc.maxSafeInteger()), (values) => {
      const sum = new ExactSum();
      for (const value of values) sum.add(value);
      return BigInt(sum.value) === values.reduce((total, value) => total + BigInt(value), 0n);
    }),
  );
  const sum = new ExactSum();
  for (let i = 0; i < 1025; i++) sum.add(2 ** 53 - 1);
  t.equal(sum.value, 1025n * (2n ** 53n - 1n));
  for (let i = 0; i < 1025; i++) sum.add(1 - 2 ** 53);
  t.equal(Number(sum.value), 0);
});
