import t from 'tap';
import { uuidV7Time } from '../../src/signal/ids.js';
import { formatTime } from '../../src/signal/time.js';
import type { AlertRule } from '../../src/storage/alert-store.js';
import { until } from '../support/until.js';
import { AGENT, aComposite, aPoint, aRule, NOTHING, runs, USER } from './alert-samples.js';
import { EvaluatorPlace, startedPlace } from './evaluator-place.js';

const HOUR = 3_600_000_000;
const MINUTE_MS = 60_000;
const BAD = { ...NOTHING, window: runs(4, 4) };
const GOOD = { ...NOTHING, window: runs(4, 0) };
const IS_TOUCHED = { agents: [AGENT] };

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** A rule on failures that fires at the start, and has no cooldown. */
function firing({ store }: EvaluatorPlace, rule: AlertRule = aRule({ cooldown_minutes: 0 })): AlertRule {
  store.rules.set(rule.alert.id, rule);
  store.figures.set(AGENT, BAD);
  return rule;
}

void t.test('what is met at the start fires at once, once', async (t) => {
  let rule: AlertRule | null = null;
  const place = await startedPlace(t, (place) => {
    rule = firing(place);
  });
  const { store, clock } = place;
  t.equal(store.firings.length, 1);
  t.equal(store.lastBeat, clock.now());
  await place.passTicks(3);
  t.equal(store.firings.length, 1);
  t.same(place.told, { fired: 1, resolved: 0, failed: 0 });
  t.match(place.evaluated, [1, 1, 1, 1]);
  t.equal(store.lastBeat, clock.now());
  t.equal(store.firings[0]?.alertId, (rule as AlertRule | null)?.alert.id);
});

void t.test('what is written of a firing and of the end', async (t) => {
  const rule = aRule({ cooldown_minutes: 0, threshold: 0.5 });
  const place = await startedPlace(t, (place) => {
    firing(place, rule);
    place.store.examples = ['one', 'two'];
  });
  const { store, clock } = place;
  const { id } = rule.alert;
  const first = clock.now();
  const [firstOne] = store.firings;
  const eventId = firstOne?.eventId ?? '';
  t.equal(uuidV7Time(eventId), first / 1000);
  const common = {
    alert_id: id,
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
    evidence: [{ seq: 4 }],
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
      example_trace_ids: ['one', 'two'],
    },
  });
  t.strictSame(store.askedExamples, [
    { target: { userId: USER, agentId: AGENT }, type: 'failure_rate', from: first - HOUR, to: first },
  ]);

  store.figures.set(AGENT, { ...NOTHING, window: runs(5, 5) });
  await place.passTicks(1);
  const second = clock.now();
  t.match(store.firings[1], {
    lastFiredAt: first,
    firedAt: second,
    incident: { id: eventId, firings: 2 },
    data: { incident_id: eventId, repeat: 1, fired_at: formatTime(second) },
  });

  store.figures.set(AGENT, GOOD);
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
  t.equal(place.told.resolved, 1);

  store.figures.set(AGENT, { ...NOTHING, window: runs(6, 6) });
  await place.passTicks(1);
  t.equal(store.firings[2]?.incident.id, store.firings[2]?.eventId, 'a new incident');
  t.match(store.firings[2], { incident: { firings: 1 }, data: { repeat: 0 } });
});

void t.test('examples are asked for what tells why, and of what has runs', async (t) => {
  const metric = { type: 'metric_threshold', source: 'infra', metric_name: 'cpu', operator: 'gt' } as const;
  const place = await startedPlace(t, ({ store }) => {
    store.figures.set(AGENT, { window: runs(4, 0), costs: [{ cost: 9e6, priced: 1 }], activeAt: 0 });
    store.series.set('cpu', [aPoint(90)]);
    for (const rule of [
      aRule({ type: 'inactivity', threshold: 1 }),
      aComposite('or', { type: 'failure_rate', source: 'ai', threshold: 0.5 }, { ...metric, value: 50 }),
      aComposite('and', { type: 'cost_threshold', source: 'ai', threshold: 5 }, { ...metric, value: 50 }),
    ])
      store.rules.set(rule.alert.id, rule);
  });
  t.equal(place.store.firings.length, 3);
  t.same(
    place.store.askedExamples.map(({ type }) => type),
    ['cost_threshold'],
  );
});

