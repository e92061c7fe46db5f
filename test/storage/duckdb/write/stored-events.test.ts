import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { EventPageLimit } from '../../../../src/storage/contracts/events.js';
import { readStoredEvents } from '../../../../src/storage/duckdb/write/stored-events.js';
import { aTrace, DAY, NOON } from '../../../support/run-records.js';
import { EventEngine, START, describeEvent } from '../event-engine.js';

void t.test('returns events in order from hot and cold files with any page size', async (t) => {
  const engine = await EventEngine.open(t, { segmentSize: { rows: 40, bytes: 1e9 } });
  const user = await engine.addUser(['*']);
  const ids: string[] = [];
  for (let commit = 0; commit < 30; commit++) {
    const items = Array.from({ length: (commit % 4) + 1 }, () => aTrace(1));
    ids.push(...items.map(({ trace }) => trace.trace_id));
    await engine.write(user, items, NOON + commit);
    if (commit === 10) await engine.settle();
  }
  const all = await engine.events();
  t.same(all.map(describeEvent), ['agent.created researcher', ...ids.map((id) => `trace.completed ${id}`)]);
  for (const restarts of [false, true]) {
    if (restarts) {
      await engine.settle();
      await engine.reopen();
    }
    for (const events of [1, 2, 3, 7, 75, 76, 77]) {
      t.same(await engine.events(START, { events, bytes: 1e9 }), all, `by pages of ${events}`);
    }
    t.same(
      await engine.events(START, { events: 1000, bytes: 0 }),
      all,
      'one by one if the byte limit is small',
    );
    for (const [i, from] of all.entries()) {
      t.same((await engine.events(from)).length, all.length - i - 1);
    }
  }
  const last = all.at(-1) ?? START;
  t.same(await engine.events({ commit: last.commit + 1, place: -1 }), [], 'after the end');
  await engine.write(user, [aTrace(0)], NOON);
  t.equal((await engine.events(last)).length, 1, 'it continues after the cursor');
});

void t.test('limits a page by bytes and reports whether there is more', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(['trace.failed']);
  const outcomes = ['a', '🪶'.repeat(4096), 'b', 'c'];
  const items = outcomes.map((outcome) => aTrace(0, { status: 'failed', outcome }));
  await engine.write(user, items, NOON);
  const all = await engine.events();
  const sizes = all.map(({ event }) => Buffer.byteLength(event.body));
  t.ok((sizes[1] ?? 0) > 16_000);
  const small = (sizes[2] ?? 0) + (sizes[3] ?? 0);
  const page = async (after: number, limit: EventPageLimit): Promise<[number, boolean]> => {
    const found = await engine.read((connection, capture) =>
      readStoredEvents(connection, capture, all[after] ?? START, limit),
    );
    t.same(found.events, all.slice(after + 1, after + 1 + found.events.length));
    return [found.events.length, found.hasMore];
  };
  t.same(await page(-1, { events: 10, bytes: 1000 }), [1, true], 'the second is too large to follow');
  t.same(await page(0, { events: 10, bytes: small }), [3, false], 'the first does not count');
  t.same(await page(0, { events: 10, bytes: small - 1 }), [2, true]);
  t.same(await page(0, { events: 3, bytes: 1e9 }), [3, false]);
  t.same(await page(0, { events: 2, bytes: 1e9 }), [2, true]);
  t.same(await page(3, { events: 2, bytes: 1e9 }), [0, false]);
});

void t.test('a read sees the events of its start during writes and compaction', async (t) => {
  const engine = await EventEngine.open(t, { segmentSize: { rows: 20, bytes: 1e9 } });
  const user = await engine.addUser(['trace.completed']);
  const write = async (): Promise<void> => {
    await engine.write(user, [aTrace(0), aTrace(0)], NOON);
  };
  for (let i = 0; i < 5; i++) await write();
  await engine.read(async (connection, capture) => {
    const limit = { events: 4, bytes: 1e9 };
    const first = await readStoredEvents(connection, capture, START, limit);
    for (let i = 0; i < 20; i++) await write();
    const second = await readStoredEvents(connection, capture, first.events.at(-1) ?? START, limit);
    const third = await readStoredEvents(connection, capture, second.events.at(-1) ?? START, limit);
    const read = [first, second, third].map(({ events, hasMore }) => [events.length, hasMore]);
    t.same(read, [
      [4, true],
      [4, true],
      [2, false],
    ]);
  });
  t.equal((await engine.events()).length, 50);
});

const DAYS_KEPT = 3;
const FIRST_KEPT = Math.floor(NOON / DAY) * DAY - (DAYS_KEPT - 1) * DAY;

for (const rows of [4, 100_000]) {
  void t.test(`retention removes whole days of events, with segments of ${rows} rows`, async (t) => {
    const engine = await EventEngine.open(t, {
      segmentSize: { rows, bytes: 1e9 },
      eventRetentionDays: DAYS_KEPT,
    });
    const user = await engine.addUser(['trace.completed']);
    const times = [FIRST_KEPT - DAY, FIRST_KEPT - 1, FIRST_KEPT, NOON];
    const traces = times.map(() => aTrace(1, { trace_id: randomUUID() }));
    for (const [i, trace] of traces.entries()) await engine.write(user, [trace], times[i] ?? 0);
    t.equal((await engine.events()).length, 4);
    // Until the next segment is prepared, the current one is not sealed, and retention skips its rows.
    let kept = await engine.events();
    for (let turns = 0; kept.length > 2 && turns < 100; turns++) {
      await engine.parts.housekeeping.applyRetention(NOON);
      kept = await engine.events();
    }
    t.same(
      kept.map(({ event }) => event.timestamp),
      [FIRST_KEPT, NOON],
    );
    t.equal(
      (await engine.parts.runs.list(engine.asking(user.tenant), {}, { offset: 0, limit: 9 })).count,
      4,
      'runs stay',
    );
    await engine.write(user, traces, NOON);
    t.same(await engine.events(), kept, 'a removed event is not written again');
    await engine.reopen();
    t.same(await engine.events(), kept);
    t.notMatch(engine.logger.lines, /failed|could not/);
  });
}
