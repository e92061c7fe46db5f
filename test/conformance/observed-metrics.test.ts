import t, { type Test } from 'tap';
import type { MetricPoint } from '../../src/signal/metric.js';
import type { MetricStats, WantedMetric } from '../../src/storage/contracts/alerts.js';
import { aMetric, aPoint } from '../support/metric-points.js';
import { NOON } from '../support/run-records.js';
import { AT_NOON } from '../storage/duckdb/observing.js';
import { onEveryTelemetry, type OpenedTelemetry, type OpenTelemetry } from './telemetry-stores.js';

const RECEIVED = { receivedAt: NOON };
const SECOND = 1_000_000;

function of(name: string, host: string, value: number | null, timestamp: number = NOON): MetricPoint {
  return aPoint({ stream: aMetric({ name }), labels: { host }, value, timestamp });
}

async function observe(
  { store }: OpenedTelemetry,
  ...metrics: readonly WantedMetric[]
): Promise<readonly MetricStats[]> {
  return (await store.stats.observe({ ...AT_NOON, metrics })).metrics;
}

function ranges(stats: readonly MetricStats[]): [number, number | null, number | null][] {
  return stats.map(({ series, min, max }) => [series, min, max]);
}

function checkObserved(t: Test, open: OpenTelemetry): void {
  void t.test(
    'the newest point of each series counts, to the microsecond, and one without a value ends it',
    async (t) => {
      const opened = await open(t, { fileRows: 20 });
      const [tenant, other] = [await opened.addUser(), await opened.addUser()];
      const { pointsStart } = AT_NOON;
      const cpu = (host: string, value: number | null, timestamp?: number): MetricPoint =>
        of('cpu', host, value, timestamp);
      const items = [
        cpu('a', 2, NOON - SECOND),
        cpu('a', 1, NOON - 2 * SECOND),
        cpu('stale', 30, pointsStart),
        cpu('fresh', 4, pointsStart + 1),
        cpu('future', 50, NOON + 1),
        cpu('not a number', Number.NaN, NOON),
        cpu('not a number', 6, NOON - 3 * SECOND),
        cpu('infinite', Infinity, NOON),
        cpu('none', null, NOON),
        of('memory', 'a', -1, NOON),
      ];
      await opened.store.writer.metrics({ tenant, items }, RECEIVED);
      await opened.store.writer.metrics({ tenant: other, items: [cpu('other', 7)] }, RECEIVED);
      const service = null;
      const wanted = { userId: tenant, name: 'cpu', service };
      const look = async () => ranges(await observe(opened, wanted))[0];
      const found = await observe(
        opened,
        wanted,
        { userId: tenant, name: 'nothing', service },
        { userId: other, name: 'cpu', service },
        { userId: 'nobody', name: 'cpu', service },
        { userId: tenant, name: 'memory', service },
        wanted,
      );
      const nothing = [0, null, null];
      t.strictSame(ranges(found), [[2, 2, 4], nothing, [1, 7, 7], nothing, [1, -1, -1], [2, 2, 4]]);
      t.same(found[1]?.isNew, []);
      // A late point, and one with the time of another: the last received counts.
      await opened.store.writer.metrics({ tenant, items: [cpu('a', 0, NOON - 5 * SECOND)] }, RECEIVED);
      t.strictSame(await look(), [2, 2, 4]);
      await opened.store.writer.metrics({ tenant, items: [cpu('a', 1.5, NOON - SECOND)] }, RECEIVED);
      t.strictSame(await look(), [2, 1.5, 4]);
      await opened.reopen();
      await opened.store.writer.metrics({ tenant, items: [cpu('b', 1)] }, RECEIVED);
      await opened.settled();
      t.strictSame(await look(), [3, 1, 4]);
      await opened.store.writer.metrics({ tenant, items: [cpu('fresh', null, NOON)] }, RECEIVED);
      t.strictSame(await look(), [2, 1, 1.5]);
    },
  );

  void t.test('a service uses its own series if any series names a service', async (t) => {
    const opened = await open(t);
    const userId = await opened.addUser();
    const odd = 'a"b\\\n,\'$1😀\0';
    const series: readonly [string, number, Record<string, string>][] = [
      ['told', 10, { service_name: 'billing' }],
      ['told', 20, { 'service.name': 'billing', host: 'a' }],
      ['told', 30, { a: 'b', service: 'billing', z: '' }],
      ['told', 40, { service: 'billing', service_name: 'billing' }],
      ['told', 50, { service: 'search', service_name: odd }],
      ['told', 90, { service_name: 'billing2', a: 'service_name":"billing' }],
      ['told', 95, { host: 'billing' }],
      ['told', 99, { '"service': 'billing', 'service\n': 'billing' }],
      ['told', 70, { service: '' }],
      ['untold', 1, { host: 'billing' }],
      ['untold', 2, {}],
      ['untold', 3, { xservice: 'billing', 'a\n"service"': 'b' }],
    ];
    const items = series.map(([name, value, labels]) => aPoint({ stream: aMetric({ name }), value, labels }));
    await opened.store.writer.metrics({ tenant: userId, items }, RECEIVED);
    const stale = aPoint({ labels: { service: 'billing' }, timestamp: AT_NOON.pointsStart, value: 9 });
    const late = { ...stale, stream: aMetric({ name: 'untold' }) };
    await opened.store.writer.metrics({ tenant: userId, items: [late] }, RECEIVED);
    const cases: readonly [string, string | null, number, number | null, number | null][] = [
      ['told', 'billing', 4, 10, 40],
      ['told', 'search', 1, 50, 50],
      ['told', odd, 1, 50, 50],
      ['told', '', 1, 70, 70],
      ['told', 'Billing', 0, null, null],
      ['told', 'billing"', 0, null, null],
      ['told', null, 9, 10, 99],
      ['untold', 'billing', 3, 1, 3],
      ['untold', 'search', 3, 1, 3],
      ['untold', null, 3, 1, 3],
      ['nothing', 'billing', 0, null, null],
    ];
    const asked = cases.map(([name, service]) => ({ userId, name, service }));
    const expected = cases.map(([, , ...range]) => range);
    t.strictSame(ranges(await observe(opened, ...asked)), expected, 'requested together');
    for (const [i, one] of asked.entries())
      t.strictSame(ranges(await observe(opened, one)), [expected[i]], `${one.name} ${String(one.service)}`);
  });
}

await onEveryTelemetry(t, checkObserved);