void t.test('what is touched is judged together, after a quarter of a second', async (t) => {
  const place = await startedPlace(t, ({ store }) => {
    const others = { agent_id: 'another', agent_name: 'another' };
    for (const rule of [aRule(), aRule(), aRule(others)]) store.rules.set(rule.alert.id, rule);
  });
  const { store } = place;
  place.evaluated.length = 0;
  store.touch(IS_TOUCHED);
  store.figures.set(AGENT, BAD);
  await place.pass(200);
  store.touch(IS_TOUCHED);
  await place.pass(49);
  t.same(place.evaluated, []);
  await place.pass(1);
  t.same(place.evaluated, [2]);
  t.equal(store.firings.length, 2);
  store.touch(IS_TOUCHED);
  await place.pass(250);
  t.same(place.evaluated, [2, 2], 'it is called again');
});

void t.test(
  'rules are touched by their agent, by spans for a service, and by points for a metric',
  async (t) => {
    const onService = aRule({ agent_id: null, agent_name: null, target_service: 'db' });
    const onMetric = aComposite(
      'or',
      { type: 'failure_rate', source: 'ai', threshold: 0.5 },
      { type: 'metric_threshold', source: 'infra', metric_name: 'cpu', operator: 'gt', value: 50 },
    );
    const place = await startedPlace(t, ({ store }) => {
      for (const rule of [aRule(), onService, onMetric]) store.rules.set(rule.alert.id, rule);
    });
    const { store } = place;
    const asked = async (touched: Parameters<typeof store.touch>[0]): Promise<number> => {
      place.evaluated.length = 0;
      store.touch(touched);
      await place.pass(1000);
      return place.evaluated[0] ?? 0;
    };
    t.equal(await asked({ agents: [AGENT] }), 2);
    t.equal(await asked({ spansOf: [USER] }), 1);
    t.equal(await asked({ pointsOf: [USER] }), 1);
    t.equal(await asked({ agents: [AGENT], spansOf: [USER], pointsOf: [USER] }), 3);
    t.equal(await asked({ agents: ['another'], spansOf: ['another'], pointsOf: ['another'] }), 0);
    store.delete(onMetric.alert.id);
    t.equal(await asked({ agents: [AGENT], pointsOf: [USER] }), 1);
  },
);

void t.test(
  'the longer evaluations take, the longer touched ones wait, but never over a second',
  async (t) => {
    const place = await startedPlace(t, firing);
    const { store, clock } = place;
    const waits = async (tookMs: number): Promise<number> => {
      // The tick may be in between: what it judges is no news.
      await place.pass(30_000);
      store.before('observe', () => {
        clock.advance(tookMs);
      });
      store.touch(IS_TOUCHED);
      await place.pass(1000);
      place.evaluated.length = 0;
      store.touch(IS_TOUCHED);
      for (let waited = 0; ; waited += 10) {
        if (place.evaluated.length > 0) return waited;
        await place.pass(10);
      }
    };
    t.equal(await waits(10), 250);
    t.equal(await waits(150), 600);
    t.equal(await waits(2000), 1000);
  },
);

void t.test('a tick judges all, the touched ones with them', async (t) => {
  const place = await startedPlace(t, firing);
  place.evaluated.length = 0;
  await place.pass(29_900);
  place.store.touch(IS_TOUCHED);
  await place.pass(100);
  t.same(place.evaluated, [1]);
  await place.pass(1000);
  t.same(place.evaluated, [1]);
});

void t.test('a new or changed rule is judged at once', async (t) => {
  const place = await startedPlace(t, ({ store }) => {
    store.figures.set(AGENT, BAD);
  });
  const { store } = place;
  const rule = aRule({ threshold: 1 });
  store.put(rule);
  await place.settle();
  t.same([place.evaluated.at(-1), store.firings.length], [1, 0]);
  store.put({ ...rule, alert: { ...rule.alert, threshold: 0.9 } });
  await place.settle();
  t.same([place.evaluated.at(-1), store.firings.length], [1, 1]);
});

