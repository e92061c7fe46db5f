import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type {
  AlertRule,
  NoticeClaim,
  NoticeRequest,
  NoticeResult,
} from '../../src/storage/contracts/alerts.js';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import { anAttempt, MINUTE } from '../storage/duckdb/alert-records.js';
import { aUser } from '../storage/duckdb/meta-records.js';
import { aDecision, addRule, ruleNow } from '../support/kept-rules.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const HOOK = 'https://example.com/hook?key=1';
const FIRED = NOON + MINUTE;
const LONG = 600_000;
const SHORT = 50;

function asks(changes: Partial<NoticeRequest> = {}): NoticeRequest {
  const each = { email: 99, webhook: 99 };
  return { now: FIRED + MINUTE, free: each, perUser: each, perHost: 1e6, leaseMs: LONG, ...changes };
}

/** The result of a notice sent at the first attempt. */
function sent({ number, token }: NoticeClaim, changes: Partial<NoticeResult> = {}): NoticeResult {
  return { number, token, status: 'sent', detail: null, attempt: anAttempt(), retryAt: null, ...changes };
}

async function addUser({ accounts }: ControlStore): Promise<string> {
  const user = aUser();
  await accounts.createUser(user);
  return user.id;
}

async function fire(store: ControlStore, rule: AlertRule, firedAt = FIRED): Promise<void> {
  const [written] = await store.alerts.recordFirings([aDecision(await ruleNow(store, rule), { firedAt })]);
  if (written !== true) throw new Error('the firing was not written');
}

/** The notices of a rule's firings, newest first. */
async function shown({ alerts }: ControlStore, { userId, alert }: AlertRule) {
  const page = await alerts.listFirings(userId, alert.id, { offset: 0, limit: 99 });
  return page?.items.flatMap(({ notifications }) => notifications);
}

