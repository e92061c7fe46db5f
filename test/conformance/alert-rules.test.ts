import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { AlertChange, RuleChanges } from '../../src/storage/contracts/alerts.js';
import { anAlert, MINUTE } from '../storage/duckdb/alert-records.js';
import { aUser } from '../storage/duckdb/meta-records.js';
import { aDecision, addRule, firedRule, ruleNow } from '../support/kept-rules.js';
import { ODD_TEXTS } from '../support/odd-texts.js';
import { NOON } from '../support/run-records.js';
import { until } from '../support/until.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const HOOK = 'https://example.com/hook?key=1';
const PAGE = { offset: 0, limit: 9 };
const COMPOSITE = {
  operator: 'and',
  conditions: [
    { type: 'failure_rate', source: 'ai', threshold: 0.1 },
    { type: 'metric_threshold', source: 'infra', metric_name: 'cpu\0', operator: 'gte', value: -1.5 },
  ],
} as const;

function idsOf({ put }: RuleChanges): string[] {
  return put.map(({ alert }) => alert.id);
}

function checkAlertRules(t: Test, open: OpenControl): void {
  void t.test('stores rules unchanged and lists the newest first', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const [user, other] = [aUser(), aUser()];
    for (const each of [user, other]) await store.accounts.createUser(each);
    const wanted = [
      { type: 'inactivity', threshold: 1e-9, cooldown_minutes: 0, created_at: NOON - 1 },
      { threshold: 1 / 3, cooldown_minutes: 0.1, channel: 'both', webhook_url: HOOK },
      { threshold: 1e300, cooldown_minutes: 2 ** 53, created_at: NOON + 1 },
      { type: 'composite', threshold: 0, composite_config: COMPOSITE, created_at: NOON + 2 },
      { threshold: -0.1, is_active: false, last_fired_at: NOON, created_at: NOON + 3 },
      { name: 'a', target_service: null, window_minutes: 15, min_samples: 7, created_at: NOON + 4 },
      ...ODD_TEXTS.map((text, i) => ({
        ...{ agent_id: randomUUID(), agent_name: text, target_service: null, created_at: NOON + 10 + i },
      })),
      ...ODD_TEXTS.map((text, i) => ({ target_service: text, created_at: NOON + 1000 + i })),
    ] as const;
    const rules = [];
    for (const each of wanted) rules.push(await addRule(store, user.id, each));
    await addRule(store, other.id);
    const newest = rules.map(({ alert, incident }) => ({ alert, incident })).reverse();
    t.strictSame(await store.alerts.list(user.id.toUpperCase()), newest);
    const { alerts } = await opened.reopen();
    t.strictSame(await alerts.list(user.id), newest);
    for (const rule of rules) t.strictSame(await alerts.read(user.id, rule.alert.id.toUpperCase()), rule);
  });

  void t.test('concurrent requests do not exceed the limit of a user', async (t) => {
    const opened = await open(t);
    const stores = [opened.store, await opened.another()] as const;
    const [user, other] = [aUser(), aUser()];
    for (const each of [user, other]) await stores[0].accounts.createUser(each);
    t.equal(await stores[0].alerts.create(randomUUID(), anAlert(), 9), 'unknown');
    const made = await Promise.all(
      Array.from({ length: 10 }, (_, i) => stores[i % 2 ? 1 : 0].alerts.create(user.id, anAlert(), 3)),
    );
    t.equal(made.filter((outcome) => outcome === 'created').length, 3);
    t.equal(made.filter((outcome) => outcome === 'full').length, 7);
    const { alerts } = stores[1];
    t.equal((await alerts.list(user.id)).length, 3);
    t.equal(await alerts.create(other.id, anAlert(), 1), 'created', 'other users have their own limit');
    const [first] = await alerts.list(user.id);
    t.ok(await alerts.delete(user.id, first?.alert.id ?? ''));
    t.equal(await alerts.create(user.id, anAlert(), 3), 'created');
  });

  void t.test('data of another user is not found', async (t) => {
    const { store } = await open(t);
    const [user, other] = [aUser(), aUser()];
    for (const each of [user, other]) await store.accounts.createUser(each);
    const mine = await addRule(store, user.id);
    const { alerts } = store;
    for (const id of [mine.alert.id, randomUUID()]) {
      t.equal(await alerts.read(other.id, id), null);
      t.equal(await alerts.update(other.id, id, { is_active: false }, NOON), null);
      t.equal(await alerts.delete(other.id, id), false);
      t.equal(await alerts.listFirings(other.id, id, PAGE), null);
    }
    t.strictSame(await alerts.list(other.id), []);
    t.strictSame(await ruleNow(store, mine), mine);
  });

  void t.test('updates only the named fields of a rule; webhooks need a URL', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const user = aUser();
    await store.accounts.createUser(user);
    let expected = await addRule(store, user.id, { type: 'composite', composite_config: COMPOSITE });
    const untouched = await addRule(store, user.id);
    for (const channel of ['webhook', 'both'] as const) {
      const change = { channel, threshold: 7, is_active: false };
      t.equal(await store.alerts.update(user.id, expected.alert.id, change, NOON), 'lacks_webhook_url');
      t.strictSame(await ruleNow(store, expected), expected);
    }
    for (const change of [
      { threshold: 0.1 },
      { cooldown_minutes: 0 },
      {},
      { channel: 'both', webhook_url: HOOK, threshold: 12345.678 },
      { is_active: false },
      { is_active: true, channel: 'email' },
      { channel: 'webhook' },
      { webhook_url: 'https://example.com/other' },
      { name: 'budget', window_minutes: 5, min_samples: 3 },
    ] as const satisfies readonly AlertChange[]) {
      expected = { ...expected, alert: { ...expected.alert, ...change } };
      t.strictSame(await store.alerts.update(user.id, expected.alert.id, change, NOON), expected);
    }
    expected = {
      ...expected,
      alert: { ...expected.alert, name: null, window_minutes: null, min_samples: null },
    };
    const defaults = { name: ' ', window_minutes: 0, min_samples: 0 };
    t.strictSame(await store.alerts.update(user.id, expected.alert.id, defaults, NOON), expected);
    const kept = await store.alerts.update(user.id, expected.alert.id, { webhook_url: null }, NOON);
    t.strictSame(kept, expected, 'the URL cannot be removed');
    const again = await opened.reopen();
    t.strictSame(await ruleNow(again, expected), expected);
    t.strictSame(await ruleNow(again, untouched), untouched);
  });

  void t.test('deleting a rule removes its firings and notices', async (t) => {
    const { store } = await open(t);
    const user = aUser();
    await store.accounts.createUser(user);
    const gone = await addRule(store, user.id, { channel: 'both', webhook_url: HOOK });
    const kept = await addRule(store, user.id);
    await store.alerts.recordFirings([aDecision(gone), aDecision(kept)]);
    t.ok(await store.alerts.delete(user.id, gone.alert.id));
    t.notOk(await store.alerts.delete(user.id, gone.alert.id), 'once');
    t.equal(await store.alerts.listFirings(user.id, gone.alert.id, PAGE), null);
    t.equal((await store.alerts.listFirings(user.id, kept.alert.id, PAGE))?.count, 1);
    const each = { email: 9, webhook: 9 };
    const claims = await store.notices.claim({
      ...{ now: NOON + MINUTE, free: each, perUser: each, perHost: 1e6, leaseMs: 1000 },
    });
    t.strictSame(
      claims.items.map(({ alertId }) => alertId),
      [kept.alert.id],
    );
    t.strictSame(await store.alerts.recordFirings([aDecision(gone)]), [false]);
  });

  void t.test('a follower misses no change and reads only changed rules', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store, await opened.another()];
    const [user, other] = [aUser(), aUser()];
    for (const each of [user, other]) await here.accounts.createUser(each);
    const one = await addRule(here, user.id, { created_at: NOON + 1 });
    const two = await addRule(here, user.id, { created_at: NOON });
    const paused = await addRule(here, user.id, { is_active: false });
    let at = await there.alerts.follow(null);
    t.match(at, { isAll: true, removed: [] });
    t.strictSame(at.put, [two, one], 'active rules, oldest first');
    const next = async (): Promise<RuleChanges> => (at = await there.alerts.follow(at.version));
    t.match(await next(), { isAll: false, put: [], removed: [] });
    const foreign = await addRule(here, other.id);
    t.strictSame((await next()).put, [foreign]);
    const firing = aDecision(one);
    await here.alerts.recordFirings([firing]);
    t.strictSame((await next()).put, [firedRule(one, firing)]);
    await here.alerts.update(user.id, two.alert.id, { is_active: false }, NOON);
    t.match(await next(), { put: [], removed: [two.alert.id] });
    await here.alerts.update(user.id, paused.alert.id, { is_active: true }, NOON);
    t.strictSame(idsOf(await next()), [paused.alert.id]);
    await here.accounts.updateUser(user.id, { disabled: true });
    const resting = await next();
    t.strictSame(resting.put, []);
    t.strictSame(new Set(resting.removed), new Set([one, two, paused].map(({ alert }) => alert.id)));
    t.strictSame(idsOf(await there.alerts.follow(null)), [foreign.alert.id]);
    t.ok(await here.alerts.read(user.id, one.alert.id), 'the rule itself stays');
    await here.accounts.updateUser(user.id, { disabled: false });
    t.strictSame(new Set(idsOf(await next())), new Set([one, paused].map(({ alert }) => alert.id)));
    await here.alerts.delete(other.id, foreign.alert.id);
    t.match(await next(), { isAll: false, put: [], removed: [foreign.alert.id] });
    await here.alerts.recordResolutions([
      { alertId: one.alert.id, incidentId: firing.incident.id, resolvedAt: NOON, data: {} },
    ]);
    t.match((await next()).put, [{ alert: { id: one.alert.id }, incident: null, evidence: firing.evidence }]);
    for (const wrong of ['', 'x', '-1', '99999999999999999999'])
      await t.rejects(there.alerts.follow(wrong), RangeError);
    const { alerts } = await opened.reopen();
    t.match(await alerts.follow(at.version), { isAll: false, put: [], removed: [] });
  });

  void t.test('a reader far behind reads everything, without deleted rules', async (t) => {
    const { store } = await open(t);
    const user = aUser();
    await store.accounts.createUser(user);
    const [gone, kept] = [await addRule(store, user.id), await addRule(store, user.id)];
    const { version } = await store.alerts.follow(null);
    await store.alerts.delete(user.id, gone.alert.id);
    const unknown = Array.from({ length: 10_001 }, () => ({
      ...{ alertId: randomUUID(), incidentId: randomUUID(), resolvedAt: NOON, data: {} },
    }));
    t.notOk((await store.alerts.recordResolutions(unknown)).includes(true));
    t.match(await store.alerts.follow(version), { isAll: false, removed: [gone.alert.id] });
    const last = await addRule(store, user.id);
    await store.alerts.delete(user.id, last.alert.id);
    const all = await store.alerts.follow(version);
    t.ok(all.isAll);
    t.strictSame(all.put, [kept]);
  });

  void t.test('notifies watchers of changes by any process', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store, await opened.another()];
    const user = aUser();
    await here.accounts.createUser(user);
    let notifications = 0;
    there.watch.watch('rules', () => {
      notifications++;
    });
    let notices = 0;
    there.watch.watch('notices', () => {
      notices++;
    });
    const rule = await addRule(here, user.id);
    await until('a new rule is notified', () => notifications > 0);
    notifications = 0;
    await here.accounts.updateUser(user.id, { disabled: true });
    await until('a disabled user is notified', () => notifications > 0);
    t.equal(notices, 0);
    await here.alerts.recordFirings([aDecision(rule)]);
    await until('a notice is notified', () => notices > 0);
  });

  void t.test('a heartbeat returns the previous one of the source', async (t) => {
    const opened = await open(t);
    t.equal(await opened.store.alerts.beat('here', NOON), null);
    t.equal(await opened.store.alerts.beat('here', NOON + 1), NOON);
    t.equal(await opened.store.alerts.beat('there', NOON + 2), null);
    const { alerts } = await opened.reopen();
    t.equal(await alerts.beat('here', NOON + MINUTE), NOON + 1);
    t.equal(await alerts.beat('there', NOON), NOON + 2);
    t.equal(
      await alerts.beat('there', NOON + MINUTE),
      NOON,
      'the previous value, even if time went backwards',
    );
  });
}

await onEveryControl(t, checkAlertRules);
