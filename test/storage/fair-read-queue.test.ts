import t from 'tap';
import { FairReadQueue, type QueuedRead } from '../../src/storage/shared/fair-read-queue.js';

interface NamedRead extends QueuedRead {
  readonly name: string;
}

function read(share: number, name: string, isLong = false): NamedRead {
  return { share, name, isLong };
}

/** Starts every read that may run. */
function begin(queue: FairReadQueue<NamedRead>): NamedRead[] {
  const begun: NamedRead[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) begun.push(next);
  return begun;
}

function names(queue: readonly NamedRead[]): string[] {
  return queue.map(({ name }) => name);
}

/** Runs reads one after the other for their durations. @returns their order */
function runAll(queue: FairReadQueue<NamedRead>, ms: (read: NamedRead) => number): string[] {
  const order: string[] = [];
  let running = begin(queue);
  while (running.length > 0) {
    const [first, ...others] = running;
    if (first === undefined) break;
    order.push(first.name);
    queue.done(first, ms(first));
    running = [...others, ...begin(queue)];
  }
  return order;
}

void t.test('reserves the last connection for a user without one', async (t) => {
  const queue = new FairReadQueue<NamedRead>(4);
  for (let i = 0; i < 10; i++) queue.add(read(1, `one ${i}`));
  t.same(names(begin(queue)), ['one 0', 'one 1', 'one 2']);
  queue.add(read(2, 'two'));
  t.same(names(begin(queue)), ['two']);
  queue.add(read(3, 'three'));
  t.same(begin(queue), []);
  t.match(queue, { running: 4, waiting: 8 });
});

void t.test('searches leave a connection for other reads and for searches of other users', async (t) => {
  const queue = new FairReadQueue<NamedRead>(4);
  for (let i = 0; i < 10; i++) queue.add(read(1, `one ${i}`, true));
  t.same(names(begin(queue)), ['one 0', 'one 1']);
  for (let i = 0; i < 10; i++) queue.add(read(2, `two ${i}`, true));
  t.same(names(begin(queue)), ['two 0']);
  queue.add(read(3, 'search', true));
  t.same(begin(queue), []);
  queue.add(read(3, 'look'));
  t.same(names(begin(queue)), ['look']);
});

void t.test('the smallest pools serve every kind of read', async (t) => {
  for (const size of [1, 2]) {
    const queue = new FairReadQueue<NamedRead>(size);
    queue.add(read(1, 'search', true));
    queue.add(read(1, 'look'));
    queue.add(read(2, 'search of another', true));
    const all = runAll(queue, () => 1);
    t.same(all.sort(), ['look', 'search', 'search of another'], `pool of ${size}`);
    t.match(queue, { running: 0, waiting: 0 });
  }
});

void t.test('alternates users by the time their reads take', async (t) => {
  const queue = new FairReadQueue<NamedRead>(1);
  for (let i = 0; i < 4; i++) queue.add(read(1, `slow ${i}`));
  for (let i = 0; i < 20; i++) queue.add(read(2, `fast ${i}`));
  const order = runAll(queue, ({ share }) => (share === 1 ? 1000 : 10));
  t.equal(order[0], 'slow 0');
  t.equal(order.indexOf('slow 1'), 21, 'all fast reads came first');
});

void t.test('a returning user does not overtake all waiting reads', async (t) => {
  const queue = new FairReadQueue<NamedRead>(1);
  const ms = (): number => 1000;
  for (let i = 0; i < 5; i++) queue.add(read(1, `one ${i}`));
  queue.add(read(2, 'two'));
  const first = begin(queue)[0];
  if (first === undefined) throw new Error('nothing began');
  queue.done(first, 5000);
  for (let i = 0; i < 3; i++) queue.add(read(3, `three ${i}`));
  const order = runAll(queue, ms);
  t.ok(order.indexOf('two') < order.indexOf('three 1'), order.join());
});

void t.test('a search waits for a few other reads of its user but not all', async (t) => {
  const queue = new FairReadQueue<NamedRead>(2);
  queue.add(read(1, 'search', true));
  for (let i = 0; i < 30; i++) queue.add(read(1, `look ${i}`));
  const order = runAll(queue, () => 1);
  t.equal(order.indexOf('search'), 8);
});
