import t from 'tap';
import { LAST_PLACE, type EventPlace } from '../../../../src/storage/duckdb/write/event-place.js';
import { RecentEvents } from '../../../../src/storage/duckdb/write/recent-events.js';
import type { TelemetryEvent } from '../../../../src/storage/duckdb/write/stored-events.js';
import { aTrace, DAY, NOON } from '../../../support/run-records.js';
import { BAD, EventEngine, START, type Listener } from '../event-engine.js';

const LIMIT = { events: 1000, bytes: 1e9 };
const DAYS_KEPT = 2;

function anEvent(commit: number): TelemetryEvent {
  const event = {
    id: '',
    type: 'trace.failed',
    timestamp: NOON,
    organization_id: null,
    endpoint_id: null,
  } as const;
  return { tenant: 1, commit, place: 0, bytes: 2, event: { ...event, body: '{}' } };
}

/** Number of cached events after a cursor; null: a read goes to the files. */
function remembered(engine: EventEngine, after: EventPlace | undefined): number | null {
  return engine.parts.recent.read(after ?? START, LIMIT)?.events.length ?? null;
}

/** Commits one event each. */
async function commit(engine: EventEngine, user: Listener, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await engine.write(user, [aTrace(0)], NOON);
}

void t.test('a reader that keeps up does not query the database', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(['trace.completed']);
  const { read } = engine;
  const { events } = engine.parts;
  const cursor = { commit: engine.parts.segments.lastSeq, place: LAST_PLACE };
  await commit(engine, user, 3);
  // A database query would have to wait now.
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const busy = [read(() => held), read(() => held)];
  const first = await events.read(cursor, { events: 2, bytes: 1e9 });
  const second = await events.read(first.events.at(-1) ?? cursor, LIMIT);
  const nothing = await events.read(second.events.at(-1) ?? cursor, LIMIT);
  t.same(
    [first, second, nothing].map((page) => [page.events.length, page.hasMore]),
    [
      [2, true],
      [1, false],
      [0, false],
    ],
  );
  release();
  await Promise.all(busy);
  const stored = await engine.events();
  t.same(
    [...first.events, ...second.events].map(({ event }) => event),
    stored.map(({ event }) => event),
  );
});

void t.test('the cache is bounded by number and bytes', async (t) => {
  const engine = await EventEngine.open(t, { recentSize: { events: 3, bytes: 4650 } });
  const user = await engine.addUser(['trace.completed']);
  await commit(engine, user, 5);
  let all = await engine.events();
  t.same(
    [undefined, ...all].map((after) => remembered(engine, after)),
    [null, null, 3, 2, 1, 0],
  );
  await engine.write(user, [aTrace(0), aTrace(0), aTrace(0), aTrace(0)], NOON);
  all = await engine.events();
  t.same(
    all.map((after) => remembered(engine, after)),
    [null, null, null, null, null, 3, 2, 1, 0],
    'only the last events of a large commit',
  );
  await engine.write(user, [aTrace(0, { outcome: 'x'.repeat(4000) })], NOON);
  all = await engine.events();
  t.same(
    all.slice(-3).map((after) => remembered(engine, after)),
    [null, 1, 0],
  );
  await engine.write(user, [aTrace(0, { outcome: 'é'.repeat(4000) })], NOON);
  const last = (await engine.events()).at(-1);
  t.equal(remembered(engine, last), 0, 'too large to cache');
  t.equal(remembered(engine, all.at(-1)), null);
});

void t.test('queries the files once after a restart if they have no newer events', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(['trace.completed']);
  await commit(engine, user, 3);
  await engine.reopen();
  const [first, second, third] = await engine.events();
  const { events } = engine.parts;
  t.equal(remembered(engine, third), null);
  const page = await events.read(first ?? START, { events: 1, bytes: 1e9 });
  t.same([page.events.length, page.hasMore], [1, true]);
  t.equal(remembered(engine, second), null, 'the files have more events');
  await events.read(page.events.at(-1) ?? START, LIMIT);
  t.same(
    [second, third].map((after) => remembered(engine, after)),
    [null, 0],
    'the end was reached',
  );
  await commit(engine, user, 2);
  t.equal(remembered(engine, third), 2);

  await engine.reopen();
  const last = (await engine.events()).at(-1);
  // It is committed while the files are read.
  const asked = engine.parts.events.read(last ?? START, LIMIT);
  await Promise.all([asked, commit(engine, user, 1)]);
  t.equal(remembered(engine, last), 1);
});

