import t from 'tap';
import type { AlertRule } from '../../src/storage/contracts/alerts.js';
import { AGENT, AGENT_NAME, aComposite, aRule, BAD, NOTHING, runs } from './alert-samples.js';
import { openControlStore } from '../support/control-store.js';
import { HandClock } from '../support/hand-clock.js';
import { EvaluatorPlace, firing, startedPlace } from './evaluator-place.js';
import { PlacedStore } from './placed-store.js';

void t.test('evaluates changed rules together after a quarter of a second', async (t) => {
  const place = await startedPlace(t, async ({ store }) => {
    const others = { agent_id: 'another', agent_name: 'another' };
    for (const rule of [aRule(), aRule(), aRule(others)]) await store.add(rule);
  });
  const { store } = place;
  place.evaluated.length = 0;
  place.touch();
  store.stats.set(AGENT, BAD);
  await place.pass(200);
  place.touch();
  await place.pass(49);
  t.same(place.evaluated, []);
  await place.pass(1);
  t.same(place.evaluated, [2]);
  t.equal(store.firings.length, 2);
  place.touch();
  await place.pass(250);
  t.same(place.evaluated, [2, 2], 'evaluated again');
});

void t.test('rules change by their agent, by spans for a service and by points for a metric', async (t) => {
  const onService = aRule({ agent_id: null, agent_name: null, target_service: 'db' });
  const onMetric = aComposite(
    'or',
    { type: 'failure_rate', source: 'ai', threshold: 0.5 },
    { type: 'metric_threshold', source: 'infra', metric_name: 'cpu', operator: 'gt', value: 50 },
  );
  const place = await startedPlace(t, async ({ store }) => {
    for (const rule of [aRule(), onService, onMetric]) await store.add(rule);
  });
  const { store } = place;
  const asked = async (touched: Parameters<typeof place.touch>[0]): Promise<number> => {
    place.evaluated.length = 0;
    place.touch({ agents: [], ...touched });
    await place.pass(1000);
    return place.evaluated[0] ?? 0;
  };
  t.equal(await asked({ agents: [AGENT_NAME] }), 2);
  t.equal(await asked({ hasSpans: true }), 1);
  t.equal(await asked({ hasPoints: true }), 1);
  t.equal(await asked({ agents: [AGENT_NAME], hasSpans: true, hasPoints: true }), 3);
  t.equal(await asked({ agents: ['another'] }), 0);
  const names = Array.from({ length: 10_001 }, (_, at) => `agent ${at}`);
  t.equal(await asked({ agents: names }), 3, 'too many names may match anything');
  await store.delete(onMetric);
  t.equal(await asked({ agents: [AGENT_NAME], hasPoints: true }), 1);
});

void t.test('slow evaluations delay changed rules by at most a second', async (t) => {
  const place = await startedPlace(t, firing);
  const { store, clock } = place;
  const waits = async (tookMs: number): Promise<number> => {
    // A tick may occur in between; its evaluation clears the change.
    await place.pass(30_000);
    store.before('observe', () => {
      clock.advance(tookMs);
    });
    place.touch();
    await place.pass(1000);
    place.evaluated.length = 0;
    place.touch();
    for (let waited = 0; ; waited += 10) {
      if (place.evaluated.length > 0) return waited;
      await place.pass(10);
    }
  };
  t.equal(await waits(10), 250);
  t.equal(await waits(150), 600);
  t.equal(await waits(2000), 1000);
});

void t.test('a tick evaluates all rules, including changed ones', async (t) => {
  const place = await startedPlace(t, firing);
  place.evaluated.length = 0;
  await place.pass(29_900);
  place.touch();
  await place.pass(100);
  t.same(place.evaluated, [1]);
  await place.pass(1000);
  t.same(place.evaluated, [1]);
});

void t.test('evaluates all rules repeatedly if other processes write to the store', async (t) => {
  const place = await startedPlace(t, firing, { isShared: true });
  const { store, clock } = place;
  place.evaluated.length = 0;
  await place.pass(900);
  t.same(place.evaluated, []);
  await place.pass(100);
  t.same(place.evaluated, [1]);
  // Longer evaluations cause longer pauses.
  store.before('observe', () => {
    clock.advance(500);
  });
  await place.pass(1000);
  t.same(place.evaluated, [1, 1]);
  await place.pass(4900);
  t.same(place.evaluated, [1, 1]);
  await place.pass(100);
  t.same(place.evaluated, [1, 1, 1]);
  await place.stop();
  await place.pass(30_000);
  t.same(place.evaluated, [1, 1, 1]);
});

void t.test('evaluates a new or changed rule immediately', async (t) => {
  const place = await startedPlace(t, ({ store }) => {
    store.stats.set(AGENT, BAD);
  });
  const { store } = place;
  const rule = aRule({ threshold: 1 });
  await store.add(rule);
  await place.settle();
  t.same([place.evaluated.at(-1), store.firings.length], [1, 0]);
  await store.change(rule, { threshold: 0.9 });
  await place.settle();
  t.same([place.evaluated.at(-1), store.firings.length], [1, 1]);
  const count = place.evaluated.length;
  await store.change(rule, { channel: 'both', webhook_url: 'https://hook.test/' });
  await place.settle();
  t.equal(place.evaluated.length, count, 'the recipient does not affect the evaluation');
});

