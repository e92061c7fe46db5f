import t from 'tap';
import { ReadTurns, type Turn } from '../../src/storage/shared/read-turns.js';

interface NamedTurn extends Turn {
  readonly name: string;
}

function turn(share: number, name: string, isLong = false): NamedTurn {
  return { share, name, isLong };
}

/** Starts every read that may run. */
function begin(turns: ReadTurns<NamedTurn>): NamedTurn[] {
  const begun: NamedTurn[] = [];
  for (let next = turns.next(); next !== undefined; next = turns.next()) begun.push(next);
  return begun;
}

function names(turns: readonly NamedTurn[]): string[] {
  return turns.map(({ name }) => name);
}

/** Runs reads one after the other for their durations. @returns their order */
function runAll(turns: ReadTurns<NamedTurn>, ms: (turn: NamedTurn) => number): string[] {
  const order: string[] = [];
  let running = begin(turns);
  while (running.length > 0) {
    const [first, ...others] = running;
    if (first === undefined) break;
    order.push(first.name);
    turns.done(first, ms(first));
    running = [...others, ...begin(turns)];
  }
  return order;
}

void t.test('reserves the last connection for a user without one', async (t) => {
  const turns = new ReadTurns<NamedTurn>(4);
  for (let i = 0; i < 10; i++) turns.add(turn(1, `one ${i}`));
  t.same(names(begin(turns)), ['one 0', 'one 1', 'one 2']);
  turns.add(turn(2, 'two'));
  t.same(names(begin(turns)), ['two']);
  turns.add(turn(3, 'three'));
  t.same(begin(turns), []);
  t.match(turns, { running: 4, waiting: 8 });
});

void t.test('searches leave a connection for other reads and for searches of other users', async (t) => {
  const turns = new ReadTurns<NamedTurn>(4);
  for (let i = 0; i < 10; i++) turns.add(turn(1, `one ${i}`, true));
  t.same(names(begin(turns)), ['one 0', 'one 1']);
  for (let i = 0; i < 10; i++) turns.add(turn(2, `two ${i}`, true));
  t.same(names(begin(turns)), ['two 0']);
  turns.add(turn(3, 'search', true));
  t.same(begin(turns), []);
  turns.add(turn(3, 'look'));
  t.same(names(begin(turns)), ['look']);
});

void t.test('the smallest pools serve every kind of read', async (t) => {
  for (const size of [1, 2]) {
    const turns = new ReadTurns<NamedTurn>(size);
    turns.add(turn(1, 'search', true));
    turns.add(turn(1, 'look'));
    turns.add(turn(2, 'search of another', true));
    const all = runAll(turns, () => 1);
    t.same(all.sort(), ['look', 'search', 'search of another'], `pool of ${size}`);
    t.match(turns, { running: 0, waiting: 0 });
  }
});

void t.test('alternates users by the time their reads take', async (t) => {
  const turns = new ReadTurns<NamedTurn>(1);
  for (let i = 0; i < 4; i++) turns.add(turn(1, `slow ${i}`));
  for (let i = 0; i < 20; i++) turns.add(turn(2, `fast ${i}`));
  const order = runAll(turns, ({ share }) => (share === 1 ? 1000 : 10));
  t.equal(order[0], 'slow 0');
  t.equal(order.indexOf('slow 1'), 21, 'all fast reads came first');
});

void t.test('a returning user does not overtake all waiting reads', async (t) => {
  const turns = new ReadTurns<NamedTurn>(1);
  const ms = (): number => 1000;
  for (let i = 0; i < 5; i++) turns.add(turn(1, `one ${i}`));
  turns.add(turn(2, 'two'));
  const first = begin(turns)[0];
  if (first === undefined) throw new Error('nothing began');
  turns.done(first, 5000);
  for (let i = 0; i < 3; i++) turns.add(turn(3, `three ${i}`));
  const order = runAll(turns, ms);
  t.ok(order.indexOf('two') < order.indexOf('three 1'), order.join());
});

void t.test('a search waits for a few other reads of its user but not all', async (t) => {
  const turns = new ReadTurns<NamedTurn>(2);
  turns.add(turn(1, 'search', true));
  for (let i = 0; i < 30; i++) turns.add(turn(1, `look ${i}`));
  const order = runAll(turns, () => 1);
  t.equal(order.indexOf('search'), 8);
});
