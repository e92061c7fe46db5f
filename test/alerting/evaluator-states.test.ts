import t from 'tap';
import { uuidV7Time } from '../../src/signal/ids.js';
import { formatTime } from '../../src/signal/time.js';
import type { AlertRule } from '../../src/storage/contracts/alerts.js';
import { AGENT, aComposite, aRule, BAD, GOOD, NOTHING, points, runs, USER } from './alert-samples.js';
import { firing, SOURCE, startedPlace, type EvaluatorPlace } from './evaluator-place.js';

const HOUR = 3_600_000_000;
const MINUTE_MS = 60_000;

void t.test('a rule that is met at the start fires immediately, once', async (t) => {
  let rule: AlertRule | null = null;
  const place = await startedPlace(t, async (place) => {
    rule = await firing(place);
  });
  const { store, clock } = place;
  t.equal(store.firings.length, 1);
  t.equal(store.lastBeat, clock.now());
  await place.passTicks(3);
  t.equal(store.firings.length, 1);
  t.same(place.notified, { fired: 1, resolved: 0, failed: 0 });
  t.match(place.evaluated, [1, 1, 1, 1]);
  t.equal(store.lastBeat, clock.now());
  t.equal(store.firings[0]?.alertId, (rule as AlertRule | null)?.alert.id);
});

void t.test('writes firings and resolutions with their data', async (t) => {
  const rule = aRule({ cooldown_minutes: 0, threshold: 0.5 });
  const place = await startedPlace(t, async (place) => {
    await firing(place, rule);
    place.store.examples = ['one', 'two', 'three', 'four', 'five', 'six'];
  });
  const { store, clock } = place;
  const { id } = rule.alert;
  const first = clock.now();
  const [firstOne] = store.firings;
  const eventId = firstOne?.eventId ?? '';
  t.equal(uuidV7Time(eventId), first / 1000);
  const common = {
    alert_id: id,
    name: null,
    type: 'failure_rate',
    agent_id: AGENT,
    agent_name: 'billing',
    target_service: null,
  };
  t.strictSame(firstOne, {
    alertId: id,
    lastFiredAt: null,
    firedAt: first,
    eventId,
    incident: { id: eventId, firings: 1 },
    evidence: JSON.stringify([[SOURCE, ['4']]]),
    threshold: 0.5,
    value: 1,
    data: {
      ...common,
      threshold: 0.5,
      value: 1,
      unit: 'ratio',
      window: { from: formatTime(first - HOUR), to: formatTime(first) },
      sample_count: 4,
      fired_at: formatTime(first),
      incident_id: eventId,
      repeat: 0,
      conditions: [{ type: 'failure_rate', source: 'ai', threshold: 0.5, observed: 1, met: true }],
      example_trace_ids: ['one', 'two', 'three', 'four', 'five'],
    },
    traceIds: ['one', 'two', 'three', 'four', 'five', 'six'],
  });
  t.strictSame(store.askedExamples, [
    { target: { userId: USER, agentId: AGENT }, type: 'failure_rate', from: first - HOUR, to: first },
  ]);

  store.stats.set(AGENT, { ...NOTHING, window: runs(5, 5) });
  await place.passTicks(1);
  const second = clock.now();
  t.match(store.firings[1], {
    lastFiredAt: first,
    firedAt: second,
    incident: { id: eventId, firings: 2 },
    data: { incident_id: eventId, repeat: 1, fired_at: formatTime(second) },
  });

  store.stats.set(AGENT, GOOD);
  await place.passTicks(10);
  t.strictSame(store.resolutions, []);
  await place.passTicks(1);
  t.strictSame(store.resolutions, [
    {
      alertId: id,
      incidentId: eventId,
      resolvedAt: clock.now(),
      data: {
        ...common,
        incident_id: eventId,
        fired_at: formatTime(second),
        resolved_at: formatTime(clock.now()),
      },
    },
  ]);
  t.equal(place.notified.resolved, 1);

  store.stats.set(AGENT, { ...NOTHING, window: runs(6, 6) });
  await place.passTicks(1);
  t.equal(store.firings[2]?.incident.id, store.firings[2]?.eventId, 'a new incident');
  t.match(store.firings[2], { incident: { firings: 1 }, data: { repeat: 0 } });
});

