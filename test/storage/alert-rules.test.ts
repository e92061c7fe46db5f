import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { AlertChange, AlertRule, RuleChange } from '../../src/storage/alert-store.js';
import { dueBy } from '../support/due-notices.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { aTrace, NOON } from '../support/run-records.js';
import { aFiring, anAlert, MINUTE } from './alert-records.js';
import { aUser } from './meta-records.js';
import { openAlerts } from './opened-alerts.js';
import { TestStore } from './test-store.js';

const HOOK = 'https://example.com/hook?key=1';
const COMPOSITE = {
  operator: 'and',
  conditions: [
    { type: 'failure_rate', source: 'ai', threshold: 0.1 },
    { type: 'metric_threshold', source: 'infra', metric_name: 'cpu\0', operator: 'gte', value: -1.5 },
  ],
} as const;

void t.test('alerts are kept as they are, the newest first', async (t) => {
  const { alerts, user, rule, again } = await openAlerts(t);
  t.strictSame(await alerts.listAlerts(user.id), []);
  const rules = [
    await rule({ type: 'inactivity', threshold: 1e-9, cooldown_minutes: 0, created_at: NOON - 1 }),
    await rule({
      type: 'cost_threshold',
      threshold: 1.005,
      cooldown_minutes: 0.1,
      channel: 'both',
      webhook_url: HOOK,
    }),
    await rule({
      threshold: 1e300,
      cooldown_minutes: 2 ** 53,
      channel: 'webhook',
      webhook_url: HOOK,
      created_at: NOON + 1,
    }),
    await rule({ type: 'composite', threshold: 0, composite_config: COMPOSITE, created_at: NOON + 2 }),
    await rule({ threshold: -0.1, is_active: false, created_at: NOON + 3 }),
  ];
  const newest = rules.map(({ alert }) => alert).reverse();
  t.strictSame(await alerts.listAlerts(user.id), newest);
  for (const { alert } of rules) t.strictSame(await alerts.readAlert(user.id, alert.id), alert);
  const active = rules.filter(({ alert }) => alert.is_active);
  t.strictSame(await alerts.listRules(), active);
  const restarted = await again();
  t.strictSame(await restarted.listAlerts(user.id), newest);
  t.strictSame(await restarted.listRules(), active);
  for (const one of rules) t.strictSame(await restarted.readRule(user.id, one.alert.id), one);
});

void t.test('names of agents and of services are any text', async (t) => {
  const { tables, alerts, user, agents, again } = await openAlerts(t);
  const tenant = tables.tenantOf(user.id) ?? 0;
  const wanted = ODD_TEXTS.flatMap((text, i) => {
    const agent_id = randomUUID();
    agents.set(`${tenant}/${agent_id}`, text);
    const created_at = NOON - 2 * i;
    return [
      { given: anAlert({ agent_id, target_service: null, created_at }), agent_name: text },
      { given: anAlert({ target_service: text, created_at: created_at - 1 }), agent_name: null },
    ];
  });
  const expected = wanted.map(({ given, agent_name }) => ({ ...given, agent_name }));
  for (const [i, { given }] of wanted.entries())
    t.strictSame(await alerts.createAlert(user.id, given, Infinity), {
      outcome: 'created',
      rule: { userId: user.id, alert: expected[i], incident: null, evidence: null },
    });
  t.strictSame(await (await again()).listAlerts(user.id), expected);
});

void t.test('an agent has to be the user’s, and there is room for so many alerts', async (t) => {
  const { tables, alerts, user, agents } = await openAlerts(t);
  const other = aUser();
  await tables.createUser(other);
  const agent_id = randomUUID();
  agents.set(`${tables.tenantOf(other.id) ?? 0}/${agent_id}`, 'theirs');
  const outcome = async (userId: string, alert = anAlert(), most = 2) =>
    (await alerts.createAlert(userId, alert, most)).outcome;
  t.equal(await outcome(user.id, anAlert({ agent_id, target_service: null })), 'unknown_agent');
  t.equal(await outcome(other.id, anAlert({ agent_id, target_service: null })), 'created');
  const all = [outcome(user.id), outcome(user.id), outcome(user.id)];
  t.strictSame(await Promise.all(all), ['created', 'created', 'full'], 'even where they come at once');
  t.equal(await outcome(other.id), 'created', 'others have room of their own');
  t.equal(await outcome(other.id), 'full');
  const [first] = await alerts.listAlerts(user.id);
  t.ok(await alerts.deleteAlert(user.id, first?.id ?? ''));
  t.equal(await outcome(user.id), 'created');
  t.equal((await alerts.listAlerts(user.id)).length, 2);
});

