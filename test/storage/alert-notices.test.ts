import t from 'tap';
import type { DueNotification, NotificationResult } from '../../src/storage/alert-notices.js';
import type { AlertRule } from '../../src/storage/alert-store.js';
import { dueBy } from '../support/due-notices.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { aFiring, anAlert, anAttempt, aResult, MINUTE } from './alert-records.js';
import { openAlerts, type OpenedAlerts } from './opened-alerts.js';
import { TestStore } from './test-store.js';

const HOOK = 'https://example.com/hook?key=1';
const FIRED = NOON + MINUTE;

/** Lets an alert fire. @returns the numbers of its notices */
async function fire({ alerts, now }: OpenedAlerts, rule: AlertRule, firedAt = FIRED): Promise<number[]> {
  const before = new Set(await dueNumbers(alerts, Number.MAX_SAFE_INTEGER));
  const [written] = await alerts.recordFirings([aFiring(await now(rule), { firedAt })]);
  if (written !== true) throw new Error('the firing was not written');
  return (await dueNumbers(alerts, Number.MAX_SAFE_INTEGER)).filter((number) => !before.has(number));
}

async function dueNumbers(alerts: OpenedAlerts['alerts'], now: number): Promise<number[]> {
  return (await alerts.dueNotifications(dueBy(now, 1000))).items.map(({ number }) => number);
}

/** What became of the notices of an alert's newest firing. */
async function shown({ alerts }: Pick<OpenedAlerts, 'alerts'>, { userId, alert }: AlertRule) {
  const found = await alerts.listAlertEvents(userId, alert.id, { offset: 0, limit: 1 });
  return found?.items[0]?.notifications;
}

void t.test('each channel has a notice, with what is to be sent', async (t) => {
  const opened = await openAlerts(t);
  const { tables, alerts, user, rule, again } = opened;
  const rules = [
    await rule({ channel: 'email', webhook_url: HOOK }),
    await rule({ channel: 'webhook', webhook_url: HOOK }),
    await rule({ channel: 'both', webhook_url: HOOK }),
  ];
  for (const one of rules) await fire(opened, one);
  // Where a message goes is what the account says when it is sent, and what the alert said when it fired.
  await tables.updateUser(user.id, { email: 'new@example.org' });
  await alerts.updateAlert(user.id, rules[1]?.alert.id ?? '', { webhook_url: 'https://example.com/2' }, NOON);
  for (const from of [alerts, await again()]) {
    const { items, nextDueAt } = await from.dueNotifications(dueBy(FIRED, 9));
    t.equal(nextDueAt, null);
    t.strictSame(
      items.map(({ alertId, channel, webhookUrl }) => [
        rules.findIndex(({ alert }) => alert.id === alertId),
        channel,
        webhookUrl,
      ]),
      [
        [0, 'email', null],
        [1, 'webhook', HOOK],
        [2, 'email', null],
        [2, 'webhook', HOOK],
      ],
    );
    t.equal(new Set(items.map(({ number }) => number)).size, 4);
    for (const { userId, email, attempts } of items)
      t.strictSame([userId, email, attempts], [user.id, 'new@example.org', 0]);
  }
});

void t.test('what is due comes in its order, without what is held', async (t) => {
  const opened = await openAlerts(t);
  const { alerts, rule } = opened;
  const times = [FIRED + 3, FIRED + 1, FIRED + 2, FIRED + 1];
  const numbers: number[] = [];
  for (const time of times) numbers.push(...(await fire(opened, await rule(), time)));
  const [third, first, second, alsoFirst] = numbers as [number, number, number, number];
  const ask = async (now: number, limit: number, held: readonly number[] = []) => {
    const having = held.map((number) => ({ number, userId: opened.user.id, channel: 'email' as const }));
    const { items, nextDueAt } = await alerts.dueNotifications(dueBy(now, limit, having));
    return [items.map(({ number }) => number), nextDueAt];
  };
  t.strictSame(await ask(FIRED, 9), [[], FIRED + 1]);
  t.strictSame(await ask(FIRED + 1, 9), [[first, alsoFirst], FIRED + 2]);
  t.strictSame(await ask(FIRED + 3, 9), [[first, alsoFirst, second, third], null]);
  t.strictSame(await ask(FIRED + 3, 3), [[first, alsoFirst, second], null]);
  t.strictSame(await ask(FIRED + 3, 1), [[first], null], 'no more has a place');
  t.strictSame(await ask(FIRED + 3, 0), [[], null]);
  t.strictSame(await ask(FIRED + 1, 3), [[first, alsoFirst], FIRED + 2]);
  t.strictSame(await ask(FIRED + 1, 2), [[first, alsoFirst], null]);
  t.strictSame(await ask(FIRED + 3, 9, [first, second]), [[alsoFirst, third], null]);
  t.strictSame(await ask(FIRED + 1, 9, [first, alsoFirst, second]), [[], FIRED + 3]);
  t.strictSame(await ask(FIRED + 9, 9, numbers), [[], null]);
});

