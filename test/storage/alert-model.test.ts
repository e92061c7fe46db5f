import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import type { AlertNotification } from '../../src/storage/alert-notices.js';
import type { Alert, AlertChange, AlertEvent, AlertIncident } from '../../src/storage/alert-store.js';
import { dueBy } from '../support/due-notices.js';
import { neverDiffers, same } from '../support/property.js';
import { NOON } from '../support/run-records.js';
import { aFiring, anAlert, anAttempt, MINUTE } from './alert-records.js';
import { openAlerts } from './opened-alerts.js';

/** What an alert must be like, in the plainest words. */
interface Expected {
  alert: Alert;
  incident: AlertIncident | null;
  events: { event: AlertEvent; incident: string; notices: Notice[] }[];
}

interface Notice {
  told: AlertNotification;
  dueAt: number | null;
}

type Step =
  | { readonly kind: 'create'; readonly channel: Alert['channel'] }
  | { readonly kind: 'update'; readonly at: number; readonly change: AlertChange }
  | { readonly kind: 'fire'; readonly at: readonly number[]; readonly isLate: boolean }
  | { readonly kind: 'finish'; readonly most: number; readonly status: AlertNotification['status'] }
  | { readonly kind: 'resolve' | 'delete'; readonly at: number }
  | { readonly kind: 'restart' };

const AT = fc.nat(3);
const CHANNEL = fc.constantFrom('email', 'webhook', 'both');
const STEP: fc.Arbitrary<Step> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('create'), channel: CHANNEL }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('update'),
      at: AT,
      change: fc.record({ is_active: fc.boolean(), channel: CHANNEL }, { requiredKeys: [] }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('fire'),
      at: fc.array(AT, { maxLength: 4 }),
      isLate: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('finish'),
      most: fc.nat(4),
      status: fc.constantFrom('pending', 'sent', 'failed', 'skipped'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('resolve'), at: AT }) },
  fc.record({ kind: fc.constant('delete'), at: AT }),
  fc.record({ kind: fc.constant('restart') }),
);

void t.test('whatever happens to alerts, they are as the plain words say', async (t) => {
  const opened = await openAlerts(t);
  await neverDiffers(
    t,
    { runs: 40, ms: 5000 },
    [fc.array(STEP, { minLength: 5, maxLength: 25 })],
    async (steps) => {
      const { user } = opened;
      let { alerts } = opened;
      for (const { id } of await alerts.listAlerts(user.id)) await alerts.deleteAlert(user.id, id);
      const expected: Expected[] = [];
      let now = NOON;
      for (const step of steps) {
        now += MINUTE;
        const one = 'at' in step && typeof step.at === 'number' ? expected[step.at] : undefined;
        switch (step.kind) {
          case 'create': {
            const { channel } = step;
            const webhook_url = channel === 'email' ? null : 'https://example.com/';
            const alert = anAlert({ channel, webhook_url, created_at: now });
            await alerts.createAlert(user.id, alert, Infinity);
            expected.push({ alert, incident: null, events: [] });
            break;
          }
          case 'update': {
            if (one === undefined) break;
            const found = await alerts.updateAlert(user.id, one.alert.id, step.change, now);
            const changed = { ...one.alert, ...step.change };
            const lacksUrl = changed.channel !== 'email' && changed.webhook_url === null;
            same(found === 'lacks_webhook_url', lacksUrl);
            if (lacksUrl) break;
            one.alert = changed;
            if (step.change.is_active === false) end(one, now);
            break;
          }
          case 'fire': {
            const fired = step.at.flatMap((at) => expected[at] ?? []);
            const firings = fired.map((of) =>
              aFiring(
                { ...of, userId: user.id, evidence: null },
                { firedAt: now, ...(step.isLate ? { lastFiredAt: now } : {}) },
              ),
            );
            const known = new Set<Expected>();
            const wanted = fired.map((of) => {
              const isFirst = !known.has(of);
              known.add(of);
              return isFirst && of.alert.is_active && !step.isLate;
            });
            same(await alerts.recordFirings(firings), wanted);
            firings.forEach((firing, i) => {
              const of = fired[i];
              if (of === undefined || wanted[i] !== true) return;
              of.alert = { ...of.alert, last_fired_at: now };
              of.incident = firing.incident;
              const channels =
                of.alert.channel === 'both' ? (['email', 'webhook'] as const) : [of.alert.channel];
              of.events.unshift({
                event: {
                  id: firing.eventId,
                  fired_at: now,
                  value: firing.value,
                  threshold: firing.threshold,
                  resolved_at: null,
                  notifications: [],
                },
                incident: firing.incident.id,
                notices: channels.map((channel) => ({
                  told: { channel: channel as 'email', status: 'pending', detail: null, attempts: [] },
                  dueAt: now,
                })),
              });
            });
            break;
          }
          case 'resolve': {
            if (one === undefined) break;
            const incidentId = one.incident?.id ?? randomUUID();
            same(
              await alerts.recordResolutions([
                { alertId: one.alert.id, incidentId, resolvedAt: now, data: {} },
              ]),
              [one.incident !== null],
            );
            end(one, now);
            break;
          }
          case 'finish': {
            const { items } = await alerts.dueNotifications(dueBy(now, step.most));
            const results = items.map(({ number, attempts }) => ({
              number,
              status: step.status,
              detail: step.status,
              attempt: step.status === 'skipped' ? null : anAttempt({ attempt_number: attempts + 1 }),
              retryAt: step.status === 'pending' ? now + 3 * MINUTE : null,
            }));
            await alerts.finishNotifications(results);
            for (const [i, { eventId, channel }] of items.entries()) {
              const notice = expected
                .flatMap(({ events }) => events)
                .find(({ event }) => event.id === eventId)
                ?.notices.find(({ told }) => told.channel === channel);
              const result = results[i];
              if (notice === undefined || result === undefined) throw new Error('a notice that is unknown');
              const { attempts } = notice.told;
              notice.dueAt = result.retryAt;
              notice.told = {
                channel,
                status: step.status,
                detail: step.status,
                attempts: result.attempt === null ? attempts : [...attempts, result.attempt],
              };
            }
            break;
          }
          case 'delete': {
            if (one === undefined) break;
            same(await alerts.deleteAlert(user.id, one.alert.id), true);
            expected.splice(expected.indexOf(one), 1);
            break;
          }
          case 'restart':
            alerts = await opened.again();
        }
      }
      same(
        (await alerts.listRules()).map(({ alert, incident }) => ({ alert, incident })),
        expected.filter(({ alert }) => alert.is_active).map(({ alert, incident }) => ({ alert, incident })),
      );
      for (const { alert, events } of expected)
        same(await alerts.listAlertEvents(user.id, alert.id, { offset: 0, limit: 100 }), {
          items: events.map(({ event, notices }) => ({
            ...event,
            notifications: notices.map(({ told }) => told),
          })),
          count: events.length,
        });
      const due = expected
        .flatMap(({ events }) => events.flatMap(({ notices }) => notices.flatMap(({ dueAt }) => dueAt ?? [])))
        .sort((a, b) => a - b);
      const { items, nextDueAt } = await alerts.dueNotifications(dueBy(now, 1000));
      same(
        [items.length, nextDueAt],
        [due.filter((dueAt) => dueAt <= now).length, due.find((dueAt) => dueAt > now) ?? null],
      );
    },
  );
});

function end(one: Expected, now: number): void {
  for (const each of one.events)
    if (each.incident === one.incident?.id) each.event = { ...each.event, resolved_at: now };
  one.incident = null;
}
