import { randomUUID } from 'node:crypto';
import t from 'tap';
import { uuidV7 } from '../../src/signal/ids.js';
import type { AlertEvidence, AlertRule, Firing } from '../../src/storage/alert-store.js';
import { dueBy } from '../support/due-notices.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { aFiring, anAlert, MINUTE } from './alert-records.js';
import { aUser } from './meta-records.js';
import { openAlerts, type OpenedAlerts } from './opened-alerts.js';

const ALL = { offset: 0, limit: 1000 };
const LIMIT = { events: 10_000, bytes: 1e9 };

/** A rule once a firing of it is written. */
function fired(rule: AlertRule, { firedAt, incident, evidence }: Firing): AlertRule {
  return { ...rule, alert: { ...rule.alert, last_fired_at: firedAt }, incident, evidence };
}

/** The events of the main file, as they are told. */
async function toldOf({ tables }: OpenedAlerts): Promise<readonly object[]> {
  const { events } = await tables.events.read(0, LIMIT);
  return events.map(({ tenant, event }) => ({ tenant, event }));
}

void t.test('a firing is written with all that it brings, and known after a restart', async (t) => {
  const opened = await openAlerts(t);
  const { tables, alerts, user, rule, now, again } = opened;
  tables.interests.read(['alert.fired']);
  const before = await rule();
  const data = { agent_name: 'a\0\uFEFF"', none: null, number: 0.1 };
  const evidence: AlertEvidence = [{ seq: 2 ** 52 }, null, { day: NOON, cost: 1_005_000 }];
  const firing = aFiring(before, { value: 1 / 3, threshold: 0.1, data, evidence });
  t.strictSame(await alerts.recordFirings([firing]), [true]);
  t.strictSame(await now(before), fired(before, firing));
  const body = JSON.stringify({
    id: firing.eventId,
    type: 'alert.fired',
    timestamp: '2026-01-15T12:01:00Z',
    data,
  });
  const event = {
    id: firing.eventId,
    type: 'alert.fired',
    timestamp: firing.firedAt,
    organization_id: null,
    endpoint_id: null,
    body,
  };
  t.strictSame(await toldOf(opened), [{ tenant: user.id, event }]);
  for (const from of [alerts, await again()]) {
    t.strictSame(await from.listRules(), [fired(before, firing)]);
    t.strictSame(await from.listAlertEvents(user.id, before.alert.id, ALL), {
      items: [
        {
          id: firing.eventId,
          fired_at: firing.firedAt,
          value: 1 / 3,
          threshold: 0.1,
          resolved_at: null,
          notifications: [{ channel: 'email', status: 'pending', detail: null, attempts: [] }],
        },
      ],
      count: 1,
    });
    const { items } = await from.dueNotifications(dueBy(firing.firedAt, 9));
    t.strictSame(
      items.map((notice) => [notice.eventId, notice.body]),
      [[firing.eventId, body]],
      'what is sent is what the event says',
    );
  }
});

void t.test('nobody has to want the event for its notices to be there', async (t) => {
  const opened = await openAlerts(t);
  const { alerts, rule } = opened;
  const one = await rule({ channel: 'both', webhook_url: 'https://example.com/' });
  await alerts.recordFirings([aFiring(one)]);
  t.strictSame(await toldOf(opened), []);
  t.equal((await alerts.dueNotifications(dueBy(NOON + MINUTE, 9))).items.length, 2);
});

void t.test('a firing that is not up to date changes nothing', async (t) => {
  const opened = await openAlerts(t);
  const { tables, alerts, user, rule, now } = opened;
  tables.interests.read(['*']);
  const [one, paused] = [await rule(), await rule({ is_active: false })];
  const firing = aFiring(one);
  const unknown = { alert: anAlert({ id: randomUUID() }), userId: user.id, incident: null, evidence: null };
  t.strictSame(
    await alerts.recordFirings([
      aFiring(one, { lastFiredAt: NOON }),
      aFiring(paused),
      firing,
      aFiring(one),
      aFiring(unknown),
    ]),
    [false, false, true, false, false],
  );
  t.strictSame(await alerts.recordFirings([firing]), [false], 'nor the same once more');
  t.strictSame(await alerts.recordFirings([]), []);
  t.strictSame(await now(one), fired(one, firing));
  t.strictSame(await now(paused), paused);
  t.equal((await alerts.listAlertEvents(user.id, one.alert.id, ALL))?.count, 1);
  t.equal((await alerts.listAlertEvents(user.id, paused.alert.id, ALL))?.count, 0);
  t.equal((await toldOf(opened)).length, 1);
  const later = await Promise.all(
    [2, 3, 4].map(async (i) => {
      const again = aFiring(fired(one, firing), { firedAt: NOON + i * MINUTE });
      return await alerts.recordFirings([again]);
    }),
  );
  t.strictSame(later.flat(), [true, false, false], 'of those decided at the same time one is written');
});

