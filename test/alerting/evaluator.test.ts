import t from 'tap';
import type { AlertRule } from '../../src/storage/alert-store.js';
import { until } from '../support/until.js';
import { AGENT, aComposite, aRule, BAD, NOTHING, runs, USER } from './alert-samples.js';
import { EvaluatorPlace, firing, startedPlace } from './evaluator-place.js';

const IS_TOUCHED = { agents: [AGENT] };

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
  [
    'deleted',
    ({ store }: EvaluatorPlace, { alert }: AlertRule) => {
      store.delete(alert.id);
    },
  ],
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

void t.test('many rules: their targets are asked for once, in portions, at one moment', async (t) => {
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
});
