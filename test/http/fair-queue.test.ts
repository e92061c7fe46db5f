import t from 'tap';
import { FairQueue } from '../../src/http/fair-queue.js';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

void t.test('runs deferred work in order, a little per turn of the event loop', async (t) => {
  const queue = new FairQueue(16);
  const done: number[] = [];
  for (let task = 0; task < 40; task++) queue.add('a', () => done.push(task));
  t.same(done, [], 'nothing immediately');
  await turn();
  t.equal(done.length, 16);
  queue.add('a', () => {
    done.push(40);
    queue.add('a', () => done.push(41));
  });
  await turn();
  t.equal(done.length, 32);
  await turn();
  t.equal(done.length, 41);
  await turn();
  t.same(
    done,
    Array.from({ length: 42 }, (_, task) => task),
  );
  await turn();
  t.equal(done.length, 42, 'each once');
});