void t.test('a firing that cannot be written leaves nothing behind, and no other with it', async (t) => {
  const opened = await openAlerts(t);
  const { tables, alerts, user, rule, now } = opened;
  tables.interests.read(['*']);
  const [bad, good] = [await rule(), await rule()];
  const firing = aFiring(good);
  const both = await Promise.allSettled([
    alerts.recordFirings([aFiring(bad, { eventId: 'no UUID' })]),
    alerts.recordFirings([firing]),
  ]);
  t.match(both, [{ status: 'rejected' }, { status: 'fulfilled', value: [true] }]);
  t.strictSame(await now(bad), bad);
  t.strictSame(await now(good), fired(good, firing));
  t.equal((await alerts.listAlertEvents(user.id, bad.alert.id, ALL))?.count, 0);
  const { items } = await alerts.dueNotifications(dueBy(NOON + MINUTE, 9));
  t.strictSame(
    items.map(({ eventId }) => eventId),
    [firing.eventId],
  );
  t.equal((await toldOf(opened)).length, 1);
});

void t.test('an incident goes from its first firing until it is resolved', async (t) => {
  const opened = await openAlerts(t);
  const { tables, alerts, user, rule, now, again } = opened;
  tables.interests.read(['alert.resolved']);
  const [before, other] = [await rule(), await rule()];
  const firings: Firing[] = [];
  let current = before;
  for (const minutes of [1, 2, 3]) {
    const firing = aFiring(current, { firedAt: NOON + minutes * MINUTE });
    firings.push(firing);
    t.strictSame(await alerts.recordFirings([firing]), [true]);
    current = await now(before);
    t.strictSame(current.incident, { id: firings[0]?.eventId, firings: minutes });
  }
  const otherFiring = aFiring(other);
  await alerts.recordFirings([otherFiring]);
  const resolution = {
    alertId: before.alert.id,
    incidentId: current.incident?.id ?? '',
    resolvedAt: NOON + 9 * MINUTE,
    data: { over: true },
  };
  t.strictSame(
    await alerts.recordResolutions([
      { ...resolution, incidentId: otherFiring.incident.id },
      { ...resolution, alertId: randomUUID() },
      resolution,
      resolution,
    ]),
    [false, false, true, false],
  );
  t.strictSame(await alerts.recordResolutions([resolution]), [false], 'once');
  t.strictSame(await alerts.recordResolutions([]), []);
  t.strictSame(await now(before), { ...current, incident: null }, 'what it fired for is still known');
  t.strictSame(await now(other), fired(other, otherFiring));
  const told = (await tables.events.read(0, LIMIT)).events.map(({ event }) => event);
  t.strictSame(
    told.map(({ type, timestamp, body }) => [type, timestamp, (JSON.parse(body) as { data: object }).data]),
    [['alert.resolved', resolution.resolvedAt, resolution.data]],
  );
  const next = aFiring(await now(before), { firedAt: NOON + 20 * MINUTE });
  t.strictSame(await alerts.recordFirings([next]), [true]);
  for (const from of [alerts, await again()]) {
    const found = await from.listAlertEvents(user.id, before.alert.id, ALL);
    t.strictSame(
      found?.items.map(({ id, resolved_at }) => [id, resolved_at]),
      [[next.eventId, null], ...firings.map(({ eventId }) => [eventId, resolution.resolvedAt]).reverse()],
    );
    t.strictSame(
      (await from.listAlertEvents(user.id, other.alert.id, ALL))?.items.map(({ resolved_at }) => resolved_at),
      [null],
    );
  }
  t.strictSame((await now(before)).incident, { id: next.eventId, firings: 1 });
});

void t.test('an incident ends where its alert is paused, and nothing is told of it', async (t) => {
  const opened = await openAlerts(t);
  const { tables, alerts, user, rule, now } = opened;
  const before = await rule();
  const firing = aFiring(before);
  await alerts.recordFirings([firing]);
  tables.interests.read(['*']);
  await alerts.updateAlert(user.id, before.alert.id, { is_active: true, threshold: 0.5 }, NOON);
  t.strictSame((await now(before)).incident, firing.incident, 'other changes leave it alone');
  const at = NOON + 5 * MINUTE;
  const paused = await alerts.updateAlert(user.id, before.alert.id, { is_active: false }, at);
  t.strictSame(paused, await now(before));
  const current = await now(before);
  t.strictSame(current.incident, null);
  t.strictSame(current.evidence, firing.evidence);
  t.equal(current.alert.last_fired_at, firing.firedAt);
  const resolved = async () =>
    (await alerts.listAlertEvents(user.id, before.alert.id, ALL))?.items.map(
      ({ resolved_at }) => resolved_at,
    );
  t.strictSame(await resolved(), [at]);
  await alerts.updateAlert(user.id, before.alert.id, { is_active: false }, at + 1);
  t.strictSame(await resolved(), [at], 'it had ended');
  t.strictSame(
    await alerts.recordResolutions([
      { alertId: before.alert.id, incidentId: firing.incident.id, resolvedAt: at + 2, data: {} },
    ]),
    [false],
  );
  t.strictSame(await toldOf(opened), []);
});

