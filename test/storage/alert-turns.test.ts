import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import type { DueRequest, NotificationChannel } from '../../src/storage/alert-notices.js';
import { ALERT_NOTICES } from '../../src/storage/duckdb/meta/alert-definitions.js';
import { noticeTurns, toTurns, type NoticeTurns } from '../../src/storage/duckdb/meta/alert-turns.js';
import { dueBy } from '../support/due-notices.js';
import { neverDiffers, same } from '../support/property.js';
import { NOON } from '../support/run-records.js';
import { aFiring, anAlert, MINUTE } from './alert-records.js';
import { aUser } from './meta-records.js';
import { openAlerts, type OpenedAlerts } from './opened-alerts.js';
import { openMetaTables } from './opened-meta-tables.js';

const HOOK = 'https://example.com/hook';
const USERS = [randomUUID(), randomUUID(), randomUUID()] as const;
const CHANNELS = ['email', 'webhook'] as const;

interface Notice {
  readonly number: number;
  readonly userId: string;
  readonly channel: NotificationChannel;
  readonly dueAt: number | null;
  readonly isHeld: boolean;
}

/** Who is next, in the plainest words: one after the other, each time a notice of whoever has the fewest places. */
function expectedTurns(notices: readonly Notice[], { now, held, places }: DueRequest): NoticeTurns {
  const under = [...held];
  const waiting = notices
    .flatMap(({ dueAt, ...notice }) => (dueAt === null || notice.isHeld ? [] : { ...notice, dueAt }))
    .sort((a, b) => a.dueAt - b.dueAt || a.number - b.number);
  const taken: number[] = [];
  const count = (channel: string, userId?: string) =>
    under.filter((one) => one.channel === channel && (userId === undefined || one.userId === userId)).length;
  const canBegin = ({ channel, userId }: Pick<Notice, 'channel' | 'userId'>) =>
    count(channel) < places[channel].all && count(channel, userId) < places[channel].perUser;
  for (;;) {
    const free = waiting.filter((one) => one.dueAt <= now && !taken.includes(one.number) && canBegin(one));
    const fewest = Math.min(...free.map(({ channel, userId }) => count(channel, userId)));
    const next = free.find(({ channel, userId }) => count(channel, userId) === fewest);
    if (next === undefined) break;
    taken.push(next.number);
    under.push(next);
  }
  const later = waiting.find((one) => one.dueAt > now && canBegin(one));
  return { taken: taken.sort((a, b) => a - b), nextDueAt: later?.dueAt ?? null };
}

void t.test('users take turns, each with the longest overdue, as far as there are places', async (t) => {
  const { connect } = await openMetaTables(t);
  const connection = await connect();
  const notice = fc.record({
    userId: fc.constantFrom(...USERS),
    channel: fc.constantFrom(...CHANNELS),
    dueAt: fc.option(fc.integer({ min: NOON, max: NOON + 9 })),
    isHeld: fc.boolean(),
  });
  const places = fc.record({ all: fc.nat(6), perUser: fc.nat(4) });
  await neverDiffers(
    t,
    { runs: 300, ms: 2000 },
    [
      fc.record({
        notices: fc.array(notice, { maxLength: 25 }),
        now: fc.integer({ min: NOON, max: NOON + 9 }),
        places: fc.record({ email: places, webhook: places }),
      }),
    ],
    async ({ notices: some, ...rest }) => {
      const notices = some.map((one, i) => ({ ...one, number: i + 1 }));
      const request = { ...rest, held: notices.filter(({ isHeld }) => isHeld) };
      await connection.run('DELETE FROM alert_notices');
      await connection.run(
        ...ALERT_NOTICES.insertAll(
          notices.map(({ number, userId, channel, dueAt }) => ({
            ...{ number, channel, user_id: userId, due_at: dueAt, event: 1, alert_id: USERS[0] },
            ...{ webhook_url: null, status: 'pending', detail: null, attempts: 0, history: '[]' },
          })),
        ),
      );
      const { taken, nextDueAt } = toTurns(await connection.rows(...noticeTurns(request)), request);
      same({ taken: [...taken].sort((a, b) => a - b), nextDueAt }, expectedTurns(notices, request));
    },
  );
});

/** Fires a new alert of a user so many times over. */
async function fireFor({ alerts }: OpenedAlerts, userId: string, count: number, firedAt: number) {
  const { rule } = await alerts.createAlert(
    userId,
    anAlert({ channel: 'both', webhook_url: HOOK }),
    Infinity,
  );
  for (let i = 0; i < count; i++) {
    const now = await alerts.readRule(userId, rule.alert.id);
    if (now) await alerts.recordFirings([aFiring(now, { firedAt: firedAt + i })]);
  }
  return rule;
}

void t.test('what is to be skipped is settled in one go: of those who are named, and not held', async (t) => {
  const opened = await openAlerts(t);
  const { tables, alerts, user } = opened;
  const other = aUser();
  await tables.createUser(other);
  const fired = NOON + MINUTE;
  const rule = await fireFor(opened, user.id, 5, fired);
  await fireFor(opened, other.id, 2, fired);
  const due = async () =>
    (await alerts.dueNotifications(dueBy(fired + MINUTE, 99))).items.map(
      ({ userId, channel }) => `${channel} ${userId === user.id ? 'one' : 'other'}`,
    );
  t.equal((await due()).length, 14);
  const [tried, held] = (await alerts.dueNotifications(dueBy(fired + MINUTE, 99))).items.filter(
    ({ channel, userId }) => channel === 'email' && userId === user.id,
  );
  if (!tried || !held) throw new Error('there are none');
  const attempt = {
    ...{ attempt_number: 1, attempted_at: fired, status_code: 451, duration_ms: 1, error_message: 'later' },
  };
  await alerts.finishNotifications([
    { number: tried.number, status: 'pending', detail: 'later', attempt, retryAt: fired + 1 },
  ]);
  const asked = { now: fired + 3, channel: 'email', held: [held], most: 99 } as const;
  const tooMany = { ...asked, detail: 'too_many_emails', userIds: [user.id, randomUUID()] };
  t.equal(await alerts.skipNotifications({ ...tooMany, most: 1 }), 1);
  t.equal(await alerts.skipNotifications(tooMany), 1, 'one is due later, one was tried, one is held');
  t.equal(await alerts.skipNotifications(tooMany), 0);
  t.equal((await due()).length, 12);
  const all = { ...asked, now: fired + MINUTE, detail: 'smtp_not_configured', userIds: null, held: [] };
  t.equal(await alerts.skipNotifications(all), 5);
  t.strictSame(new Set(await due()), new Set(['webhook one', 'webhook other']));
  const events = await alerts.listAlertEvents(user.id, rule.alert.id, { offset: 0, limit: 9 });
  const mails = events?.items.map(({ notifications }) => notifications[0]);
  const skipped = (detail: string) => ({ channel: 'email', status: 'skipped', detail, attempts: [] });
  t.strictSame(mails, [
    skipped('smtp_not_configured'),
    skipped('too_many_emails'),
    skipped('too_many_emails'),
    skipped('smtp_not_configured'),
    { ...skipped('smtp_not_configured'), attempts: [attempt] },
  ]);
});
