import t from 'tap';
import { byteAt, doubleAt, intAt, itemAt, invariant, shortAt, wordAt } from '../../src/signal/checked.js';

void t.test('returns existing values', async (t) => {
  t.equal(itemAt(['a', ''], 1), '');
  t.equal(itemAt([null], 0), null);
  t.equal(wordAt(Uint32Array.of(7, 0xffff_ffff), 1), 0xffff_ffff);
  t.equal(intAt(Int32Array.of(-1, 0), 0), -1);
  t.ok(Number.isNaN(doubleAt(Float64Array.of(NaN), 0)));
  t.equal(shortAt(Uint16Array.of(0), 0), 0);
  t.equal(byteAt(Buffer.from('a'), 0), 0x61);
  t.equal(invariant(0, 'number'), 0);
  t.equal(invariant('', 'text'), '');
});

void t.test('throws for missing values and names them', async (t) => {
  for (const index of [-1, 2, 0.5, NaN]) {
    const error = new RangeError(`Index ${index} is out of range (length 2).`);
    t.throws(() => itemAt(['a', 'b'], index), error);
    t.throws(() => wordAt(new Uint32Array(2), index), error);
    t.throws(() => intAt(new Int32Array(2), index), error);
    t.throws(() => doubleAt(new Float64Array(2), index), error);
    t.throws(() => shortAt(new Uint16Array(2), index), error);
    t.throws(() => byteAt(new Uint8Array(2), index), error);
  }
  const agent = (): unknown => invariant<unknown>(undefined, 'agent of a run');
  t.throws(agent, new Error('Missing agent of a run; this is a bug.'));
  t.throws(() => invariant<unknown>(null, 'agent of a run'), /Missing agent of a run/);
});