void t.test('requests example traces for the conditions of targets with runs', async (t) => {
  const metric = { type: 'metric_threshold', source: 'infra', metric_name: 'cpu', operator: 'gt' } as const;
  const place = await startedPlace(t, async ({ store }) => {
    store.stats.set(AGENT, { window: runs(4, 0), costs: [{ cost: 9, priced: 1 }], activeAt: 0 });
    store.metrics.set('cpu', points([90]));
    for (const rule of [
      aRule({ type: 'inactivity', threshold: 1 }),
      aComposite('or', { type: 'failure_rate', source: 'ai', threshold: 0.5 }, { ...metric, value: 50 }),
      aComposite('and', { type: 'cost_threshold', source: 'ai', threshold: 5 }, { ...metric, value: 50 }),
    ])
      await store.add(rule);
  });
  t.equal(place.store.firings.length, 3);
  t.same(
    place.store.askedExamples.map(({ type }) => type),
    ['cost_threshold'],
  );
});

void t.test('fires neither within the cooldown nor after it without new evidence', async (t) => {
  const place = await startedPlace(t, (place) => firing(place, aRule({ cooldown_minutes: 5 })));
  const { store } = place;
  store.stats.set(AGENT, { ...NOTHING, window: runs(5, 5) });
  await place.passTicks(9);
  t.equal(store.firings.length, 1);
  await place.passTicks(1);
  t.equal(store.firings.length, 2);
  await place.passTicks(30);
  t.equal(store.firings.length, 2);
  store.stats.set(AGENT, { ...NOTHING, window: runs(1, 1, { seq: 6 }) });
  await place.passTicks(1);
  t.equal(store.firings.length, 3);
});

void t.test('inactivity fires again without new evidence', async (t) => {
  const place = await startedPlace(t, async ({ store }) => {
    const rule = aRule({ type: 'inactivity', threshold: 1, cooldown_minutes: 5 });
    await store.add(rule);
    store.stats.set(AGENT, { ...NOTHING, activeAt: 0 });
  });
  await place.passTicks(20);
  t.equal(place.store.firings.length, 3);
});

void t.test('a higher cost and a later day are new evidence', async (t) => {
  const place = await startedPlace(t, async ({ store }) => {
    const rule = aRule({ type: 'cost_threshold', threshold: 5, cooldown_minutes: 0 });
    await store.add(rule);
    store.stats.set(AGENT, { ...NOTHING, costs: [{ cost: 6, priced: 1 }] });
  });
  const { store } = place;
  const fires = async (cost: number): Promise<number> => {
    store.stats.set(AGENT, { ...NOTHING, costs: [{ cost, priced: 1 }] });
    await place.passTicks(1);
    return store.firings.length;
  };
  t.equal(await fires(6), 1);
  t.equal(await fires(5.5), 1);
  t.equal(await fires(6.000001), 2);
  await place.pass(24 * 60 * MINUTE_MS);
  t.equal(store.firings.length, 3);
  t.equal(await fires(6), 3);
});

void t.test('a flapping condition is one incident', async (t) => {
  const place = await startedPlace(t, firing);
  const { store } = place;
  for (let times = 0; times < 4; times++) {
    store.stats.set(AGENT, GOOD);
    await place.passTicks(9);
    store.stats.set(AGENT, BAD);
    await place.passTicks(1);
  }
  t.same(store.resolutions, []);
  store.stats.set(AGENT, NOTHING);
  await place.pass(10 * MINUTE_MS);
  t.same(store.resolutions, [], 'one evaluation is not enough');
  await place.pass(5 * MINUTE_MS);
  t.equal(store.resolutions.length, 1);
});

