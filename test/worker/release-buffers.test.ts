import t from 'tap';
import { releaseBuffers } from '../../src/worker/release-buffers.js';

void t.test('released buffers are empty and can be released again', async (t) => {
  const [one, other, kept] = [new ArrayBuffer(8), new ArrayBuffer(16), new ArrayBuffer(4)];
  releaseBuffers([one, other, one]);
  t.same(
    [one, other, kept].map(({ byteLength }) => byteLength),
    [0, 0, 4],
  );
  releaseBuffers([one, new ArrayBuffer(0)]);
  releaseBuffers([kept]);
  t.equal(kept.byteLength, 0);
});