void t.test('a paused or deleted rule is not evaluated; a resumed one starts over', async (t) => {
  const rule = aRule({ threshold: 0.5, cooldown_minutes: 0, is_active: false });
  const place = await startedPlace(t, async (place) => await firing(place, rule));
  const { store } = place;
  t.equal(store.firings.length, 0);
  await store.change(rule, { is_active: true });
  await place.settle();
  t.equal(store.firings.length, 1);
  await store.change(rule, { is_active: false });
  await place.passTicks(20);
  t.same([store.firings.length, store.resolutions.length], [1, 0]);
  store.stats.set(AGENT, { ...NOTHING, window: runs(9, 9) });
  await store.change(rule, { is_active: true });
  await place.settle();
  t.equal(store.firings.length, 2);
  t.equal(store.firings[1]?.incident.firings, 1);
  await store.delete(rule);
  store.stats.set(AGENT, { ...NOTHING, window: runs(10, 10) });
  await place.passTicks(2);
  t.equal(store.firings.length, 2);
});

void t.test('rule changes while rules are read are not missed', async (t) => {
  const [paused, changed] = [aRule(), aRule({ threshold: 1 })];
  const place = await startedPlace(t, async (place) => {
    const { store } = place;
    await firing(place, paused);
    await firing(place, changed);
    // The first read has finished when the next call arrives.
    store.before('beat', async () => {
      await store.change(paused, { is_active: false });
      await store.change(changed, { threshold: 0.5 });
    });
  });
  t.same(
    place.store.firings.map(({ alertId }) => alertId),
    [changed.alert.id],
  );
});

void t.test('finds changes without a hint on the next tick', async (t) => {
  const place = await startedPlace(t, async (place) => {
    place.store.hints = false;
    place.store.stats.set(AGENT, BAD);
  });
  const { store } = place;
  await store.add(aRule());
  await place.settle();
  t.equal(store.firings.length, 0);
  await place.passTicks(1);
  t.equal(store.firings.length, 1);
});

for (const [what, change] of [
  ['deleted', ({ store }: EvaluatorPlace, rule: AlertRule) => store.delete(rule)],
  ['paused', ({ store }: EvaluatorPlace, rule: AlertRule) => store.change(rule, { is_active: false })],
  ['changed', ({ store }: EvaluatorPlace, rule: AlertRule) => store.change(rule, { threshold: 1 })],
] as const)
  for (const method of ['observe', 'exampleTraces'] as const)
    void t.test(`a rule that is ${what} during an evaluation (${method}) does not fire`, async (t) => {
      let recorded = 0;
      const place = await startedPlace(t, async (place) => {
        const rule = await firing(place);
        place.store.before(method, async () => {
          await change(place, rule);
          // Its hint is processed.
          await place.settle();
        });
        place.store.before('recordFirings', () => recorded++);
      });
      await place.passTicks(1);
      t.same([place.store.firings.length, recorded, place.notified.failed], [0, 0, 0]);
    });

void t.test('requests stats of many rules in portions at one moment', async (t) => {
  const place = await EvaluatorPlace.open(t);
  const { store } = place;
  for (let at = 0; at < 25; at++) {
    const conditions = Array.from({ length: 99 }, (_, i) => {
      const metric_name = `metric ${i}`;
      return { type: 'metric_threshold', source: 'infra', metric_name, operator: 'gt', value: 1 } as const;
    });
    const { alert, ...rule } = aComposite('or', ...conditions);
    const target = { agent_id: null, agent_name: null, target_service: `service ${at}` };
    await store.add({ ...rule, alert: { ...alert, ...target } });
  }
  await place.start();
  t.same(place.evaluated, [25]);
  t.same(
    store.observed.map(({ targets, metrics }) => [targets.length, metrics.length]),
    [
      [20, 1980],
      [5, 495],
    ],
  );
  t.equal(new Set(store.observed.flatMap(({ now }) => now)).size, 1);
});

void t.test('two daemons share rules, each by its own telemetry', async (t) => {
  const clock = new HandClock();
  const control = await openControlStore(t, { clock });
  const here = new EvaluatorPlace(await PlacedStore.of(control, 'here'), clock);
  const there = new EvaluatorPlace(await PlacedStore.of(control, 'there'), clock);
  const places = [here, there];
  t.teardown(() => Promise.all(places.map((place) => place.stop())));
  const rule = aRule({ cooldown_minutes: 1 });
  await here.store.add(rule);
  for (const place of places) await place.start();
  const pass = async (ticks: number): Promise<void> => {
    for (let tick = 0; tick < ticks; tick++) {
      await here.pass(30_000);
      await there.settle();
    }
  };
  here.store.stats.set(AGENT, BAD);
  there.store.stats.set(AGENT, { ...NOTHING, window: runs(9, 0) });
  await pass(20);
  t.same([here.store.firings.length, there.store.firings.length], [1, 0]);
  t.same(there.store.resolutions, [], 'another daemon may still fire on it');
  there.store.stats.set(AGENT, { ...NOTHING, window: runs(10, 10) });
  await pass(20);
  t.same([here.store.firings.length, there.store.firings.length], [1, 1], 'nothing is repeated');
  t.match(there.store.firings, [{ incident: { firings: 2 } }]);
  here.store.stats.set(AGENT, { ...NOTHING, window: runs(5, 0) });
  await pass(20);
  t.same(
    [here.store.resolutions.length, there.store.resolutions.length],
    [0, 0],
    'the last resolution counts',
  );
  there.store.stats.set(AGENT, { ...NOTHING, window: runs(11, 0) });
  await pass(20);
  t.same([here.store.resolutions.length, there.store.resolutions.length], [0, 1]);
});