void t.test('does not fire again after a restart, and resolves after the full delay', async (t) => {
  const place = await startedPlace(t, firing);
  const { store } = place;
  store.stats.set(AGENT, GOOD);
  await place.passTicks(9);
  await place.restart(1000);
  await place.passTicks(9);
  t.same([store.firings.length, store.resolutions.length], [1, 0]);
  await place.passTicks(1);
  t.same([store.firings.length, store.resolutions.length], [1, 1]);
  store.stats.set(AGENT, BAD);
  await place.restart(1000);
  await place.passTicks(3);
  t.equal(store.firings.length, 1);
});

for (const [what, downMs, isOrderly, firesAtOnce] of [
  ['a short downtime', 2 * MINUTE_MS, true, true],
  ['a long downtime', 2 * MINUTE_MS + 1, true, false],
  ['a kill', 90_002, false, false],
  ['a kill with a short downtime', 90_001, false, true],
] as const)
  void t.test(`inactivity after ${what}`, async (t) => {
    const rule = aRule({ type: 'inactivity', threshold: 1 });
    const place = await startedPlace(t, async ({ store, clock }) => {
      store.stats.set(AGENT, { ...NOTHING, activeAt: clock.now() - HOUR });
    });
    const { store } = place;
    // As long as a kill leaves the last beat behind.
    await place.pass(29_999);
    store.hints = false;
    await store.add(rule);
    await place.restart(downMs, isOrderly);
    t.equal(store.firings.length, firesAtOnce ? 1 : 0);
    if (firesAtOnce) return;
    await place.passTicks(9);
    await place.pass(29_999);
    t.equal(store.firings.length, 0);
    await place.pass(1);
    t.equal(store.firings.length, 1);
  });

/** Adds an inactivity rule for an agent last active some time ago. */
async function silent({ store, clock }: EvaluatorPlace, agoMs: number): Promise<void> {
  const rule = aRule({ type: 'inactivity', threshold: 1, cooldown_minutes: 0 });
  await store.add(rule);
  store.stats.set(AGENT, { ...NOTHING, activeAt: clock.now() - agoMs * 1000 });
}

void t.test('inactivity after the daemon was suspended', async (t) => {
  const place = await startedPlace(t, async (place) => {
    await silent(place, 55 * MINUTE_MS);
  });
  const { store } = place;
  await place.pass(10 * MINUTE_MS);
  t.same([place.evaluated.length, store.firings.length], [2, 0]);
  await place.passTicks(9);
  await place.pass(29_999);
  t.equal(store.firings.length, 0);
  await place.pass(1);
  t.equal(store.firings.length, 1);
});

void t.test('inactivity after the store refused everything', async (t) => {
  const place = await startedPlace(t, async (place) => {
    await silent(place, 55 * MINUTE_MS);
  });
  const { store } = place;
  for (let ticks = 0; ticks < 20; ticks++) {
    store.fail('beat');
    await place.passTicks(1);
  }
  await place.passTicks(10);
  t.same([place.notified.failed, store.firings.length], [20, 0]);
  await place.passTicks(1);
  t.equal(store.firings.length, 1);
});

void t.test('the grace period of a stop continues after the next start', async (t) => {
  const place = await startedPlace(t, async (place) => {
    await silent(place, 55 * MINUTE_MS);
  });
  for (let ticks = 0; ticks < 20; ticks++) {
    place.store.fail('beat');
    await place.passTicks(1);
  }
  await place.restart(1000);
  await place.passTicks(9);
  t.equal(place.store.firings.length, 0);
});

void t.test('inactivity within two long intervals fires', async (t) => {
  const place = await startedPlace(
    t,
    async (place) => {
      await silent(place, 55 * MINUTE_MS);
    },
    { intervalMs: 10 * MINUTE_MS },
  );
  await place.pass(10 * MINUTE_MS);
  t.equal(place.store.firings.length, 1);
  await place.restart(20 * MINUTE_MS);
  t.equal(place.store.firings.length, 2);
  await place.restart(20 * MINUTE_MS + 1);
  t.equal(place.store.firings.length, 2);
});