void t.test('a paused or deleted rule is not judged; one that is resumed is another one', async (t) => {
  const rule = aRule({ threshold: 0.5, cooldown_minutes: 0, is_active: false });
  const place = await startedPlace(t, (place) => firing(place, rule));
  const { store } = place;
  t.equal(store.firings.length, 0);
  store.put({ ...rule, alert: { ...rule.alert, is_active: true } });
  await place.settle();
  t.equal(store.firings.length, 1);
  const fired = store.rules.get(rule.alert.id) ?? rule;
  store.put({ ...fired, alert: { ...fired.alert, is_active: false } });
  await place.passTicks(20);
  t.same([store.firings.length, store.resolutions.length], [1, 0]);
  store.figures.set(AGENT, { ...NOTHING, window: runs(9, 9) });
  const paused = store.rules.get(rule.alert.id) ?? rule;
  store.put({ ...paused, alert: { ...paused.alert, is_active: true } });
  await place.settle();
  t.equal(store.firings.length, 2);
  t.equal(store.firings[1]?.incident.firings, 1);
  store.delete(rule.alert.id);
  store.figures.set(AGENT, { ...NOTHING, window: runs(10, 10) });
  await place.passTicks(2);
  t.equal(store.firings.length, 2);
});

void t.test('what happens to rules while they are read is not missed', async (t) => {
  const [paused, changed] = [aRule(), aRule({ threshold: 1 })];
  const place = await startedPlace(t, (place) => {
    const { store } = place;
    firing(place, paused);
    firing(place, changed);
    const list = store.listRules.bind(store);
    store.listRules = async () => {
      const read = await list();
      store.put({ ...paused, alert: { ...paused.alert, is_active: false } });
      store.put({ ...changed, alert: { ...changed.alert, threshold: 0.5 } });
      return read;
    };
  });
  t.same(
    place.store.firings.map(({ alertId }) => alertId),
    [changed.alert.id],
  );
});

for (const [what, change] of [
  ['deleted', (place: EvaluatorPlace, { alert }: AlertRule) => place.store.delete(alert.id)],
  [
    'paused',
    ({ store }: EvaluatorPlace, rule: AlertRule) => {
      store.put({ ...rule, alert: { ...rule.alert, is_active: false } });
    },
  ],
  [
    'changed',
    ({ store }: EvaluatorPlace, rule: AlertRule) => {
      store.put({ ...rule, alert: { ...rule.alert, threshold: 1 } });
    },
  ],
] as const)
  for (const method of ['observe', 'exampleTraces'] as const)
    void t.test(`a rule that is ${what} during an evaluation (${method}) is not tried to fire`, async (t) => {
      let recorded = 0;
      const place = await startedPlace(t, (place) => {
        const rule = firing(place);
        place.store.before(method, () => {
          change(place, rule);
        });
        place.store.before('recordFirings', () => recorded++);
      });
      await place.passTicks(1);
      t.same([place.store.firings.length, recorded, place.told.failed], [0, 0, 0]);
    });

void t.test('one that somebody else decided meanwhile is read again', async (t) => {
  const rule = aRule({ cooldown_minutes: 10 });
  const place = await startedPlace(t, (place) => {
    firing(place, rule);
    const { store, clock } = place;
    store.before('recordFirings', () => {
      const alert = { ...rule.alert, last_fired_at: clock.now() - 5 * MINUTE_MS * 1000 };
      store.rules.set(rule.alert.id, { ...rule, alert, evidence: [{ seq: 1 }] });
    });
  });
  const { store } = place;
  t.same([store.firings.length, place.told.fired], [0, 0]);
  await place.pass(5 * MINUTE_MS - 1000);
  t.equal(store.firings.length, 0, 'within the cooldown');
  await place.pass(30_000);
  t.match(store.firings, [{ firedAt: place.clock.now() }]);
});

void t.test('one that is gone, and whose notice was lost, is forgotten', async (t) => {
  const place = await startedPlace(t, (place) => {
    const rule = firing(place);
    place.store.before('recordFirings', () => place.store.rules.delete(rule.alert.id));
  });
  await place.passTicks(1);
  t.same(place.evaluated, [1, 0]);
});

void t.test('an incident that is over already is not ended again', async (t) => {
  const place = await startedPlace(t, firing);
  const { store } = place;
  const [id] = [...store.rules.keys()];
  store.figures.set(AGENT, GOOD);
  await place.passTicks(5);
  const rule = store.rules.get(id ?? '');
  if (rule) store.rules.set(rule.alert.id, { ...rule, incident: null });
  let tries = 0;
  store.before('recordResolutions', () => tries++);
  await place.passTicks(20);
  t.same([tries, store.resolutions.length, place.told.resolved], [1, 0, 0]);
});

