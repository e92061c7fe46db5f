import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { AlertEventFilter } from '../../src/storage/contracts/alerts.js';
import { aUser } from '../storage/duckdb/meta-records.js';
import { aDecision, addRule, ruleNow } from '../support/kept-rules.js';
import { NOON } from '../support/run-records.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const MINUTE = 60_000_000;
const TRACES = Array.from({ length: 20 }, () => randomUUID());

function checkEvents(t: Test, open: OpenControl): void {
  void t.test('lists firings of all rules of a user with their evidence traces', async (t) => {
    const opened = await open(t);
    const { store } = opened;
    const [user, other] = [aUser(), aUser()];
    for (const each of [user, other]) await store.accounts.createUser(each);
    const agentId = randomUUID();
    const one = await addRule(store, user.id, { agent_id: agentId, agent_name: 'a', target_service: null });
    const two = await addRule(store, user.id, {
      agent_id: null,
      agent_name: null,
      target_service: 'payments',
    });
    const foreign = await addRule(store, other.id);
    const data = { window: { from: 'x', to: 'y' } };
    const first = aDecision(one, { firedAt: NOON, traceIds: TRACES.map((id) => id.toUpperCase()), data });
    const second = aDecision(two, { firedAt: NOON + MINUTE, traceIds: TRACES.slice(3, 4) });
    const theirs = aDecision(foreign, { firedAt: NOON, traceIds: TRACES });
    for (const firing of [first, second, theirs])
      t.strictSame(await store.alerts.recordFirings([firing]), [true]);

    const page = async (filter: AlertEventFilter, offset = 0, limit = 10, userId = user.id) => {
      const { items, count } = await store.alerts.listEvents(userId, filter, { offset, limit });
      return [count, ...items.map(({ id }) => id)];
    };
    t.match(await store.alerts.listEvents(user.id.toUpperCase(), {}, { offset: 0, limit: 10 }), {
      count: 2,
      items: [
        { id: second.eventId, alert_id: two.alert.id, target_service: 'payments', trace_ids: [TRACES[3]] },
        {
          id: first.eventId,
          alert_id: one.alert.id,
          type: one.alert.type,
          agent_id: agentId,
          agent_name: 'a',
          value: 0.5,
          fired_at: NOON,
          resolved_at: null,
          is_test: false,
          trace_ids: TRACES,
          notifications: [{ channel: 'email', status: 'pending' }],
          body: /"window"/,
        },
      ],
    });
    t.same(await page({}, 1, 1), [2, first.eventId]);
    t.same(await page({ agentId: agentId.toUpperCase() }), [1, first.eventId]);
    t.same(await page({ alertId: two.alert.id.toUpperCase() }), [1, second.eventId]);
    t.same(await page({ alertId: foreign.alert.id }), [0], 'the firing of the other user');
    t.same(await page({ traceId: TRACES[0]?.toUpperCase() ?? '' }), [1, first.eventId]);
    t.same(await page({ traceId: TRACES[3] ?? '' }), [2, second.eventId, first.eventId]);
    t.same(await page({ traceId: randomUUID() }), [0]);
    t.same(await page({ from: NOON + 1 }), [1, second.eventId]);
    t.same(await page({ to: NOON + MINUTE }), [1, first.eventId]);
    t.same(await page({}, 0, 10, other.id), [1, theirs.eventId]);

    const again = await opened.reopen();
    const kept = await again.alerts.listEvents(user.id, { agentId }, { offset: 0, limit: 1 });
    t.strictSame(kept.items[0]?.trace_ids, TRACES);
    t.equal(await again.alerts.removeBefore(NOON + 1), 2, 'their evidence traces are removed with them');
    t.equal(
      (await again.alerts.listEvents(user.id, { traceId: TRACES[0] ?? '' }, { offset: 0, limit: 1 })).count,
      0,
    );
    await again.alerts.delete(user.id, two.alert.id);
    t.equal((await again.alerts.listEvents(user.id, {}, { offset: 0, limit: 1 })).count, 0);
    const rule = await ruleNow(again, one);
    t.strictSame(await again.alerts.recordFirings([aDecision(rule, { firedAt: NOON + 2 })]), [true]);
  });
}

await onEveryControl(t, checkEvents);