void t.test('caches retried events once and failed events never', async (t) => {
  const engine = await EventEngine.open(t);
  const user = await engine.addUser(['trace.completed']);
  const cursor = { commit: engine.parts.segments.lastSeq, place: LAST_PLACE };
  const bad = t.rejects(engine.parts.writer.write({ kind: 'append', append: BAD }), {
    code: 'internal_error',
  });
  const refused = t.rejects(engine.write(user, [aTrace(3)], NOON, 2), { code: 'quota_exceeded' });
  await Promise.all([commit(engine, user, 1), bad, refused, commit(engine, user, 1)]);
  const stored = await engine.events();
  t.equal(stored.length, 2);
  t.strictSame(engine.parts.recent.read(cursor, LIMIT), { events: stored, hasMore: false });
});

void t.test('removes cached events when retention removes them from the files', async (t) => {
  const engine = await EventEngine.open(t, { eventRetentionDays: DAYS_KEPT });
  const user = await engine.addUser(['trace.completed']);
  const cursor = { commit: engine.parts.segments.lastSeq, place: LAST_PLACE };
  for (const daysAgo of [0, 3, 1, 2]) await engine.write(user, [aTrace(0)], NOON - daysAgo * DAY);
  t.equal(remembered(engine, cursor), 4);
  // Until the next segment is prepared, the current one is not sealed, and retention skips its rows.
  let stored = await engine.events();
  for (let turns = 0; stored.length > 2 && turns < 100; turns++) {
    await engine.parts.housekeeping.applyRetention(NOON);
    stored = await engine.events();
    t.same(engine.parts.recent.read(cursor, LIMIT)?.events, stored);
  }
  t.same(
    stored.map(({ event }) => event.timestamp),
    [NOON, NOON - DAY],
  );
});

void t.test('keeps cached events that retention has not removed and evicts others for space', (t) => {
  const recent = new RecentEvents(0, { events: 10, bytes: 6 });
  const commits = (): readonly number[] | undefined =>
    recent.read({ commit: 0, place: LAST_PLACE }, LIMIT)?.events.map(({ commit }) => commit);
  recent.add([anEvent(1)]);
  recent.add([anEvent(2)]);
  recent.add([anEvent(3)]);
  recent.forgetBefore(NOON, 2);
  t.same(commits(), [1, 2, 3], 'not old enough');
  recent.forgetBefore(NOON + 1, 2);
  t.same(commits(), [3]);
  recent.add([anEvent(4), anEvent(5)]);
  t.same(commits(), [3, 4, 5]);
  recent.add([anEvent(6)]);
  t.same(commits(), undefined, 'that one was evicted');
  t.end();
});

void t.test('an empty read covers only the commits it saw', (t) => {
  const seen = { commit: 3, place: 0 };
  const opened = (): RecentEvents => {
    const recent = new RecentEvents(5, { events: 2, bytes: 1e9 });
    for (const commit of [6, 7, 8, 9]) recent.add([anEvent(commit)]);
    return recent;
  };
  for (const [lastCommit, count] of [
    [5, null],
    [6, null],
    [7, 2],
    [9, 2],
  ] as const) {
    const recent = opened();
    t.equal(recent.read(seen, LIMIT), null);
    recent.nothingBehind(seen, lastCommit);
    t.equal(recent.read(seen, LIMIT)?.events.length ?? null, count, `up to commit ${lastCommit}`);
  }
  const recent = opened();
  recent.nothingBehind({ commit: 8, place: 0 }, 9);
  t.equal(recent.read({ commit: 7, place: 0 }, LIMIT)?.events.length, 2, 'older events stay cached');
  t.end();
});