void t.test('within the cooldown it does not fire, nor after it without anything new', async (t) => {
  const place = await startedPlace(t, (place) => firing(place, aRule({ cooldown_minutes: 5 })));
  const { store } = place;
  store.figures.set(AGENT, { ...NOTHING, window: runs(5, 5) });
  await place.passTicks(9);
  t.equal(store.firings.length, 1);
  await place.passTicks(1);
  t.equal(store.firings.length, 2);
  await place.passTicks(30);
  t.equal(store.firings.length, 2);
  store.figures.set(AGENT, { ...NOTHING, window: runs(1, 1, { seq: 6 }) });
  await place.passTicks(1);
  t.equal(store.firings.length, 3);
});

void t.test('silence needs nothing new to fire again', async (t) => {
  const place = await startedPlace(t, ({ store }) => {
    const rule = aRule({ type: 'inactivity', threshold: 1, cooldown_minutes: 5 });
    store.rules.set(rule.alert.id, rule);
    store.figures.set(AGENT, { ...NOTHING, activeAt: 0 });
  });
  await place.passTicks(20);
  t.equal(place.store.firings.length, 3);
});

void t.test('money: a greater cost and a later day are news', async (t) => {
  const place = await startedPlace(t, ({ store }) => {
    const rule = aRule({ type: 'cost_threshold', threshold: 5, cooldown_minutes: 0 });
    store.rules.set(rule.alert.id, rule);
    store.figures.set(AGENT, { ...NOTHING, costs: [{ cost: 6e6, priced: 1 }] });
  });
  const { store } = place;
  const fires = async (cost: number): Promise<number> => {
    store.figures.set(AGENT, { ...NOTHING, costs: [{ cost, priced: 1 }] });
    await place.passTicks(1);
    return store.firings.length;
  };
  t.equal(await fires(6e6), 1);
  t.equal(await fires(5.5e6), 1);
  t.equal(await fires(6.000001e6), 2);
  await place.pass(24 * 60 * MINUTE_MS);
  t.equal(store.firings.length, 3);
  t.equal(await fires(6e6), 3);
});

void t.test('what comes and goes is one incident', async (t) => {
  const place = await startedPlace(t, firing);
  const { store } = place;
  for (let times = 0; times < 4; times++) {
    store.figures.set(AGENT, GOOD);
    await place.passTicks(9);
    store.figures.set(AGENT, BAD);
    await place.passTicks(1);
  }
  t.same(store.resolutions, []);
  store.figures.set(AGENT, NOTHING);
  await place.pass(10 * MINUTE_MS);
  t.same(store.resolutions, [], 'one evaluation is not enough');
  await place.pass(5 * MINUTE_MS);
  t.equal(store.resolutions.length, 1);
});

void t.test(
  'after a restart nothing fires again, and an incident ends as late as after the first look',
  async (t) => {
    const place = await startedPlace(t, firing);
    const { store } = place;
    store.figures.set(AGENT, GOOD);
    await place.passTicks(9);
    await place.restart(1000);
    await place.passTicks(9);
    t.same([store.firings.length, store.resolutions.length], [1, 0]);
    await place.passTicks(1);
    t.same([store.firings.length, store.resolutions.length], [1, 1]);
    store.figures.set(AGENT, BAD);
    await place.restart(1000);
    await place.passTicks(3);
    t.equal(store.firings.length, 1);
  },
);

for (const [what, downMs, isOrderly, firesAfterMs] of [
  ['a short time away', 2 * MINUTE_MS, true, 0],
  ['a long time away', 2 * MINUTE_MS + 1, true, 5 * MINUTE_MS],
  ['killed', 90_002, false, 5 * MINUTE_MS],
  ['killed for a short time', 90_001, false, 0],
] as const)
  void t.test(`silence after ${what}`, async (t) => {
    const rule = aRule({ type: 'inactivity', threshold: 1 });
    const place = await startedPlace(t, ({ store, clock }) => {
      store.figures.set(AGENT, { ...NOTHING, activeAt: clock.now() - HOUR });
    });
    const { store } = place;
    store.put(rule);
    // As long as a kill leaves the last beat behind.
    await place.pass(29_999);
    store.rules.set(rule.alert.id, rule);
    store.firings.length = 0;
    await place.restart(downMs, isOrderly);
    t.equal(store.firings.length, firesAfterMs === 0 ? 1 : 0);
    if (firesAfterMs === 0) return;
    await place.pass(firesAfterMs - 1);
    t.equal(store.firings.length, 0);
    await place.pass(30_000);
    t.equal(store.firings.length, 1);
  });

