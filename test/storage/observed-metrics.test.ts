import t from 'tap';
import type { MetricPoint } from '../../src/signal/metric.js';
import type { SeriesPoint } from '../../src/storage/alert-store.js';
import { aMetric, aPoint } from '../support/metric-points.js';
import { NOON } from '../support/run-records.js';
import { AT_NOON } from './observing.js';
import { TestStore } from './test-store.js';

const RECEIVED = { receivedAt: NOON };
const SECOND = 1_000_000;

function of(name: string, service_name: string, value: number | null, timestamp: number = NOON): MetricPoint {
  return aPoint({ stream: aMetric({ name }), labels: { service_name }, value, timestamp });
}

async function newest(
  { store }: TestStore,
  metrics: readonly { readonly userId: string; readonly name: string }[],
): Promise<[service: string, value: number, ago: number][][]> {
  const observed = await store.observe({ ...AT_NOON, metrics });
  return observed.metrics.map((series) =>
    series.map(({ labels, value, timestamp }) => [
      labels.service_name ?? '',
      value,
      (NOON - timestamp) / SECOND,
    ]),
  );
}

void t.test('the newest finite point of each series is told, by the microsecond', async (t) => {
  const opened = await TestStore.open(t);
  const [tenant, other] = [await opened.addUser(), await opened.addUser()];
  const { pointsStart } = AT_NOON;
  const cpu = (service: string, value: number | null, timestamp?: number): MetricPoint =>
    of('cpu', service, value, timestamp);
  await opened.store.writeMetrics(
    {
      tenant,
      items: [
        cpu('a', 2, NOON - SECOND),
        cpu('a', 1, NOON - 2 * SECOND),
        cpu('stale', 3, pointsStart),
        cpu('fresh', 4, pointsStart + SECOND),
        cpu('future', 5, NOON + 1),
        cpu('not a number', Number.NaN, NOON),
        cpu('not a number', 6, NOON - 3 * SECOND),
        cpu('infinite', Infinity, NOON),
        cpu('none', null, NOON),
        of('memory', 'a', -1, NOON),
      ],
    },
    RECEIVED,
  );
  await opened.store.writeMetrics({ tenant: other, items: [cpu('other', 7)] }, RECEIVED);
  const asked = [
    { userId: tenant, name: 'cpu' },
    { userId: tenant, name: 'nothing' },
    { userId: other, name: 'cpu' },
    { userId: 'nobody', name: 'cpu' },
    { userId: tenant, name: 'memory' },
    { userId: tenant, name: 'cpu' },
  ];
  const series = [
    ['a', 2, 1],
    ['fresh', 4, 299],
    ['not a number', 6, 3],
  ];
  const expected = [series, [], [['other', 7, 0]], [], [['a', -1, 0]], series];
  t.strictSame(await newest(opened, asked), expected);
  // A late point, and one of the same time as another: what came last counts.
  await opened.store.writeMetrics({ tenant, items: [cpu('a', 0, NOON - 5 * SECOND)] }, RECEIVED);
  t.strictSame((await newest(opened, asked))[0], series);
  await opened.store.writeMetrics({ tenant, items: [cpu('a', 1.5, NOON - SECOND)] }, RECEIVED);
  t.strictSame((await newest(opened, asked))[0], [['a', 1.5, 1], ...series.slice(1)]);
  await opened.reopen({ segmentSize: { rows: 1, bytes: 1e9 } });
  await opened.store.writeMetrics({ tenant, items: [cpu('b', 1)] }, RECEIVED);
  await opened.store.settled();
  t.strictSame((await newest(opened, asked))[0], [['a', 1.5, 1], ['b', 1, 0], ...series.slice(1)]);
});

void t.test('labels come as they were sent, and a newer point has a greater number', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const odd = { '': '"', 'a,\n': ':\\', 'é😀': '\0' };
  const look = async (): Promise<readonly SeriesPoint[]> => {
    const { metrics } = await opened.store.observe({
      ...AT_NOON,
      metrics: [{ userId: tenant, name: 'cpu.load' }],
    });
    return metrics[0] ?? [];
  };
  const items = [aPoint({ labels: odd, value: 0.1 }), aPoint({ labels: {}, value: -0.2 })];
  await opened.store.writeMetrics({ tenant, items }, RECEIVED);
  const [first, second] = await look();
  t.match(
    [first, second],
    [
      { labels: odd, value: 0.1 },
      { value: -0.2, timestamp: NOON },
    ],
  );
  t.strictSame(second?.labels, {});
  await opened.store.writeMetrics({ tenant, items: items.slice(0, 1) }, RECEIVED);
  const [later, same] = await look();
  t.ok((later?.seq ?? 0) > (first?.seq ?? 0));
  t.equal(same?.seq, second?.seq);
});