void t.test('what is another’s is not there', async (t) => {
  const { tables, alerts, rule, now } = await openAlerts(t);
  const { id: other } = aUser();
  await tables.createUser(aUser({ id: other }));
  const mine = await rule();
  const { id } = mine.alert;
  for (const alertId of [id, randomUUID()]) {
    t.equal(await alerts.readAlert(other, alertId), null);
    t.equal(await alerts.readRule(other, alertId), null);
    t.equal(await alerts.updateAlert(other, alertId, { is_active: false }, NOON), null);
    t.equal(await alerts.deleteAlert(other, alertId), false);
    t.equal(await alerts.listAlertEvents(other, alertId, { offset: 0, limit: 1 }), null);
  }
  t.strictSame(await alerts.listAlerts(other), []);
  t.strictSame(await now(mine), mine);
});

void t.test('an alert is changed in what is named, again and again', async (t) => {
  const { alerts, user, rule, again } = await openAlerts(t);
  let expected = (await rule({ type: 'composite', composite_config: COMPOSITE })).alert;
  const untouched = await rule();
  for (const change of [
    { threshold: 0.1 },
    { cooldown_minutes: 0 },
    {},
    { channel: 'both', webhook_url: HOOK, threshold: 12345.678 },
    { is_active: false },
    { is_active: true, channel: 'email' },
    { channel: 'webhook' },
    { webhook_url: 'https://example.com/other' },
  ] as const satisfies readonly AlertChange[]) {
    expected = { ...expected, ...change };
    const { id } = expected;
    const changed: AlertRule = { userId: user.id, alert: expected, incident: null, evidence: null };
    t.strictSame(await alerts.updateAlert(user.id, id, change, NOON), changed);
    t.strictSame(await alerts.readRule(user.id, id), changed);
    t.strictSame(await (await again()).readRule(user.id, id), changed);
  }
  t.strictSame(await alerts.updateAlert(user.id, expected.id, { webhook_url: null }, NOON), {
    ...untouched,
    alert: expected,
  });
  t.strictSame(await alerts.readRule(user.id, untouched.alert.id), untouched);
});

void t.test('a change that leaves no URL to post to changes nothing', async (t) => {
  const { alerts, user, rule, now } = await openAlerts(t);
  const before = await rule();
  for (const channel of ['webhook', 'both'] as const) {
    const change = { channel, threshold: 7, is_active: false };
    t.equal(await alerts.updateAlert(user.id, before.alert.id, change, NOON), 'lacks_webhook_url');
    t.strictSame(await now(before), before);
  }
});

void t.test('with an alert all goes that became of it', async (t) => {
  const { tables, alerts, user, rule, again } = await openAlerts(t);
  const [gone, kept] = [await rule({ channel: 'both', webhook_url: HOOK }), await rule()];
  await alerts.recordFirings([aFiring(gone), aFiring(kept)]);
  t.ok(await alerts.deleteAlert(user.id, gone.alert.id));
  t.notOk(await alerts.deleteAlert(user.id, gone.alert.id), 'once');
  for (const from of [alerts, await again()]) {
    t.equal(await from.readRule(user.id, gone.alert.id), null);
    t.equal(await from.listAlertEvents(user.id, gone.alert.id, { offset: 0, limit: 9 }), null);
    const { items, nextDueAt } = await from.dueNotifications(dueBy(NOON + MINUTE, 9));
    t.strictSame(
      items.map(({ alertId }) => alertId),
      [kept.alert.id],
    );
    t.equal(nextDueAt, null);
    const events = await from.listAlertEvents(user.id, kept.alert.id, { offset: 0, limit: 9 });
    t.equal(events?.count, 1);
  }
  t.strictSame(await alerts.recordFirings([aFiring(gone)]), [false]);
  await tables.idle();
});

void t.test('the last beat is told with the next one', async (t) => {
  const { alerts, again } = await openAlerts(t);
  t.equal(await alerts.beatAlerts(NOON), null);
  t.equal(await alerts.beatAlerts(NOON + 1), NOON);
  t.equal(await (await again()).beatAlerts(NOON + MINUTE), NOON + 1);
});

