import t from 'tap';
import { portionsOf } from '../../src/alerting/observing.js';
import type { Alert, AlertRule } from '../../src/storage/contracts/alerts.js';
import { aComposite, aRule } from './alert-samples.js';

/** A composite alert on metrics. */
function looksAt(names: readonly string[], changes: Partial<Alert> = {}): AlertRule {
  const conditions = names.map((metric_name) => {
    return { type: 'metric_threshold', source: 'infra', metric_name, operator: 'gt', value: 1 } as const;
  });
  const { alert, ...rule } = aComposite('or', ...conditions);
  return { ...rule, alert: { ...alert, ...changes } };
}

function sizes(rules: readonly AlertRule[], most: number): [rules: number, asked: number][] {
  const watched = rules.map((rule) => ({ rule, known: null }));
  return [...portionsOf(watched, most)].map(({ inquiry, rules: those }) => [those.length, inquiry.size]);
}

void t.test('batches rules by target as long as their metrics fit', async (t) => {
  t.strictSame(
    sizes(
      [...Array(50).keys()].map(() => aRule()),
      4,
    ),
    [[50, 1]],
  );
  const one = [...Array(10).keys()].map((i) => looksAt([`cpu ${i}`]));
  t.strictSame(sizes(one, 4), [
    [4, 5],
    [4, 5],
    [2, 3],
  ]);
  const alike = one.map(() => looksAt(['cpu', 'memory']));
  t.strictSame(sizes(alike, 4), [[10, 3]]);
  t.strictSame(sizes([looksAt([...Array(9).keys()].map(String))], 4), [[1, 10]]);
  const others = ['a', 'b', 'c'].map((agent_id) => looksAt(['cpu'], { agent_id }));
  t.strictSame(sizes(others, 4), [[3, 4]]);
});

void t.test('requests a metric once per service, and once for all agents', async (t) => {
  const of = (target_service: string): AlertRule =>
    looksAt(['cpu', 'cpu'], { agent_id: null, target_service });
  const rules = [of('a'), of('b'), of('a'), looksAt(['cpu']), looksAt(['cpu'], { agent_id: 'other' })];
  const [portion] = [
    ...portionsOf(
      rules.map((rule) => ({ rule, known: null })),
      100,
    ),
  ];
  const moment = { now: 0, windowStart: 0, pointsStart: 0, days: [], minSamples: 1, knowsActivity: true };
  const { metrics } = portion?.inquiry.request({ ...moment, days: [{ from: 0, to: 1 }] }) ?? {};
  const services = metrics?.map(({ service }) => service);
  t.strictSame(services, ['a', 'b', null]);
});