/** Adds a cost rule for an agent that spent 9 dollars on the 15th and 1 on other days. */
async function spending({ store }: EvaluatorPlace): Promise<void> {
  const rule = aRule({ type: 'cost_threshold', threshold: 5, cooldown_minutes: 0 });
  const spentOn = Date.UTC(2026, 0, 15) * 1000;
  await store.add(rule);
  store.stats.set(AGENT, ({ days }) => ({
    ...NOTHING,
    costs: days.map(({ from }) => ({ cost: from === spentOn && isNotified ? 9 : 1, priced: 1 })),
  }));
}
/** Whether the update of {@link spending} on the 15th was reported. */
let isNotified = false;

for (const [what, pass] of [
  ['was down', (place: EvaluatorPlace) => place.restart(14 * 60 * MINUTE_MS)],
  ['was killed', (place: EvaluatorPlace) => place.restart(14 * 60 * MINUTE_MS, false)],
  ['was suspended', (place: EvaluatorPlace) => place.pass(14 * 60 * MINUTE_MS)],
] as const)
  void t.test(`cost of a day whose end was missed: the daemon ${what}`, async (t) => {
    const yesterday = Date.UTC(2026, 0, 15) * 1000;
    isNotified = false;
    const place = await startedPlace(t, spending);
    const { store } = place;
    t.equal(store.firings.length, 0);
    isNotified = true;
    store.fail('observe');
    await pass(place);
    t.same([store.firings.length, place.notified.failed], [0, 1]);
    await place.pass(1000);
    t.match(store.firings, [
      { value: 9, evidence: JSON.stringify([[SOURCE, [{ day: yesterday, cost: 9 }]]]) },
    ]);
    await place.passTicks(1);
    t.equal(store.observed.at(-1)?.days.length, 1, 'once');
    t.equal(store.firings.length, 1);
  });

void t.test('an inactivity incident survives the grace period', async (t) => {
  const place = await startedPlace(t, async ({ store }) => {
    const rule = aRule({ type: 'inactivity', threshold: 1 });
    await store.add(rule);
    store.stats.set(AGENT, { ...NOTHING, activeAt: 0 });
  });
  await place.restart(10 * MINUTE_MS);
  await place.passTicks(15);
  t.same([place.store.firings.length, place.store.resolutions.length], [1, 0]);
});

void t.test('a new store has no grace period', async (t) => {
  const place = await startedPlace(t, async ({ store }) => {
    const rule = aRule({ type: 'inactivity', threshold: 1 });
    await store.add(rule);
    store.stats.set(AGENT, { ...NOTHING, activeAt: 0 });
  });
  t.equal(place.store.firings.length, 1);
});

void t.test('counts firings at one moment one by one', async (t) => {
  const place = await startedPlace(t, async ({ store }) => {
    const rule = aRule({ type: 'inactivity', threshold: 1, cooldown_minutes: 0 });
    await store.add(rule);
    store.stats.set(AGENT, { ...NOTHING, activeAt: 0 });
  });
  await place.restart();
  await place.passTicks(1);
  t.same(
    place.store.firings.map(({ incident }) => incident.firings),
    [1, 2, 3],
  );
});

void t.test('a clock set back restarts the resolve delay', async (t) => {
  const place = await startedPlace(t, firing);
  const { store, clock } = place;
  store.stats.set(AGENT, GOOD);
  await place.passTicks(5);
  clock.advance(-60 * MINUTE_MS);
  const judge = async (ms: number): Promise<number> => {
    place.touch();
    await place.pass(ms);
    return store.resolutions.length;
  };
  t.equal(await judge(1000), 0);
  t.equal(await judge(5 * MINUTE_MS - 1), 0);
  t.equal(await judge(1000), 1);
});
