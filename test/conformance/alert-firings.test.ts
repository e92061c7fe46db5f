import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import { uuidV7 } from '../../src/signal/ids.js';
import type { AlertRule } from '../../src/storage/contracts/alerts.js';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import { anAlert, MINUTE } from '../storage/duckdb/alert-records.js';
import { aUser } from '../storage/duckdb/meta-records.js';
import { aDecision, addRule, firedRule, ruleNow } from '../support/kept-rules.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const ALL = { offset: 0, limit: 1000 };
const EACH = { email: 9999, webhook: 9999 };
const DUE = { now: NOON + MINUTE, free: EACH, perUser: EACH, perHost: 1e6, leaseMs: 0 };

async function eventsOf({ events }: ControlStore): Promise<readonly object[]> {
  return (await events.read('0', { events: 10_000, bytes: 1e9 })).events;
}

async function wantAll({ events }: ControlStore): Promise<void> {
  await events.want('all', ['*'], Number.MAX_SAFE_INTEGER);
}

async function addUser({ accounts }: ControlStore): Promise<string> {
  const user = aUser();
  await accounts.createUser(user);
  return user.id;
}

async function resolvedOf({ alerts }: ControlStore, { userId, alert }: AlertRule): Promise<unknown> {
  const found = await alerts.listFirings(userId, alert.id, ALL);
  return found?.items.map(({ resolved_at }) => resolved_at);
}