void t.test('the store tells of what becomes of rules, and knows the agents of runs', async (t) => {
  const opened = await TestStore.open(t);
  const { store } = opened;
  const [user, other] = [await opened.addUser(), await opened.addUser()];
  await store.writeTraces({ tenant: user, items: [aTrace(1, { agent: '\uFEFFr\0' })] }, { receivedAt: NOON });
  const [agent] = await store.listAgents(user);
  const told: RuleChange[] = [];
  const end = store.watchRules((change) => told.push(change));
  const given = anAlert({ agent_id: agent?.id ?? '', target_service: null });
  t.equal((await store.createAlert(other, given, 9)).outcome, 'unknown_agent');
  t.equal((await store.createAlert(user, given, 0)).outcome, 'full');
  t.strictSame(told, []);
  const alert = { ...given, agent_name: '\uFEFFr\0' };
  t.strictSame(await store.createAlert(user, given, 9), { outcome: 'created', alert });
  const rule: AlertRule = { userId: user, alert, incident: null, evidence: null };
  t.strictSame(told.splice(0), [{ kind: 'put', rule }]);
  const firing = aFiring(rule);
  await store.recordFirings([firing]);
  await store.recordResolutions([
    { alertId: alert.id, incidentId: firing.incident.id, resolvedAt: NOON, data: {} },
  ]);
  t.strictSame(told, [], 'nothing of what the evaluator does itself');
  const fired = { ...alert, last_fired_at: firing.firedAt };
  const changed = { ...fired, threshold: 3 };
  t.strictSame(await store.updateAlert(user, alert.id, { threshold: 3 }, NOON), changed);
  t.strictSame(told.splice(0), [
    { kind: 'put', rule: { userId: user, alert: changed, incident: null, evidence: firing.evidence } },
  ]);
  t.equal(await store.updateAlert(user, alert.id, { channel: 'both' }, NOON), 'lacks_webhook_url');
  t.equal(await store.updateAlert(other, alert.id, { threshold: 4 }, NOON), null);
  t.notOk(await store.deleteAlert(other, alert.id));
  t.strictSame(told, []);
  await store.updateAlert(user, alert.id, { is_active: false }, NOON);
  t.strictSame(told.splice(0), [{ kind: 'removed', alertId: alert.id }]);
  t.ok(await store.deleteAlert(user, alert.id));
  t.strictSame(told.splice(0), [{ kind: 'removed', alertId: alert.id }]);
  end();
  await store.createAlert(user, given, 9);
  t.strictSame(told, []);
  await opened.reopen();
  t.strictSame(await opened.store.readRule(user, alert.id), rule);
});

void t.test('how alerts are evaluated is said by whoever evaluates them', async (t) => {
  const { store } = await TestStore.open(t);
  const terms = { windowMs: 3_600_000, minSamples: 1, timezone: 'UTC' };
  t.equal(store.alertingTerms, null);
  const end = store.announceAlerting(terms);
  const endOther = store.announceAlerting(terms);
  t.strictSame(store.alertingTerms, terms);
  end();
  end();
  t.strictSame(store.alertingTerms, terms);
  endOther();
  t.equal(store.alertingTerms, null);
});

void t.test('the alerts of a disabled user rest until it is enabled', async (t) => {
  const opened = await TestStore.open(t);
  const { store } = opened;
  const [user, other] = [await opened.addUser(), await opened.addUser()];
  const add = async (owner: string, change: object = {}) => {
    const alert = anAlert({ agent_id: null, target_service: 'payments', ...change });
    await store.createAlert(owner, alert, 9);
    return alert.id;
  };
  const [active, kept] = [await add(user), await add(other)];
  const paused = await add(user);
  await store.updateAlert(user, paused, { is_active: false }, NOON);
  const told: RuleChange[] = [];
  store.watchRules((change) => told.push(change));
  const watched = async () => (await store.listRules()).map(({ alert }) => alert.id).sort();

  await store.updateUser(user, { disabled: true });
  t.strictSame(told.splice(0), [{ kind: 'removed', alertId: active }]);
  t.strictSame(await watched(), [kept]);
  await store.updateAlert(user, active, { threshold: 7 }, NOON);
  t.strictSame(told.splice(0), [{ kind: 'removed', alertId: active }], 'by a request that was under way');
  t.match(await store.readAlert(user, active), { is_active: true, threshold: 7 }, 'the alert itself stays');

  await store.updateUser(user, { disabled: false });
  t.match(told.splice(0), [{ kind: 'put', rule: { alert: { id: active, threshold: 7 } } }]);
  t.strictSame(await watched(), [active, kept].sort());
});