void t.test('an incident of silence lives through the time that nothing is known', async (t) => {
  const place = await startedPlace(t, ({ store }) => {
    const rule = aRule({ type: 'inactivity', threshold: 1 });
    store.rules.set(rule.alert.id, rule);
    store.figures.set(AGENT, { ...NOTHING, activeAt: 0 });
  });
  await place.restart(10 * MINUTE_MS);
  await place.passTicks(15);
  t.same([place.store.firings.length, place.store.resolutions.length], [1, 0]);
});

void t.test('a fresh store has no time of grace', async (t) => {
  const place = await startedPlace(t, ({ store }) => {
    const rule = aRule({ type: 'inactivity', threshold: 1 });
    store.rules.set(rule.alert.id, rule);
    store.figures.set(AGENT, { ...NOTHING, activeAt: 0 });
  });
  t.equal(place.store.firings.length, 1);
});

for (const method of ['observe', 'exampleTraces', 'recordFirings'] as const)
  void t.test(`an evaluation that fails (${method}) is made up for by the next tick`, async (t) => {
    const place = await startedPlace(t, (place) => {
      firing(place);
      place.store.fail(method);
    });
    const { store } = place;
    t.same([store.firings.length, place.told.failed, place.evaluated.length], [0, 1, 0]);
    t.same(place.isFailing, [true]);
    t.match(place.logger.lines, [/^warn alerts could not be evaluated.*the disk is full/]);
    await place.pass(29_999);
    t.equal(place.evaluated.length, 0);
    await place.pass(1);
    t.same([store.firings.length, place.evaluated.length], [1, 1]);
    t.same(place.isFailing, [true, false]);
  });

void t.test('what was touched is not forgotten by a store that fails', async (t) => {
  for (const method of ['takeTouched', 'observe'] as const) {
    const place = await startedPlace(t, ({ store }) => {
      const rule = aRule();
      store.rules.set(rule.alert.id, rule);
    });
    const { store } = place;
    store.figures.set(AGENT, BAD);
    store.touch(IS_TOUCHED);
    store.fail(method);
    await place.pass(1000);
    t.same([store.firings.length, place.told.failed], [0, 1]);
    await place.pass(29_000);
    t.equal(store.firings.length, 1);
    store.figures.set(AGENT, GOOD);
    place.evaluated.length = 0;
    store.touch(IS_TOUCHED);
    await place.pass(250);
    t.same(place.evaluated, [1], 'it is called again');
  }
});

void t.test('states outlast a store that fails: no end of an incident, and no second firing', async (t) => {
  const place = await startedPlace(t, firing);
  const { store } = place;
  store.figures.set(AGENT, GOOD);
  await place.passTicks(1);
  for (let ticks = 0; ticks < 20; ticks++) {
    store.fail('observe');
    await place.passTicks(1);
  }
  store.figures.set(AGENT, BAD);
  await place.passTicks(2);
  t.same([store.firings.length, store.resolutions.length, place.told.failed], [1, 0, 20]);
  t.same(place.isFailing, [true, false]);
});

void t.test('an end that could not be written is written at the next tick', async (t) => {
  const place = await startedPlace(t, firing);
  const { store } = place;
  store.figures.set(AGENT, GOOD);
  store.fail('recordResolutions');
  await place.passTicks(11);
  t.same([store.resolutions.length, place.told.failed], [0, 1]);
  await place.passTicks(1);
  t.equal(store.resolutions.length, 1);
});

void t.test('a beat that fails is repeated', async (t) => {
  const place = await startedPlace(t);
  const { store, clock } = place;
  store.fail('beatAlerts');
  await place.passTicks(1);
  t.equal(place.told.failed, 1);
  await place.passTicks(1);
  t.equal(store.lastBeat, clock.now());
});

