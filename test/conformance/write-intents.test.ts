import t, { type Test } from 'tap';
import { itemAt, invariant } from '../../src/signal/checked.js';
import { dayOf, monthOf } from '../../src/storage/contracts/telemetry-writer.js';
import type {
  Charge,
  NewWrite,
  OpenWrite,
  WriteIntentLog,
} from '../../src/storage/contracts/coordination.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const LONG = 600_000;
const SHORT = 50;
const STORE = 'store';
const NOW = Date.UTC(2026, 10, 26, 12) * 1000;
const TRACE = { tenant: 1, traceId: '00000000-0000-0000-0000-00000000000a' };

function aCharge(change: Partial<Charge> = {}): Charge {
  return { tenant: 1, at: NOW, items: 1, isExact: true, limit: null, ...change };
}

function aWrite(change: Partial<NewWrite> = {}): NewWrite {
  return { store: STORE, owner: 'a', leaseMs: LONG, traces: [TRACE], charges: [], ...change };
}

async function begin(book: WriteIntentLog, change: Partial<NewWrite> = {}): Promise<OpenWrite> {
  return invariant((await book.begin(aWrite(change))).write, 'write');
}

async function used(book: WriteIntentLog, tenant = 1, at = NOW): Promise<number> {
  return (await book.months(STORE, tenant, [monthOf(at)]))[0]?.items ?? 0;
}