void t.test('how attempts ended is noted, until one settles it', async (t) => {
  const opened = await openAlerts(t);
  const { alerts, rule, again } = opened;
  const one = await rule({ channel: 'both', webhook_url: HOOK });
  const [mail, post] = (await fire(opened, one)) as [number, number];
  const failed = anAttempt({ status_code: 451, duration_ms: 0.25, error_message: 'later' });
  await alerts.finishNotifications([
    aResult(mail, { status: 'pending', detail: 'later', attempt: failed, retryAt: FIRED + MINUTE }),
    aResult(post, { status: 'skipped', detail: 'too_many_emails', attempt: null }),
  ]);
  const skipped = { channel: 'webhook', status: 'skipped', detail: 'too_many_emails', attempts: [] };
  const waiting = { channel: 'email', status: 'pending', detail: 'later', attempts: [failed] };
  t.strictSame(await shown(opened, one), [waiting, skipped]);
  const { items, nextDueAt } = await alerts.dueNotifications(dueBy(FIRED, 9));
  t.strictSame([items, nextDueAt], [[], FIRED + MINUTE]);
  const due = await (await again()).dueNotifications(dueBy(FIRED + MINUTE, 9));
  t.strictSame(
    due.items.map(({ number, attempts }) => [number, attempts]),
    [[mail, 1]],
  );
  const sent = anAttempt({ attempt_number: 2, attempted_at: FIRED + MINUTE, status_code: null });
  await alerts.finishNotifications([aResult(mail, { attempt: sent })]);
  const settled = [{ ...waiting, status: 'sent', detail: null, attempts: [failed, sent] }, skipped];
  t.strictSame(await shown(opened, one), settled);
  t.strictSame(await dueNumbers(alerts, FIRED + 9 * MINUTE), []);
  t.strictSame(await shown({ alerts: await again() }, one), settled);
});

void t.test('a result that comes twice, or too late, changes nothing', async (t) => {
  const opened = await openAlerts(t);
  const { alerts, user, rule } = opened;
  const [one, gone] = [await rule(), await rule()];
  const [number] = (await fire(opened, one)) as [number];
  const [ofGone] = (await fire(opened, gone)) as [number];
  const retried: NotificationResult = aResult(number, { status: 'pending', retryAt: FIRED + MINUTE });
  await alerts.finishNotifications([retried, retried, { ...retried, status: 'failed', retryAt: null }]);
  await alerts.finishNotifications([retried]);
  const waiting = { channel: 'email', status: 'pending', detail: null, attempts: [anAttempt()] };
  t.strictSame(await shown(opened, one), [waiting]);
  const failed = aResult(number, { status: 'failed', attempt: anAttempt({ attempt_number: 2 }) });
  await alerts.finishNotifications([failed]);
  await alerts.finishNotifications([{ ...retried, attempt: anAttempt({ attempt_number: 3 }) }, aResult(777)]);
  const attempts = [anAttempt(), anAttempt({ attempt_number: 2 })];
  t.strictSame(await shown(opened, one), [{ ...waiting, status: 'failed', attempts }]);
  await alerts.deleteAlert(user.id, gone.alert.id);
  await alerts.finishNotifications([aResult(ofGone)]);
  await alerts.finishNotifications([]);
  t.strictSame(await dueNumbers(alerts, FIRED + 9 * MINUTE), []);
});

void t.test('why something was not sent is any text', async (t) => {
  const opened = await openAlerts(t);
  const one = await opened.rule();
  const [number] = (await fire(opened, one)) as [number];
  let attempt_number = 0;
  const attempts = [];
  for (const text of ODD_TEXTS) {
    const attempt = anAttempt({ attempt_number: ++attempt_number, error_message: text });
    attempts.push(attempt);
    const result = aResult(number, { status: 'pending', detail: text, attempt, retryAt: FIRED });
    await opened.alerts.finishNotifications([result]);
    t.strictSame(await shown(opened, one), [{ channel: 'email', status: 'pending', detail: text, attempts }]);
  }
});

void t.test('a paused alert’s notices are sent all the same', async (t) => {
  const opened = await openAlerts(t);
  const { alerts, user, rule } = opened;
  const one = await rule();
  const numbers = await fire(opened, one);
  await alerts.updateAlert(user.id, one.alert.id, { is_active: false }, FIRED);
  t.strictSame(await dueNumbers(alerts, FIRED), numbers);
});

void t.test('numbers are not given twice', async (t) => {
  const opened = await openAlerts(t);
  const { alerts, user, rule, again } = opened;
  const [one, two] = [await rule(), await rule()];
  const [first] = (await fire(opened, one)) as [number];
  await alerts.deleteAlert(user.id, one.alert.id);
  const [second] = (await fire(opened, two)) as [number];
  t.not(first, second);
  const restarted = await again();
  const [third] = (await fire({ ...opened, alerts: restarted }, await rule())) as [number];
  t.not(second, third);
});

void t.test('the store tells of firings that were written, to whoever sends notices', async (t) => {
  const opened = await TestStore.open(t);
  const { store } = opened;
  const userId = await opened.addUser();
  const { alert } = await store.createAlert(userId, anAlert(), 9);
  const rule: AlertRule = { userId, alert, incident: null, evidence: null };
  let told = 0;
  const end = store.watchNotifications(() => {
    told++;
  });
  const firing = aFiring(rule);
  t.strictSame(await store.recordFirings([firing]), [true]);
  t.equal(told, 1);
  t.strictSame(await store.recordFirings([firing]), [false]);
  t.equal(told, 1);
  end();
  t.strictSame(await store.recordFirings([{ ...aFiring(rule), lastFiredAt: firing.firedAt }]), [true]);
  t.equal(told, 1);
  await opened.reopen();
  const { items } = await opened.store.dueNotifications(dueBy(FIRED, 9));
  const [due] = items as [DueNotification];
  t.equal(items.length, 2);
  t.equal(due.email, `${userId}@example.org`);
  await opened.store.finishNotifications([aResult(due.number)]);
  t.equal((await opened.store.dueNotifications(dueBy(FIRED, 9))).items.length, 1);
});
