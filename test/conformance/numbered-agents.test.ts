import t, { type Test } from 'tap';
import { itemAt } from '../../src/signal/checked.js';
import { type NamedAgent, OTHER_AGENTS } from '../../src/storage/contracts/coordination.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const STORE = 'store';
const MOST = 1000;
const NOW = Date.UTC(2026, 10, 26, 12) * 1000;

function aRun(name: string, change: Partial<NamedAgent> = {}): NamedAgent {
  return { tenant: 1, name, at: NOW, comesIntoBeing: true, ...change };
}

function checkAgents(t: Test, open: OpenControl): void {
  void t.test('assigns permanent numbers and ids to names', async (t) => {
    const opened = await open(t);
    const { agents } = opened.store;
    const runs = [aRun('b'), aRun('a', { tenant: 2 }), aRun('a'), aRun('b', { at: NOW + 1 })];
    const numbered = await agents.number(STORE, runs, MOST);
    t.match(numbered, [
      { tenant: 1, number: 1, name: 'b', created_at: NOW },
      { tenant: 2, number: 2, name: 'a', created_at: NOW },
      { tenant: 1, number: 3, name: 'a', created_at: NOW },
      { tenant: 1, number: 1, name: 'b', created_at: NOW },
    ]);
    t.equal(new Set(numbered.map(({ id }) => id)).size, 3);
    for (const { id } of numbered) t.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
    t.ok(
      itemAt(numbered, 0).id.startsWith(
        Math.floor(NOW / 1000)
          .toString(16)
          .padStart(12, '0')
          .slice(0, 8),
      ),
    );
    t.strictSame(await agents.number(STORE, [], MOST), []);
    const elsewhere = await agents.number('other', [aRun('a')], MOST);
    t.match(elsewhere, [{ number: 4 }], 'another store has its own names');
    const again = (await opened.reopen()).agents;
    t.strictSame(await again.number(STORE, runs, MOST), numbered);
    t.strictSame(await again.ofTenant(STORE, 1), [numbered[0], numbered[2]], 'in number order');
    t.strictSame(await again.ofTenant(STORE, 3), []);
    t.match(await again.number(STORE, [aRun('c')], MOST), [{ number: 5 }]);
  });

  void t.test('creates an agent once, with the first run that certainly belongs to it', async (t) => {
    const { agents } = (await open(t)).store;
    const open1 = { comesIntoBeing: false };
    const [named] = await agents.number(STORE, [aRun('a', open1)], MOST);
    t.match(named, { number: 1, created_at: null });
    const both = await agents.number(
      STORE,
      [aRun('a', { ...open1, at: NOW + 1 }), aRun('a', { at: NOW + 2 }), aRun('a', { at: NOW + 1 })],
      MOST,
    );
    const created = { ...named, created_at: NOW + 2 };
    t.strictSame(both, [created, created, created]);
    t.strictSame(await agents.number(STORE, [aRun('a', { at: NOW })], MOST), [created]);
    t.strictSame(await agents.ofTenant(STORE, 1), [created]);
    const [late] = await agents.number(STORE, [aRun('b', open1), aRun('b', { at: NOW + 5 })], MOST);
    t.match(late, { number: 2, created_at: NOW + 5 }, 'also for a new one');
  });

  void t.test('names beyond the limit of a user become (other)', async (t) => {
    const { agents } = (await open(t)).store;
    const names = async (runs: readonly NamedAgent[], most: number) =>
      (await agents.number(STORE, runs, most)).map(({ name }) => name);
    const open1 = { comesIntoBeing: false };
    t.strictSame(await names([aRun('a'), aRun('b'), aRun('c', open1), aRun('a'), aRun('d')], 2), [
      ...['a', 'b', OTHER_AGENTS, 'a', OTHER_AGENTS],
    ]);
    const known = await agents.ofTenant(STORE, 1);
    t.match(known, [{ name: 'a' }, { name: 'b' }, { name: OTHER_AGENTS, number: 3, created_at: NOW }]);
    t.strictSame(await names([aRun('e'), aRun('b')], 2), [OTHER_AGENTS, 'b']);
    t.strictSame(await agents.ofTenant(STORE, 1), known, 'nothing was added');
    t.strictSame(
      await names([aRun('e', { tenant: 2 }), aRun('e')], 2),
      ['e', OTHER_AGENTS],
      'other users have their own limit',
    );
    t.strictSame(await names([aRun('e')], 3), ['e'], 'a higher limit allows more');
    t.strictSame(await names([aRun(OTHER_AGENTS, { tenant: 2 }), aRun('f', { tenant: 2 })], 2), [
      ...[OTHER_AGENTS, 'f'],
    ]);
    t.strictSame(await names([aRun('x', { tenant: 3 })], 0), [OTHER_AGENTS]);
  });

  void t.test('accepts any text as a name', async (t) => {
    const { agents } = (await open(t)).store;
    const long = 'n'.repeat(5000);
    const names = ['', ' ', 'a', 'A', 'a ', 'ä', 'a\0', '\0', '%', "'", '😀', long, `${long}x`];
    const runs = names.map((name) => aRun(name));
    const numbered = await agents.number(STORE, runs, MOST);
    t.strictSame(
      numbered.map(({ name }) => name),
      names,
    );
    t.equal(new Set(numbered.map(({ number }) => number)).size, names.length);
    t.strictSame(await agents.number(STORE, [...runs].reverse(), MOST), [...numbered].reverse());
    const [half, whole] = await agents.number(STORE, [aRun('half \uD800'), aRun('half \uFFFD')], MOST);
    t.strictSame(half, whole);
    t.match(await agents.number(STORE, [aRun('half \uD800')], MOST), [
      { number: half?.number, name: 'half \uFFFD' },
    ]);
  });

  void t.test('concurrent processes agree on names, and numbers are unique', async (t) => {
    const opened = await open(t);
    const stores = [opened.store.agents, (await opened.another()).agents];
    const tenants = [1, 2, 3];
    const most = 12;
    const answers = await Promise.all(
      Array.from({ length: 16 }, async (_, i) => {
        const runs = Array.from({ length: 20 }, (_, k) =>
          aRun(`agent ${String((k * 7 + i * 3) % 20)}`, { tenant: itemAt(tenants, (i + k) % 3) }),
        );
        const numbered = await itemAt(stores, i % 2).number(STORE, runs, most);
        return numbered.map((agent, k) => ({ agent, run: itemAt(runs, k) }));
      }),
    );
    const numbers = new Map<number, string>();
    for (const { agent, run } of answers.flat()) {
      const key = JSON.stringify(agent);
      if ((numbers.get(agent.number) ?? key) !== key)
        t.fail(`number ${String(agent.number)} is shared by two agents`);
      numbers.set(agent.number, key);
      if (agent.tenant !== run.tenant || ![run.name, OTHER_AGENTS].includes(agent.name))
        t.fail('not its own');
    }
    for (const tenant of tenants) {
      const all = await opened.store.agents.ofTenant(STORE, tenant);
      t.equal(all.length, most + 1, 'the limit plus (other)');
      for (const agent of all) t.equal(numbers.get(agent.number), JSON.stringify(agent));
    }
  });

  void t.test('numbers thousands of names in one group', async (t) => {
    const { agents } = (await open(t)).store;
    const runs = Array.from({ length: 6000 }, (_, i) => aRun(`agent ${String(i)}`, { tenant: i % 50 }));
    const numbered = await agents.number(STORE, runs, 10_000);
    t.strictSame(
      numbered.map(({ number }) => number),
      runs.map((_, i) => i + 1),
    );
    t.strictSame(await agents.number(STORE, runs, 10_000), numbered);
  });
}

await onEveryControl(t, checkAgents);