void t.test('firings are listed by the page, the newest first', async (t) => {
  const { alerts, user, rule, now } = await openAlerts(t);
  const one = await rule();
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    // At the same moment: their order is that of their writing.
    const firing = aFiring(await now(one), { firedAt: NOON, eventId: uuidV7(NOON / 1000 - i) });
    ids.unshift(firing.eventId);
    t.strictSame(await alerts.recordFirings([{ ...firing, value: null }]), [true]);
  }
  const page = async (offset: number, limit: number) => {
    const found = await alerts.listAlertEvents(user.id, one.alert.id, { offset, limit });
    return [found?.count, ...(found?.items ?? []).map(({ id }) => id)];
  };
  t.strictSame(await page(0, 2), [5, ...ids.slice(0, 2)]);
  t.strictSame(await page(2, 2), [5, ...ids.slice(2, 4)]);
  t.strictSame(await page(4, 2), [5, ...ids.slice(4)]);
  t.strictSame(await page(5, 2), [5]);
});

void t.test('what an event tells is any text', async (t) => {
  const { tables, alerts, rule } = await openAlerts(t);
  tables.interests.read(['alert.fired']);
  for (const text of [...ODD_TEXTS, 'half a pair \uD83D']) {
    const firing = aFiring(await rule(), { data: { agent_name: text } });
    t.strictSame(await alerts.recordFirings([firing]), [true]);
    const [{ event } = { event: null }] = (await tables.events.read(tables.events.lastNumber - 1, LIMIT))
      .events;
    const { items } = await alerts.dueNotifications(dueBy(NOON + MINUTE, 1000));
    t.strictSame(items.at(-1)?.body, event?.body);
    t.strictSame((JSON.parse(event?.body ?? '{}') as { data: object }).data, { agent_name: text });
  }
});

void t.test('many alerts may fire at once', async (t) => {
  const opened = await openAlerts(t);
  const { tables, alerts, user } = opened;
  const other = aUser();
  await tables.createUser(other);
  tables.interests.read(['alert.fired']);
  const rules = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const alert = anAlert({ channel: 'both', webhook_url: `https://example.com/${i}` });
      return (await alerts.createAlert(i % 2 ? user.id : other.id, alert, Infinity)).rule;
    }),
  );
  const data = { text: 'x'.repeat(1000) };
  const firings = rules.map((rule) => aFiring(rule, { data }));
  t.ok((await alerts.recordFirings(firings)).every((written) => written));
  const found = new Map((await alerts.listRules()).map((rule) => [rule.alert.id, rule]));
  t.ok(rules.every(({ alert }, i) => found.get(alert.id)?.incident?.id === firings[i]?.eventId));
  t.equal((await toldOf(opened)).length, rules.length);
  const { items } = await alerts.dueNotifications(dueBy(NOON + MINUTE, 5000));
  t.equal(items.length, 2 * rules.length);
  const resolved = await alerts.recordResolutions(
    firings.map(({ alertId, incident }) => ({
      alertId,
      incidentId: incident.id,
      resolvedAt: NOON + 2 * MINUTE,
      data: {},
    })),
  );
  t.ok(resolved.every((written) => written));
  t.ok((await alerts.listRules()).every(({ incident }) => incident === null));
});

void t.test('old firings go with their notices; the incident goes on', async (t) => {
  const { alerts, user, rule, now, again } = await openAlerts(t);
  const before = await rule({ channel: 'both', webhook_url: 'https://a.example/' });
  const first = aFiring(before, { firedAt: NOON });
  t.strictSame(await alerts.recordFirings([first]), [true]);
  const second = aFiring(await now(before), {
    firedAt: NOON + MINUTE,
    incident: { ...first.incident, firings: 2 },
  });
  t.strictSame(await alerts.recordFirings([second]), [true]);
  await alerts.removeBefore(NOON + MINUTE);
  for (const from of [alerts, await again()]) {
    t.match(await from.listAlertEvents(user.id, before.alert.id, ALL), {
      items: [{ id: second.eventId }],
      count: 1,
    });
    t.match(await from.dueNotifications(dueBy(NOON + MINUTE, 10)), {
      items: [{ eventId: second.eventId }, { eventId: second.eventId }],
      nextDueAt: null,
    });
    t.match(await from.readRule(user.id, before.alert.id), { incident: second.incident });
  }
});