void t.test('a start that fails leaves nothing behind', async (t) => {
  for (const method of ['listRules', 'beatAlerts'] as const) {
    const place = new EvaluatorPlace();
    firing(place);
    place.store.fail(method);
    await t.rejects(place.start(), { message: 'the disk is full' });
    t.equal(place.store.watchers, 0);
    await place.passTicks(2);
    t.same(place.store.observed, []);
    await place.stop();
    t.equal(place.store.lastBeat, null);
  }
});

void t.test('evaluations never overlap: what is due meanwhile is judged after', async (t) => {
  const { opened, open } = gate();
  const place = await startedPlace(t, (place) => {
    firing(place);
    place.store.before('observe', () => opened);
  });
  const { store } = place;
  await place.passTicks(4);
  store.touch(IS_TOUCHED);
  await place.pass(1000);
  t.equal(store.observed.length, 0);
  open();
  await place.settle();
  t.same([store.observed.length, store.firings.length], [2, 1]);
});

void t.test('who stops waits for what is under way, and notes until when', async (t) => {
  const { opened, open } = gate();
  const place = await startedPlace(t, (place) => {
    firing(place);
    place.store.before('recordFirings', () => opened);
  });
  const { store, clock } = place;
  clock.advance(10_000);
  let isStopped = false;
  const stopped = place.stop().then(() => (isStopped = true));
  await place.settle();
  t.notOk(isStopped);
  open();
  await stopped;
  t.same([store.firings.length, store.lastBeat, store.watchers], [1, clock.now(), 0]);
  store.touch(IS_TOUCHED);
  await place.passTicks(3);
  t.equal(store.observed.length, 1, 'nothing goes on');
});

void t.test('who stops does not wait beyond the deadline', async (t) => {
  const { opened, open } = gate();
  const place = await startedPlace(t, (place) => {
    firing(place);
    place.store.before('observe', () => opened);
  });
  const deadline = new AbortController();
  const stopped = place.stop(deadline.signal);
  deadline.abort();
  await stopped;
  t.same(place.store.firings, []);
  open();
});

void t.test('an evaluation that is stopped begins nothing more', async (t) => {
  const { opened, open } = gate();
  const place = await startedPlace(t, (place) => {
    firing(place);
    place.store.before('observe', () => opened);
  });
  const stopped = place.stop();
  open();
  await stopped;
  t.same(place.store.firings, []);
  await place.restart();
  t.equal(place.store.firings.length, 1);
});

void t.test(
  'many rules: targets are asked for once and in portions, and others get their turns',
  async (t) => {
    const RULES = 20_000;
    const AGENTS = 4500;
    const types = ['failure_rate', 'inactivity', 'latency_threshold', 'cost_threshold'] as const;
    const place = new EvaluatorPlace();
    const { store } = place;
    t.teardown(() => place.stop());
    for (let at = 0; at < RULES; at++) {
      const agent_id = `agent ${at % AGENTS}`;
      const rule = aRule({
        type: types[Math.floor(at / AGENTS) % 4] ?? 'inactivity',
        threshold: 1e6,
        agent_id,
      });
      store.rules.set(rule.alert.id, rule);
    }
    await place.start();
    await until('all are judged', () => place.evaluated.length > 0);
    t.same(place.evaluated, [RULES]);
    const asked = store.observed.map(({ targets }) => targets.length);
    t.same(asked, [2000, 2000, 500]);
    t.equal(new Set(store.observed.flatMap(({ now }) => now)).size, 1);
    t.ok(store.observed[0]?.targets.every(({ runs, cost, activity }) => runs && cost && activity));
  },
);

void t.test('many firings are written in groups', async (t) => {
  const place = new EvaluatorPlace();
  const { store } = place;
  t.teardown(() => place.stop());
  const sizes: number[] = [];
  const record = store.recordFirings.bind(store);
  store.recordFirings = async (firings) => {
    sizes.push(firings.length);
    return await record(firings);
  };
  for (let at = 0; at < 250; at++) firing(place);
  await place.start();
  await until('all have fired', () => place.evaluated.length > 0);
  t.same(sizes, [100, 100, 50]);
  t.equal(place.told.fired, 250);
});
