import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import type { Micros } from '../../../../src/signal/time.js';
import type { ClockNote } from '../../../../src/storage/duckdb/files/clock-notes.js';
import { RetentionClock } from '../../../../src/storage/duckdb/files/retention-clock.js';
import { HealthIssues } from '../../../../src/storage/duckdb/files/health-issues.js';
import { RecordingLogger } from '../../../support/recording-logger.js';
import { aTrace, DAY, NOON } from '../../../support/run-records.js';
import { until } from '../../../support/until.js';
import { TestStore } from '../test-store.js';

const HOUR = DAY / 24;
const HOUR_MS = HOUR / 1000;
const YEARS = 4000 * DAY;

/** A clock with in-memory state. */
function aClock(seenUpTo: Micros | null = null) {
  const kept: { note: ClockNote | null; fails: boolean } = { note: null, fails: false };
  const logger = new RecordingLogger();
  let healthIssues: readonly string[] = [];
  const parts = {
    notes: {
      read: async () => Promise.resolve(kept.note),
      write: async (note: ClockNote) => {
        if (kept.fails) throw new Error('no space left');
        kept.note = note;
        return Promise.resolve();
      },
    },
    seenUpTo: async () => Promise.resolve(seenUpTo),
    healthIssues: new HealthIssues((current) => (healthIssues = current.map(({ message }) => message))),
    logger,
  };
  return { kept, logger, healthIssues: () => healthIssues, open: () => new RetentionClock(parts) };
}

void t.test('trusts a clock that advances normally', async (t) => {
  const { open, healthIssues } = aClock();
  const clock = open();
  for (const now of [NOON, NOON + HOUR, NOON + 20 * HOUR, NOON + 68 * HOUR, NOON + 69 * HOUR]) {
    t.equal(await clock.trusted(now), now);
    t.notOk(clock.isWaiting);
  }
  t.strictSame(healthIssues(), []);
});

void t.test('trusts a clock one day after it jumped ahead', async (t) => {
  const { open, healthIssues, logger } = aClock();
  const clock = open();
  await clock.trusted(NOON);
  const there = NOON + YEARS;
  for (let hours = 0; hours < 24; hours++) {
    t.equal(await clock.trusted(there + hours * HOUR), NOON, `after ${hours} hours`);
    t.ok(clock.isWaiting);
    t.match(healthIssues(), [/The clock jumped ahead to 2036-.*the last trusted time is 2026-.*correct it/]);
  }
  t.equal(logger.lines.filter((line) => /The clock jumped ahead/.test(line)).length, 1, 'logged once');
  t.equal(await clock.trusted(there + DAY), there + DAY);
  t.notOk(clock.isWaiting);
  t.strictSame(healthIssues(), []);
  t.equal(await clock.trusted(there + DAY + HOUR), there + DAY + HOUR);
});

void t.test('immediately trusts a clock that was set back', async (t) => {
  const { open, healthIssues } = aClock();
  const clock = open();
  await clock.trusted(NOON);
  await clock.trusted(NOON + YEARS);
  t.equal(await clock.trusted(NOON + HOUR), NOON + HOUR);
  t.notOk(clock.isWaiting);
  t.strictSame(healthIssues(), []);
  t.equal(await clock.trusted(NOON - 10 * DAY), NOON - 10 * DAY, 'set back');
  t.equal(await clock.trusted(NOON - 10 * DAY + HOUR), NOON - 10 * DAY + HOUR);
});

void t.test('every jump restarts the wait', async (t) => {
  const { open } = aClock();
  const clock = open();
  await clock.trusted(NOON);
  for (const at of [YEARS, YEARS + 20 * HOUR, 2 * YEARS, 2 * YEARS + 10 * HOUR, YEARS])
    t.equal(await clock.trusted(NOON + at), NOON);
});

void t.test('the wait continues across restarts', async (t) => {
  const { open } = aClock();
  await open().trusted(NOON);
  const there = NOON + 30 * DAY;
  t.equal(await open().trusted(there), NOON);
  t.equal(await open().trusted(there + 8 * HOUR), NOON);
  t.equal(await open().trusted(there + 25 * HOUR), there + 25 * HOUR);
});

void t.test('without a saved state it uses the last receive time', async (t) => {
  t.equal(
    await aClock(NOON - 30 * DAY)
      .open()
      .trusted(NOON),
    NOON - 30 * DAY,
  );
  t.equal(
    await aClock(NOON - HOUR)
      .open()
      .trusted(NOON),
    NOON,
  );
  t.equal(
    await aClock(NOON + HOUR)
      .open()
      .trusted(NOON),
    NOON,
    'the receive time may be ahead',
  );
});

void t.test('detects a jump even if its state cannot be saved', async (t) => {
  const { open, kept, logger } = aClock();
  const clock = open();
  kept.fails = true;
  t.equal(await clock.trusted(NOON), NOON);
  t.equal(await clock.trusted(NOON + YEARS), NOON);
  t.match(logger.lines.join('\n'), /Could not save the retention clock/);
});

void t.test('removes nothing while the clock is years ahead, before and after a restart', async (t) => {
  const opened = await TestStore.open(t, {
    traceRetentionDays: 7,
    logRetentionDays: 7,
    eventRetentionDays: 7,
  });
  const { clock, meter } = opened.settings;
  const tenant = await opened.addUser();
  const items = [NOON, NOON - 5 * DAY].map((started_at) => aTrace(2, { started_at }));
  await opened.store.writer.traces({ tenant, items }, { receivedAt: NOON });
  const count = async (): Promise<number> =>
    (await opened.store.runs.list(tenant, {}, { offset: 0, limit: 1 })).count;
  clock.advance(YEARS / 1000);
  const isTold = (): boolean => /The clock jumped ahead to 2036/.test(opened.statuses.at(-1)?.message ?? '');
  // The store checks once an hour.
  await until('the clock jump is detected', () => {
    if (!isTold()) clock.advance(HOUR_MS / 60);
    return isTold();
  });
  t.match(opened.statuses.at(-1), { level: 'degraded' });
  t.equal(await count(), 2);
  await until('the metric says so', async () => {
    clock.advance(5000);
    return /jackdaw_store_clock_ahead 1/.test((await meter.print()).text);
  });
  await opened.reopen();
  await until('it is reported again', isTold);
  for (let hours = 0; hours < 20; hours++) {
    clock.advance(HOUR_MS);
    await turn();
  }
  t.equal(await count(), 2);
  // After a day the clock counts as correct after downtime.
  await until('they are removed', async () => {
    clock.advance(HOUR_MS);
    return (await count()) === 0;
  });
  t.match(opened.statuses.at(-1), { level: 'ok' });
});