function checkWrites(t: Test, open: OpenControl): void {
  void t.test(
    'a write is recorded, takes fences and ends; numbers and fences grow over restarts',
    async (t) => {
      const opened = await open(t);
      const { writes } = opened.store;
      const one = await begin(writes);
      const two = await begin(writes, { owner: 'b' });
      t.ok(two.number > one.number);
      t.strictSame(
        await writes.firstFences(STORE, [one.number, two.number, 99]),
        firsts(one, null, two, null),
      );
      t.strictSame((await writes.openWrites(STORE)).toSorted(), [one.number, two.number].toSorted());
      t.strictSame(await writes.openWrites('other'), []);
      const first = invariant(await writes.fence(two), 'fence');
      const second = invariant(await writes.fence(one), 'fence');
      const third = invariant(await writes.fence(two), 'fence');
      t.ok(first < second && second < third);
      const known = firsts(one, second, two, first);
      t.strictSame(await writes.firstFences(STORE, [one.number, two.number]), known);
      t.strictSame(await writes.firstFences('other', [one.number, two.number]), new Map());
      t.strictSame(await writes.firstFences(STORE, []), new Map());
      t.strictSame(await writes.finish(one, []), []);
      t.strictSame(await writes.openWrites(STORE), [two.number]);
      t.equal(await writes.fence(one), null, 'it has ended');
      t.notOk(await writes.renew(one, LONG));
      t.equal(await writes.finish(one, []), null);
      const again = (await opened.reopen()).writes;
      t.strictSame(await again.firstFences(STORE, [one.number, two.number]), known);
      t.ok((await begin(again)).number > two.number);
      t.ok(invariant(await again.fence(two), 'fence') > third);
      t.strictSame(await again.finish(two, []), []);
    },
  );

  void t.test('a named batch is written once, even if begun again', async (t) => {
    const opened = await open(t);
    const { writes } = opened.store;
    const batch = { tenant: 1, name: '00000000-0000-4000-8000-0000000000aa' };
    const charges = [aCharge({ items: 5 })];
    const asked = async (change: Partial<NewWrite> = {}, book: WriteIntentLog = writes) => {
      const { write, batch: standing } = await book.begin(aWrite({ batch, charges, traces: [], ...change }));
      return { write, ...invariant(standing, 'what is known of the batch') };
    };
    const first = await asked();
    t.match(first, { write: { owner: 'a' }, as: 'new' });
    t.strictSame(await asked(), { write: null, as: 'under_way', refused: [] });
    t.match(await asked({ batch: { ...batch, tenant: 2 } }), { as: 'new' }, 'batch names are per user');
    t.match(await asked({ store: 'other' }), { as: 'new' });
    // It fails: whether any of it was stored is unknown.
    await writes.finish(invariant(first.write, 'write'), []);
    t.equal(await used(writes), 0);
    const second = await asked({ leaseMs: SHORT });
    t.equal(second.as, 'begun');
    await opened.pass(SHORT);
    const third = await asked();
    t.equal(third.as, 'begun', 'its process abandoned it');
    const settled = [{ tenant: 1, at: NOW, items: 3 }];
    t.equal(await writes.finish(invariant(second.write, 'write'), settled, { ...batch, refused: [] }), null);
    await writes.finish(invariant(third.write, 'write'), settled, { ...batch, refused: [1, 4] });
    t.strictSame(await asked(), { write: null, as: 'written', refused: [1, 4] });
    const again = (await opened.reopen()).writes;
    t.strictSame(await asked({}, again), { write: null, as: 'written', refused: [1, 4] });
    t.equal(await used(again), 3);
    // A refused charge leaves no record of the batch.
    const refused = { batch: { ...batch, name: '00000000-0000-4000-8000-0000000000bb' } };
    const tooMuch = { ...refused, charges: [aCharge({ items: 50, limit: 1 })] };
    t.match(await asked(tooMuch, again), { write: null, as: 'new' });
    t.match(await asked(refused, again), { as: 'new' });
    t.equal(await again.forgetBatches(STORE, LONG, 10), 0);
    t.equal(await again.forgetBatches(STORE, LONG, 1), 1, 'all but the newest of a user');
    t.equal(await again.forgetBatches(STORE, -LONG, 10), 2);
    t.equal((await asked({}, again)).as, 'new');
  });

  void t.test('checks charges by their maximum cost and returns the unused part', async (t) => {
    const { writes } = (await open(t)).store;
    const limit = 10;
    const charge = (items: number, isExact: boolean) => ({ charges: [aCharge({ items, isExact, limit })] });
    const as = async (items: number, isExact: boolean) => {
      const { write, charged } = await writes.begin(aWrite(charge(items, isExact)));
      if (write !== null) throw new Error('it was taken');
      return itemAt(charged, 0);
    };
    const one = await begin(writes, charge(6, false));
    t.strictSame(await as(5, false), { as: 'inexact', used: 0 });
    t.strictSame(await as(5, true), { as: 'waits', used: 0 }, 'the other write may turn out to be a repeat');
    t.strictSame(await as(11, true), { as: 'exceeds', used: 0 });
    t.strictSame(await as(11, false), { as: 'inexact', used: 0 });
    const full = await begin(writes, charge(4, true));
    t.strictSame(await as(1, true), { as: 'waits', used: 0 });
    t.strictSame(await writes.finish(one, [{ tenant: 1, at: NOW, items: 3 }]), [3]);
    t.strictSame(await as(4, true), { as: 'waits', used: 3 });
    t.strictSame(await as(8, true), { as: 'exceeds', used: 3 });
    t.strictSame(await writes.finish(full, []), [3], 'all of it was a repeat');
    const rest = await begin(writes, charge(7, true));
    t.strictSame(await writes.finish(rest, [{ tenant: 1, at: NOW, items: 7 }]), [10]);
    t.strictSame(await as(1, true), { as: 'exceeds', used: 10 });
    t.strictSame(await as(1, false), { as: 'inexact', used: 10 });
    const repeat = await writes.begin(aWrite(charge(0, true)));
    t.strictSame(
      repeat.charged,
      [{ as: 'taken', used: 10 }],
      'a charge without new items is always accepted',
    );
    const lower = await writes.begin(aWrite({ charges: [aCharge({ items: 0, limit: 5 })] }));
    t.strictSame(lower.charged, [{ as: 'taken', used: 10 }]);
    const free = await writes.begin(aWrite({ charges: [aCharge({ items: 1000 })] }));
    t.strictSame(free.charged, [{ as: 'taken', used: 10 }], 'without a limit');
    t.equal(await used(writes), 10);
  });

  void t.test('checks the charges of one write in order, by user and month', async (t) => {
    const { writes } = (await open(t)).store;
    const later = Date.UTC(2026, 11, 1) * 1000;
    const { write, charged } = await writes.begin(
      aWrite({
        charges: [
          aCharge({ items: 6, limit: 10 }),
          aCharge({ items: 6, limit: 10, isExact: false }),
          aCharge({ items: 5, limit: 10 }),
          aCharge({ tenant: 2, items: 6, limit: 10 }),
          aCharge({ items: 10, limit: 10, at: later }),
          aCharge({ items: 4, limit: 10 }),
          aCharge({ items: 11, limit: 10 }),
        ],
      }),
    );
    t.strictSame(
      charged.map((one) => one.as),
      ['taken', 'inexact', 'waits', 'taken', 'taken', 'taken', 'exceeds'],
    );
    const items = [
      { tenant: 1, at: NOW, items: 7 },
      { tenant: 2, at: NOW, items: 1 },
      { tenant: 1, at: later, items: 9 },
    ];
    t.strictSame(
      await writes.finish(invariant(write, 'write'), items),
      [7, 1, 9, 7],
      'of the accepted charges',
    );
    const [month, next] = [monthOf(NOW), monthOf(later)];
    t.strictSame(await writes.months(STORE, 1, [next, month, month - 1]), [
      { period: month, items: 7 },
      { period: next, items: 9 },
    ]);
    const fits = await writes.begin(aWrite({ charges: [aCharge({ items: 3, limit: 10 })] }));
    t.strictSame(fits.charged, [{ as: 'taken', used: 7 }], 'refused charges do not block others');
  });

  void t.test('a write without accepted charges leaves nothing behind', async (t) => {
    const opened = await open(t);
    const { writes } = opened.store;
    const charges = [aCharge({ items: 2, limit: 1 }), aCharge({ tenant: 2, items: 2, limit: 1 })];
    t.strictSame(await writes.begin(aWrite({ leaseMs: SHORT, charges })), {
      write: null,
      batch: null,
      charged: [
        { as: 'exceeds', used: 0 },
        { as: 'exceeds', used: 0 },
      ],
    });
    await opened.pass(SHORT);
    t.strictSame(await writes.takeOver(STORE, 'b', LONG, 10), []);
    const fits = await writes.begin(aWrite({ charges: [aCharge({ items: 1, limit: 1 })] }));
    t.strictSame(fits.charged, [{ as: 'taken', used: 0 }]);
  });

  void t.test('counts items by month and day, per user and store', async (t) => {
    const opened = await open(t);
    const { writes } = opened.store;
    const night = Date.UTC(2026, 10, 30, 23, 59, 59, 999) * 1000 + 999;
    const times = [NOW, NOW + 1, night, night + 1];
    for (const [i, at] of times.entries()) {
      const write = await begin(writes, { charges: [aCharge({ at, items: 100 })] });
      await writes.finish(write, [{ tenant: 1, at, items: 10 ** i }]);
    }
    const nothing = await begin(writes, { charges: [aCharge({ at: NOW - 86_400_000_000 })] });
    await writes.finish(nothing, [{ tenant: 1, at: NOW - 86_400_000_000, items: 0 }]);
    const months = [monthOf(NOW), monthOf(night + 1)];
    const days = [dayOf(NOW), dayOf(night), dayOf(night + 1)];
    const check = async (book: WriteIntentLog) => {
      t.strictSame(
        (await book.months(STORE, 1, months)).map(({ items }) => items),
        [111, 1000],
      );
      t.strictSame(await book.days(STORE, 1, dayOf(NOW) - 5, dayOf(night) + 5), [
        { period: days[0], items: 11 },
        { period: days[1], items: 100 },
        { period: days[2], items: 1000 },
      ]);
      t.strictSame(await book.days(STORE, 1, itemAt(days, 1), itemAt(days, 1)), [
        { period: days[1], items: 100 },
      ]);
      t.strictSame(await book.months(STORE, 2, months), []);
      t.strictSame(await book.months('other', 1, months), []);
      t.strictSame(await book.days('other', 1, 0, 1_000_000), []);
      t.strictSame(await book.months(STORE, 1, []), []);
    };
    await check(writes);
    await check((await opened.reopen()).writes);
  });

  void t.test('an abandoned write is taken over and its owner loses access', async (t) => {
    const opened = await open(t);
    const [one, two] = [opened.store.writes, (await opened.another()).writes];
    const traces = [TRACE, { ...TRACE, tenant: 2 }, TRACE, { tenant: 2, traceId: 'b' }];
    const charges = [
      aCharge({ items: 3, limit: 10, isExact: false }),
      aCharge({ items: 20, limit: 10 }),
      aCharge({ tenant: 2, at: NOW + 1 }),
    ];
    const left = await begin(one, { leaseMs: SHORT, traces, charges });
    const held = await begin(one, { leaseMs: SHORT });
    t.ok(await one.renew(held, LONG));
    const first = invariant(await one.fence(left), 'fence');
    const elsewhere = await begin(one, { store: 'other', leaseMs: SHORT });
    t.strictSame(await two.takeOver('none', 'b', LONG, 10), []);
    await opened.pass(SHORT);
    const [taken, ...others] = await two.takeOver(STORE, 'b', LONG, 10);
    t.strictSame(others, [], 'one was renewed, another belongs to another store');
    const { write } = invariant(taken, 'write');
    t.strictSame(taken, {
      write: { number: left.number, owner: 'b', token: left.token + 1 },
      traces,
      charges: [charges[0], charges[2]],
    });
    t.strictSame(await two.takeOver(STORE, 'c', LONG, 10), [], 'it is taken only once');
    t.notOk(await one.renew(left, LONG));
    t.equal(await one.fence(left), null);
    t.equal(await one.finish(left, [{ tenant: 1, at: NOW, items: 3 }]), null);
    t.equal(await used(one), 0);
    t.ok(invariant(await two.fence(write), 'fence') > first);
    t.strictSame(
      await two.firstFences(STORE, [left.number]),
      new Map([[left.number, first]]),
      'it is renewed',
    );
    t.strictSame(await two.finish(write, [{ tenant: 1, at: NOW, items: 2 }]), [2, 0]);
    t.equal(await two.finish(write, [{ tenant: 1, at: NOW, items: 2 }]), null);
    t.equal(await used(one), 2);
    t.ok(await one.renew(elsewhere, LONG), 'an expired write that nobody took over continues');
    t.strictSame(await two.takeOver('other', 'b', LONG, 10), []);
  });

  void t.test(
    'takes over the oldest writes first and fences a process that takes over its own',
    async (t) => {
      const opened = await open(t);
      const { writes } = opened.store;
      const left: OpenWrite[] = [];
      for (let i = 0; i < 5; i++) left.push(await begin(writes, { leaseMs: SHORT }));
      await opened.pass(SHORT);
      const some = await writes.takeOver(STORE, 'a', SHORT, 2);
      const rest = await writes.takeOver(STORE, 'a', LONG, 10);
      const numbers = (taken: typeof some) => taken.map(({ write }) => write.number);
      t.strictSame(
        [...numbers(some), ...numbers(rest)],
        left.map(({ number }) => number),
      );
      t.notOk(await writes.renew(itemAt(left, 0), LONG));
      t.ok(await writes.renew(itemAt(some, 0).write, SHORT));
      await opened.pass(SHORT);
      const again = await writes.takeOver(STORE, 'a', LONG, 10);
      t.strictSame(numbers(again), numbers(some));
      t.match(again[0], { write: { token: 3 } });
      t.equal(await writes.finish(itemAt(some, 0).write, []), null);
    },
  );

  void t.test('a write and its charges survive a restart', async (t) => {
    const opened = await open(t);
    const charges = [aCharge({ items: 8, limit: 10 })];
    const write = await begin(opened.store.writes, { leaseMs: SHORT, charges });
    const { writes } = await opened.reopen();
    const other = await writes.begin(aWrite({ charges: [aCharge({ items: 3, limit: 10 })] }));
    t.strictSame(other.charged, [{ as: 'waits', used: 0 }]);
    await opened.pass(SHORT);
    const [taken] = await writes.takeOver(STORE, 'b', LONG, 1);
    t.match(taken, { write: { number: write.number }, charges });
    t.strictSame(await writes.finish(invariant(taken, 'write').write, []), [0]);
    const after = await writes.begin(aWrite({ charges: [aCharge({ items: 10, limit: 10 })] }));
    t.strictSame(after.charged, [{ as: 'taken', used: 0 }]);
  });

  void t.test('forgets ended writes unless an older one is in progress', async (t) => {
    const opened = await open(t);
    const { writes } = opened.store;
    const early = await begin(writes);
    const slow = await begin(writes);
    const late = await begin(writes);
    const unfinished = await begin(writes);
    const other = await begin(writes, { store: 'other' });
    for (const write of [early, slow, late, other]) await writes.fence(write);
    for (const write of [early, late, unfinished, other]) await writes.finish(write, []);
    t.equal(await writes.forgetEnded(STORE, LONG), 0, 'they ended just now');
    await opened.pass(SHORT);
    t.equal(await writes.forgetEnded(STORE, SHORT), 2);
    const all = [early, slow, late, unfinished].map(({ number }) => number);
    t.strictSame([...(await writes.firstFences(STORE, all)).keys()], [slow.number, late.number]);
    await writes.finish(slow, []);
    await opened.pass(SHORT);
    t.equal(await writes.forgetEnded(STORE, SHORT), 2);
    t.equal(await writes.forgetEnded(STORE, 0), 0);
    t.equal((await writes.firstFences('other', [other.number])).size, 1);
    t.equal(await writes.fence(early), null);
  });

  void t.test('numbers and fences are unique across processes, and limits hold', async (t) => {
    const opened = await open(t);
    const books = [opened.store.writes, (await opened.another()).writes];
    const charges = [aCharge({ items: 3, limit: 100 })];
    const begun = await Promise.all(
      Array.from({ length: 60 }, (_, i) => itemAt(books, i % 2).begin(aWrite({ charges }))),
    );
    const taken = begun.flatMap(({ write }) => write ?? []);
    t.equal(taken.length, 33);
    t.equal(new Set(taken.map(({ number }) => number)).size, taken.length);
    const seen = await Promise.all(
      taken.map(async (write, i) => {
        const book = itemAt(books, i % 2);
        const fence = invariant(await book.fence(write), 'fence');
        const numbers = taken.map(({ number }) => number);
        return { fence, smaller: await book.firstFences(STORE, numbers) };
      }),
    );
    const fences = seen.map(({ fence }) => fence);
    t.equal(new Set(fences).size, fences.length);
    for (const { fence, smaller } of seen) {
      const known = [...smaller.values()].filter((other) => other !== null && other < fence);
      if (known.length !== fences.filter((other) => other < fence).length)
        t.fail(`the owner of fence ${String(fence)} does not see all smaller fences`);
    }
    await Promise.all(
      taken.map((write, i) => itemAt(books, i % 2).finish(write, [{ tenant: 1, at: NOW, items: 2 }])),
    );
    t.equal(await used(itemAt(books, 0)), 66);
    t.strictSame(
      (await itemAt(books, 1).begin(aWrite({ charges: [aCharge({ items: 34, limit: 100 })] }))).charged,
      [{ as: 'taken', used: 66 }],
    );
  });

  void t.test('concurrent begins, ends and takeovers add up', async (t) => {
    const opened = await open(t);
    const books = [opened.store.writes, (await opened.another()).writes];
    const tenants = [1, 2, 3, 4, 5, 6, 7];
    const expected = new Map(tenants.map((tenant) => [tenant, 0]));
    const lane = async (lane: number): Promise<void> => {
      const book = itemAt(books, lane % 2);
      for (let round = 0; round < 8; round++) {
        // Each in its own order.
        const some = tenants.map((_, i) => ((i * (lane + 1) + round) % tenants.length) + 1);
        const charges = some.map((tenant) => aCharge({ tenant, items: 5, limit: 1_000_000 }));
        const write = await begin(book, { owner: String(lane), leaseMs: lane % 3 === 0 ? 0 : LONG, charges });
        const items = some.map((tenant) => ({ tenant, at: NOW, items: tenant % 4 }));
        await book.fence(write);
        if ((await book.finish(write, items)) === null) continue;
        for (const { tenant, items: count } of items)
          expected.set(tenant, invariant(expected.get(tenant), 'user') + count);
      }
    };
    const others = async (): Promise<void> => {
      for (let round = 0; round < 20; round++)
        for (const { write, charges } of await itemAt(books, round % 2).takeOver(STORE, 'z', LONG, 3)) {
          const items = charges.map(({ tenant, at }) => ({ tenant, at, items: 1 }));
          if ((await itemAt(books, 0).finish(write, items)) === null) t.fail('no write is left to take over');
          for (const { tenant } of items) expected.set(tenant, invariant(expected.get(tenant), 'user') + 1);
        }
    };
    await Promise.all([...Array.from({ length: 8 }, (_, i) => lane(i)), others()]);
    for (const [tenant, count] of expected) {
      t.equal(await used(itemAt(books, 0), tenant), count);
      const limit = 1_000_000;
      const all = [aCharge({ tenant, items: limit - count, limit })];
      const { charged } = await itemAt(books, 1).begin(aWrite({ charges: all }));
      t.strictSame(charged, [{ as: 'taken', used: count }], 'nothing stays charged');
    }
  });

  void t.test('accepts a large write', async (t) => {
    const opened = await open(t);
    const { writes } = opened.store;
    const traces = Array.from({ length: 10_000 }, (_, i) => ({
      tenant: i % 9,
      traceId: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    }));
    const charges = Array.from({ length: 12_000 }, (_, i) => aCharge({ tenant: i % 6000, limit: 2 }));
    const write = await begin(writes, { leaseMs: SHORT, traces, charges });
    await opened.pass(SHORT);
    const [taken] = await writes.takeOver(STORE, 'b', LONG, 1);
    t.same(taken, { write: { ...write, owner: 'b', token: 2 }, traces, charges });
    const items = Array.from({ length: 6000 }, (_, tenant) => ({ tenant, at: NOW, items: 1 }));
    const settled = await writes.finish(invariant(taken, 'write').write, items);
    t.ok(settled?.length === 12_000 && settled.every((count) => count === 1));
    const numbers = Array.from({ length: 40_000 }, (_, i) => i);
    t.equal((await writes.firstFences(STORE, numbers)).size, 1);
  });

  void t.test('rejects invalid counts without changes', async (t) => {
    const { writes } = (await open(t)).store;
    for (const items of [-1, 0.5, NaN, Infinity])
      await t.rejects(writes.begin(aWrite({ charges: [aCharge({ items })] })), { name: 'RangeError' });
    const write = await begin(writes, { charges: [aCharge()] });
    await t.rejects(writes.finish(write, [{ tenant: 1, at: NOW, items: -1 }]), {
      name: 'RangeError',
      message: 'Items are counted by whole numbers from 0, not by -1.',
    });
    t.strictSame(await writes.finish(write, [{ tenant: 1, at: NOW, items: 1 }]), [1]);
    const many = Array.from({ length: 100_001 }, () => aCharge());
    await t.rejects(writes.begin(aWrite({ charges: many })), {
      name: 'RangeError',
      message: /100000 charges/,
    });
  });
}

function firsts(
  one: OpenWrite,
  first: number | null,
  two: OpenWrite,
  second: number | null,
): ReadonlyMap<number, number | null> {
  return new Map([
    [one.number, first],
    [two.number, second],
  ]);
}

await onEveryControl(t, checkWrites);
