import t from 'tap';
import { FairTasks } from '../../../src/pipeline/intake/fair-tasks.js';

const KIB = 1024;

void t.test('users take turns by bytes', async (t) => {
  const tasks = new FairTasks<{ readonly userId: string; readonly bytes: number }>();
  const add = (userId: string, bytes: number, count: number): void => {
    for (let i = 0; i < count; i++) tasks.add({ userId, bytes });
  };
  add('heavy', 256 * KIB, 3);
  add('light', 16 * KIB, 20);
  const served = Array.from({ length: 23 }, () => tasks.next()?.userId);
  t.equal(tasks.next(), undefined);
  t.equal(tasks.size, 0);
  const places = served.flatMap((userId, place) => (userId === 'heavy' ? place : []));
  // 16 light tasks have as many bytes as a heavy one.
  t.same(places, [12, 21, 22]);
});

void t.test('what a user saved is lost when its queue is empty', async (t) => {
  const tasks = new FairTasks<{ readonly userId: string; readonly bytes: number }>();
  for (let i = 0; i < 100; i++) {
    tasks.add({ userId: 'a', bytes: 1 });
    t.equal(tasks.next()?.bytes, 1);
  }
  tasks.add({ userId: 'a', bytes: 128 * KIB });
  tasks.add({ userId: 'b', bytes: 64 * KIB });
  t.equal(tasks.next()?.userId, 'b');
  t.same(tasks.clear(), [{ userId: 'a', bytes: 128 * KIB }]);
});