function checkFirings(t: Test, open: OpenControl): void {
  void t.test('writes a firing with its notices, events and incident', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    await wantAll(store);
    const userId = await addUser(store);
    for (const text of [...ODD_TEXTS, 'plain']) {
      const rule = await addRule(store, userId);
      const data = { agent_name: text, none: null, number: 0.1 };
      const firing = aDecision(rule, { value: 1 / 3, threshold: 0.1, data, evidence: text.toWellFormed() });
      t.strictSame(await store.alerts.recordFirings([firing]), [true]);
      t.strictSame(await ruleNow(store, rule), firedRule(rule, firing));
      const head = { id: firing.eventId, type: 'alert.fired' };
      const body = JSON.stringify({ ...head, timestamp: '2026-01-15T12:01:00Z', data });
      const event = { ...head, timestamp: firing.firedAt, organization_id: null, endpoint_id: null, body };
      t.strictSame((await eventsOf(store)).at(-1), { tenant: userId, event });
      t.strictSame(await store.alerts.listFirings(userId, rule.alert.id, ALL), {
        items: [
          {
            id: firing.eventId,
            fired_at: firing.firedAt,
            value: 1 / 3,
            threshold: 0.1,
            resolved_at: null,
            is_test: false,
            notifications: [{ channel: 'email', status: 'pending', detail: null, attempts: [] }],
          },
        ],
        count: 1,
      });
      const { items } = await store.notices.claim(DUE);
      const own = items.find(({ eventId }) => eventId === firing.eventId);
      t.equal(own?.body, body, 'the notice contains the event body');
    }
  });

  void t.test('a test has its notices, but neither incident, cooldown nor event', async (t) => {
    const { store } = await open(t);
    await wantAll(store);
    const userId = await addUser(store);
    const fields = { channel: 'both', webhook_url: 'https://a.example/' } as const;
    const rule = await addRule(store, userId, fields);
    const events = await eventsOf(store);
    const firing = {
      ...{ alertId: rule.alert.id.toUpperCase(), firedAt: NOON, eventId: uuidV7(NOON / 1000) },
      ...{ threshold: 0.5, value: 0.25, data: { is_test: true } },
    };
    t.equal(await store.alerts.recordTest(await addUser(store), firing), null, 'the rule of another user');
    const notice = (channel: string) => ({ channel, status: 'pending', detail: null, attempts: [] });
    const expected = {
      ...{
        id: firing.eventId,
        fired_at: NOON,
        value: 0.25,
        threshold: 0.5,
        resolved_at: NOON,
        is_test: true,
      },
      notifications: [notice('email'), notice('webhook')],
    };
    t.strictSame(await store.alerts.recordTest(userId, firing), expected);
    const found = await store.alerts.listFirings(userId, rule.alert.id, ALL);
    t.strictSame(found, { items: [expected], count: 1 });
    const page = { offset: 0, limit: 10 };
    t.match((await store.alerts.listEvents(userId, {}, page)).items, [{ is_test: true }]);
    t.strictSame(await ruleNow(store, rule), rule, 'the rule did not fire');
    t.strictSame(await eventsOf(store), events);
    const { items } = await store.notices.claim(DUE);
    t.strictSame(
      items.map(({ channel, webhookUrl }) => [channel, webhookUrl]),
      [
        ['email', null],
        ['webhook', 'https://a.example/'],
      ],
    );
  });

  void t.test(
    'an alert sends at most 60 notices an hour through a channel; the rest are suppressed',
    async (t) => {
      const { store } = await open(t);
      const userId = await addUser(store);
      const fields = { channel: 'both', webhook_url: 'https://a.example/', cooldown_minutes: 0 } as const;
      const rule = await addRule(store, userId, fields);
      const other = await addRule(store, userId, fields);
      let lastFiredAt: number | null = null;
      const fire = async (firedAt: number): Promise<unknown> => {
        t.strictSame(await store.alerts.recordFirings([aDecision(rule, { firedAt, lastFiredAt })]), [true]);
        lastFiredAt = firedAt;
        const found = await store.alerts.listFirings(userId, rule.alert.id, { offset: 0, limit: 1 });
        return found?.items[0]?.notifications;
      };
      const second = MINUTE / 60;
      for (let i = 0; i < 59; i++) await fire(NOON + i * second);
      const [email, webhook] = ['email', 'webhook'].map((channel) => ({ channel, attempts: [] }));
      const pending = { status: 'pending', detail: null };
      const suppressed = { status: 'suppressed', detail: 'too_many_notices' };
      t.match(await fire(NOON + 59 * second), [
        { ...email, ...pending },
        { ...webhook, ...pending },
      ]);
      t.match(await fire(NOON + 60 * second), [
        { ...email, ...suppressed },
        { ...webhook, ...suppressed },
      ]);
      await store.alerts.recordFirings([aDecision(other, { firedAt: NOON + 61 * second })]);
      const { items } = await store.notices.claim({ ...DUE, now: NOON + 60 * MINUTE });
      t.equal(items.filter(({ alertId }) => alertId === rule.alert.id).length, 120);
      t.equal(items.length, 122, 'other alerts have their own limit');
      t.match(
        await fire(NOON + 60 * MINUTE),
        [pending, pending],
        'the limit no longer includes the first notice of the hour',
      );
      t.match(await fire(NOON + 60 * MINUTE + 1), [suppressed, suppressed]);
    },
  );

  void t.test('notices do not depend on subscribers of the event', async (t) => {
    const { store } = await open(t);
    const rule = await addRule(store, await addUser(store), {
      channel: 'both',
      webhook_url: 'https://a.example/',
    });
    await store.alerts.recordFirings([aDecision(rule)]);
    t.strictSame(await eventsOf(store), []);
    t.equal((await store.notices.claim(DUE)).items.length, 2);
  });

  void t.test('a stale firing changes nothing', async (t) => {
    const { store } = await open(t);
    await wantAll(store);
    const userId = await addUser(store);
    const [one, paused] = [await addRule(store, userId), await addRule(store, userId, { is_active: false })];
    const unknown = { ...one, alert: anAlert({ id: randomUUID() }) };
    const firing = aDecision(one);
    t.strictSame(
      await store.alerts.recordFirings([
        aDecision(one, { lastFiredAt: NOON }),
        aDecision(paused),
        firing,
        aDecision(one),
        aDecision(unknown),
      ]),
      [false, false, true, false, false],
    );
    t.strictSame(await store.alerts.recordFirings([firing]), [false], 'a repeat changes nothing');
    t.strictSame(await store.alerts.recordFirings([]), []);
    t.strictSame(await ruleNow(store, one), firedRule(one, firing));
    t.strictSame(await ruleNow(store, paused), paused);
    t.equal((await store.alerts.listFirings(userId, one.alert.id, ALL))?.count, 1);
    t.equal((await eventsOf(store)).length, 1);
  });

  void t.test('of concurrent evaluators with the same decision, one wins', async (t) => {
    const opened = await open(t);
    const stores = [opened.store, await opened.another()] as const;
    const [store] = stores;
    await wantAll(store);
    const userId = await addUser(store);
    const rule = await addRule(store, userId, { channel: 'both', webhook_url: 'https://a.example/' });
    const written = await Promise.all(
      Array.from({ length: 8 }, (_, i) => stores[i % 2 ? 1 : 0].alerts.recordFirings([aDecision(rule)])),
    );
    t.equal(written.flat().filter((isWritten) => isWritten).length, 1);
    t.equal((await store.alerts.listFirings(userId, rule.alert.id, ALL))?.count, 1);
    t.equal((await store.notices.claim(DUE)).items.length, 2);
    t.equal((await eventsOf(store)).length, 1);
    const incidentId = (await ruleNow(store, rule)).incident?.id ?? '';
    const resolution = { alertId: rule.alert.id, incidentId, resolvedAt: NOON, data: {} };
    const ended = await Promise.all(
      Array.from({ length: 8 }, (_, i) => stores[i % 2 ? 1 : 0].alerts.recordResolutions([resolution])),
    );
    t.equal(ended.flat().filter((isWritten) => isWritten).length, 1);
    t.equal((await eventsOf(store)).length, 2);
  });

  void t.test('a failed firing leaves nothing behind', async (t) => {
    const { store } = await open(t);
    await wantAll(store);
    const userId = await addUser(store);
    const [bad, good] = [await addRule(store, userId), await addRule(store, userId)];
    const broken = aDecision(bad, { threshold: null as unknown as number });
    await t.rejects(store.alerts.recordFirings([aDecision(good), broken]), { code: 'internal_error' });
    for (const rule of [bad, good]) t.strictSame(await ruleNow(store, rule), rule);
    t.strictSame((await store.notices.claim(DUE)).items, []);
    t.strictSame(await eventsOf(store), []);
  });

  void t.test('an incident lasts from its first firing until it is resolved once', async (t) => {
    const { store } = await open(t);
    await store.events.want('a', ['alert.resolved'], Number.MAX_SAFE_INTEGER);
    const userId = await addUser(store);
    const [before, other] = [await addRule(store, userId), await addRule(store, userId)];
    for (const minutes of [1, 2, 3]) {
      const firing = aDecision(await ruleNow(store, before), { firedAt: NOON + minutes * MINUTE });
      t.strictSame(await store.alerts.recordFirings([firing]), [true]);
    }
    const current = await ruleNow(store, before);
    t.equal(current.incident?.firings, 3);
    const otherFiring = aDecision(other);
    await store.alerts.recordFirings([otherFiring]);
    const resolvedAt = NOON + 9 * MINUTE;
    const incidentId = current.incident?.id ?? '';
    const resolution = { alertId: before.alert.id, incidentId, resolvedAt, data: { over: true } };
    t.strictSame(
      await store.alerts.recordResolutions([
        { ...resolution, incidentId: otherFiring.incident.id },
        { ...resolution, alertId: randomUUID() },
        resolution,
        resolution,
      ]),
      [false, false, true, false],
    );
    t.strictSame(await store.alerts.recordResolutions([resolution]), [false]);
    t.strictSame(await store.alerts.recordResolutions([]), []);
    t.strictSame(await ruleNow(store, before), { ...current, incident: null });
    t.strictSame(await ruleNow(store, other), firedRule(other, otherFiring));
    t.match(await eventsOf(store), [{ event: { type: 'alert.resolved', timestamp: resolvedAt } }]);
    const next = aDecision(await ruleNow(store, before), { firedAt: NOON + 20 * MINUTE });
    t.strictSame(await store.alerts.recordFirings([next]), [true]);
    t.strictSame(await resolvedOf(store, before), [null, resolvedAt, resolvedAt, resolvedAt]);
    t.strictSame(await resolvedOf(store, other), [null]);
    t.strictSame((await ruleNow(store, before)).incident, { id: next.eventId, firings: 1 });
  });

  void t.test('pausing a rule ends its incident without a notification', async (t) => {
    const { store } = await open(t);
    const userId = await addUser(store);
    const before = await addRule(store, userId);
    const { id } = before.alert;
    const firing = aDecision(before);
    await store.alerts.recordFirings([firing]);
    await wantAll(store);
    await store.alerts.update(userId, id, { is_active: true, threshold: 0.5 }, NOON);
    t.strictSame(
      (await ruleNow(store, before)).incident,
      firing.incident,
      'other changes do not affect the incident',
    );
    const paused = await store.alerts.update(userId, id, { is_active: false }, NOON + 5);
    t.strictSame(paused, await ruleNow(store, before));
    t.match(paused, { incident: null, evidence: firing.evidence, alert: { last_fired_at: firing.firedAt } });
    await store.alerts.update(userId, id, { is_active: false }, NOON + 6);
    t.strictSame(await resolvedOf(store, before), [NOON + 5], 'it was already over');
    const late = { alertId: id, incidentId: firing.incident.id, resolvedAt: NOON + 7, data: {} };
    t.strictSame(await store.alerts.recordResolutions([late]), [false]);
    t.strictSame(await eventsOf(store), []);
    t.equal((await store.notices.claim(DUE)).items.length, 1, 'its pending notice is still sent');
  });

  void t.test(
    'lists firings in pages, newest first, and removes old ones without ending the incident',
    async (t) => {
      const { store } = await open(t);
      const userId = await addUser(store);
      const one = await addRule(store, userId);
      const ids: string[] = [];
      for (let i = 0; i < 5; i++) {
        // The same time except for the last: their order is the write order.
        const firedAt = i === 4 ? NOON + 1 : NOON;
        const firing = aDecision(await ruleNow(store, one), { firedAt, eventId: uuidV7(NOON / 1000 - i) });
        ids.unshift(firing.eventId);
        t.strictSame(await store.alerts.recordFirings([{ ...firing, value: null }]), [true]);
      }
      const page = async (offset: number, limit: number) => {
        const found = await store.alerts.listFirings(userId, one.alert.id, { offset, limit });
        return [found?.count, ...(found?.items ?? []).map(({ id }) => id)];
      };
      t.strictSame(await page(0, 2), [5, ...ids.slice(0, 2)]);
      t.strictSame(await page(2, 2), [5, ...ids.slice(2, 4)]);
      t.strictSame(await page(4, 2), [5, ...ids.slice(4)]);
      t.strictSame(await page(5, 2), [5]);
      const before = await ruleNow(store, one);
      t.equal(await store.alerts.removeBefore(NOON + 1), 4);
      t.strictSame(await page(0, 9), [1, ids[0]]);
      t.equal((await store.notices.claim(DUE)).items.length, 1);
      t.strictSame(await ruleNow(store, one), before);
    },
  );

  void t.test('thousands of rules can fire and resolve in one transaction', async (t) => {
    const { store } = await open(t);
    await wantAll(store);
    const users = [await addUser(store), await addUser(store)] as const;
    const rules: AlertRule[] = [];
    for (let i = 0; i < 1100; i++)
      rules.push(
        await addRule(store, users[i % 2 ? 1 : 0], { channel: 'both', webhook_url: 'https://a.example/' }),
      );
    const firings = rules.map((rule) => aDecision(rule));
    t.ok((await store.alerts.recordFirings(firings)).every((written) => written));
    t.equal((await eventsOf(store)).length, rules.length);
    t.equal((await store.notices.claim(DUE)).items.length, 2 * rules.length);
    const ended = firings.map(({ alertId, incident }) => ({
      ...{ alertId, incidentId: incident.id, resolvedAt: NOON + 2, data: {} },
    }));
    t.ok((await store.alerts.recordResolutions(ended)).every((written) => written));
    t.ok((await store.alerts.follow(null)).put.every(({ incident }) => incident === null));
  });
}

await onEveryControl(t, checkFirings);