function checkNotices(t: Test, open: OpenControl): void {
  void t.test('a claim contains the message and its recipient', async (t) => {
    const { store } = await open(t);
    const userId = await addUser(store);
    const rule = await addRule(store, userId, { channel: 'both', webhook_url: HOOK });
    await fire(store, rule);
    await store.alerts.update(userId, rule.alert.id, { webhook_url: 'https://example.org/' }, NOON);
    await store.accounts.updateUser(userId, { email: 'new@example.org' });
    const { items, nextDueAt } = await store.notices.claim(asks());
    t.equal(nextDueAt, null);
    const page = await store.alerts.listFirings(userId, rule.alert.id, { offset: 0, limit: 1 });
    const same = {
      ...{ alertId: rule.alert.id, eventId: page?.items[0]?.id, userId, attempts: 0 },
      email: 'new@example.org',
    };
    t.match(items, [
      { ...same, channel: 'email', webhookUrl: null },
      { ...same, channel: 'webhook', webhookUrl: HOOK },
    ]);
  });

  void t.test('claims due notices in order, within the limits', async (t) => {
    const { store } = await open(t);
    const userId = await addUser(store);
    for (const offset of [3, 1, 2, 1]) await fire(store, await addRule(store, userId), FIRED + offset);
    const ask = async (now: number, email: number) => {
      const claims = await store.notices.claim(asks({ now, free: { email, webhook: 0 } }));
      return [claims.items.length, claims.nextDueAt];
    };
    t.strictSame(await ask(FIRED, 9), [0, FIRED + 1]);
    t.strictSame(await ask(FIRED + 1, 0), [0, null], 'no sender slot is free');
    t.strictSame(await ask(FIRED + 1, 1), [1, null]);
    t.strictSame(await ask(FIRED + 1, 2), [1, FIRED + 2]);
    t.strictSame(await ask(FIRED + 3, 9), [2, null]);
    t.strictSame(await ask(FIRED + 9, 9), [0, null]);
  });

  void t.test('alternates between users within the limit per user across senders', async (t) => {
    const opened = await open(t);
    const [one, two] = [opened.store, await opened.another()];
    const [busy, calm] = [await addUser(one), await addUser(one)];
    const rule = await addRule(one, busy);
    for (let i = 0; i < 20; i++) await fire(one, rule, FIRED + i);
    await fire(one, await addRule(one, calm), FIRED + 100);
    const perUser = { email: 3, webhook: 3 };
    const first = await one.notices.claim(asks({ free: { email: 2, webhook: 0 }, perUser }));
    t.strictSame(
      first.items.map(({ userId }) => userId),
      [busy, calm],
      "one user's backlog does not delay the other user",
    );
    const both = await Promise.all(
      [one, two, one, two].map((store) => store.notices.claim(asks({ perUser }))),
    );
    const more = both.flatMap(({ items }) => items);
    t.strictSame(
      more.map(({ userId }) => userId),
      [busy, busy],
    );
    t.equal(new Set([...first.items, ...more].map(({ number }) => number)).size, 4);
    await one.notices.finish(more.map((claim) => sent(claim)));
    t.equal((await two.notices.claim(asks({ perUser }))).items.length, 2);
  });

  void t.test('alternates users per webhook host and does not limit mail hosts', async (t) => {
    const { store } = await open(t);
    const [busy, calm] = [await addUser(store), await addUser(store)];
    const changes = { channel: 'both', webhook_url: HOOK } as const;
    for (let i = 0; i < 6; i++) await fire(store, await addRule(store, busy, changes), FIRED + i);
    for (let i = 0; i < 2; i++) await fire(store, await addRule(store, calm, changes), FIRED + 100);
    const ask = async () => (await store.notices.claim(asks({ perHost: 4 }))).items;
    const first = await ask();
    t.equal(first.filter(({ channel }) => channel === 'email').length, 8);
    const hooks = first.filter(({ channel }) => channel === 'webhook');
    t.strictSame(hooks.map(({ userId }) => userId).sort(), [busy, busy, calm, calm].sort());
    t.strictSame(await ask(), []);
    await store.notices.finish(hooks.slice(0, 1).map((claim) => sent(claim)));
    t.match(await ask(), [{ userId: busy, channel: 'webhook' }]);
  });

  void t.test('concurrent senders claim each notice once', async (t) => {
    const opened = await open(t);
    const [one, two] = [opened.store, await opened.another()];
    for (let i = 0; i < 12; i++)
      await fire(one, await addRule(one, await addUser(one), { channel: 'both', webhook_url: HOOK }));
    const free = { email: 3, webhook: 3 };
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, i) => (i % 2 ? one : two).notices.claim(asks({ free }))),
    );
    const items = claims.flatMap(({ items }) => items);
    t.equal(items.length, 24);
    t.equal(new Set(items.map(({ number }) => number)).size, 24);
    t.equal(new Set(items.map(({ token }) => token)).size, 4);
  });

  void t.test('a claim expires, and its token then changes nothing', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const rule = await addRule(store, await addUser(store));
    await fire(store, rule);
    const [late] = (await store.notices.claim(asks({ leaseMs: SHORT }))).items;
    if (late === undefined) throw new Error('it is due');
    await opened.pass(SHORT + 1);
    const [current] = (await store.notices.claim(asks())).items;
    if (current === undefined) throw new Error('it is due again');
    t.equal(current.number, late.number);
    t.ok(current.token > late.token);
    const attempt = anAttempt({ error_message: 'late' });
    t.strictSame(await store.notices.finish([sent(late, { attempt })]), [false]);
    t.strictSame(await store.notices.renew([late, current], LONG), [false, true]);
    t.strictSame(await store.notices.finish([sent(current)]), [true]);
    t.strictSame(await store.notices.finish([sent(current)]), [false], 'a stale token has no effect');
    t.strictSame(await store.notices.renew([current], LONG), [false]);
    t.match(await shown(store, rule), [{ status: 'sent', attempts: [anAttempt()] }]);
    t.strictSame((await store.notices.claim(asks())).items, []);
  });

  void t.test('a renewed claim stays valid', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    await fire(store, await addRule(store, await addUser(store)));
    const { items } = await store.notices.claim(asks({ leaseMs: SHORT }));
    t.strictSame(await store.notices.renew(items, LONG), [true]);
    await opened.pass(SHORT + 1);
    t.strictSame((await store.notices.claim(asks())).items, []);
    t.strictSame(await store.notices.finish(items.map((claim) => sent(claim))), [true]);
  });

  void t.test('records the outcome of each attempt until one is final', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const rule = await addRule(store, await addUser(store));
    await fire(store, rule);
    const attempts = [];
    for (const [i, text] of ODD_TEXTS.entries()) {
      const claims = await store.notices.claim(asks({ now: FIRED + i }));
      const [claim] = claims.items;
      if (claim === undefined) throw new Error('it is due');
      t.equal(claim.attempts, i);
      const attempt = anAttempt({ attempt_number: i + 1, error_message: text, status_code: null });
      attempts.push(attempt);
      const result = sent(claim, { status: 'pending', detail: text, attempt, retryAt: FIRED + i + 1 });
      t.strictSame(await store.notices.finish([result, sent({ number: 1e9, token: 1 })]), [true, false]);
      t.strictSame(await shown(store, rule), [
        { channel: 'email', status: 'pending', detail: text, attempts },
      ]);
      const next = await store.notices.claim(asks({ now: FIRED + i }));
      t.strictSame(next, { items: [], nextDueAt: FIRED + i + 1 });
    }
    const again = await opened.reopen();
    const { items } = await again.notices.claim(asks());
    const skipped = { status: 'skipped', detail: 'too_many_emails', attempt: null } as const;
    await again.notices.finish(items.map((claim) => sent(claim, skipped)));
    t.match(await shown(again, rule), [{ status: 'skipped', detail: 'too_many_emails', attempts }]);
    t.strictSame(await again.notices.claim(asks()), { items: [], nextDueAt: null });
  });

  void t.test('skips due, untried and unclaimed notices together', async (t) => {
    const { store } = await open(t);
    const [user, other] = [await addUser(store), await addUser(store)];
    const rule = await addRule(store, user, { channel: 'both', webhook_url: HOOK });
    for (let i = 0; i < 5; i++) await fire(store, rule, FIRED + i);
    await fire(store, await addRule(store, other));
    const free = { email: 1, webhook: 0 };
    const perUser = { email: 9, webhook: 9 };
    const tried = (await store.notices.claim(asks({ now: FIRED + 4, free, perUser }))).items;
    const retry = { status: 'pending', retryAt: FIRED + 1 } as const;
    await store.notices.finish(tried.map((claim) => sent(claim, retry)));
    const asked = { now: FIRED + 3, channel: 'email', most: 99 } as const;
    const tooMany = { ...asked, detail: 'too_many_emails', userIds: [user, randomUUID()] };
    t.equal(await store.notices.skip({ ...tooMany, most: 1 }), 1);
    t.equal(await store.notices.skip(tooMany), 2, 'one is due later, one was tried');
    t.equal(await store.notices.skip(tooMany), 0);
    const held = (await store.notices.claim(asks({ now: FIRED, free }))).items;
    t.strictSame(
      held.map(({ userId }) => userId),
      [other],
    );
    const all = { ...asked, now: FIRED + MINUTE, detail: 'smtp_not_configured', userIds: null };
    t.equal(await store.notices.skip(all), 2, 'one is claimed');
    t.strictSame(
      (await store.notices.claim(asks())).items.map(({ channel }) => channel),
      ['webhook', 'webhook', 'webhook', 'webhook', 'webhook'],
    );
  });

  void t.test('records nothing for a deleted alert', async (t) => {
    const { store } = await open(t);
    const userId = await addUser(store);
    const rule = await addRule(store, userId);
    await fire(store, rule);
    const { items } = await store.notices.claim(asks());
    await store.alerts.delete(userId, rule.alert.id);
    t.strictSame(await store.notices.finish(items.map((claim) => sent(claim))), [false]);
    t.strictSame(await store.notices.renew(items, LONG), [false]);
  });
}

await onEveryControl(t, checkNotices);
