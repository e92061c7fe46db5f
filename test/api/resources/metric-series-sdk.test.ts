import { setTimeout as wait } from 'node:timers/promises';
import type { Attributes } from '@opentelemetry/api';
import { AggregationTemporalityPreference as Temporality } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { resources } from '@opentelemetry/sdk-node';
import t from 'tap';
import { MOST_METRIC_SERIES } from '../../../src/storage/contracts/metrics.js';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon, type TestDaemon } from '../../support/daemon.js';

interface Answer {
  readonly type: string;
  readonly unit: string;
  readonly step: number;
  readonly series: readonly {
    readonly labels: Readonly<Record<string, string>>;
    readonly points: readonly (readonly [number, number])[];
  }[];
  readonly is_truncated: boolean;
}

const MINUTE = 60_000;
/** Wide enough for the whole test to fall into one step, because the SDK uses the system clock. */
const STEP = [86_400, 25_200].find((seconds) => {
  const into = Date.now() % (seconds * 1000);
  return into > 5 * MINUTE && into < seconds * 1000 - 5 * MINUTE;
});

/** An instrumented program that exports on request and at its end. */
class Source {
  readonly provider: MeterProvider;

  constructor({ otlpUrl, key }: TestDaemon, temporalityPreference: Temporality) {
    const exporter = new OTLPMetricExporter({
      url: `${otlpUrl}/v1/metrics`,
      headers: { authorization: `Bearer ${key}` },
      temporalityPreference,
    });
    this.provider = new MeterProvider({
      resource: resources.resourceFromAttributes({ 'service.name': 'shop' }),
      readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 })],
    });
  }

  counter(name: string) {
    return this.provider.getMeter('shop-library').createCounter(name, { unit: '{order}' });
  }

  async exports(): Promise<void> {
    await isLater();
    await this.provider.forceFlush();
  }

  async ends(): Promise<void> {
    await isLater();
    await this.provider.shutdown();
  }
}

/** SDK times have milliseconds, and a sum that starts at its first point has an unknown start. */
async function isLater(): Promise<void> {
  await wait(5);
}

void t.test('reads series exported by the OpenTelemetry SDK', async (t) => {
  if (STEP === undefined) throw new Error('no step holds the moment');
  const step = STEP;
  const daemon = await startTestDaemon(t);
  const api = new ApiCaller(daemon.url, daemon.key);
  const ask = (name: string, more: Readonly<Record<string, string>> = {}) => {
    const begin = Math.floor(Date.now() / (step * 1000)) * step * 1000;
    const from = new Date(begin).toISOString();
    const until = new Date(begin + step * 1000).toISOString();
    const query = { name, start_time: from, end_time: until, step: String(step), ...more };
    return api.get<Answer>(`/dashboard/metrics/series?${new URLSearchParams(query).toString()}`);
  };
  /** The value of the only step of the only series. */
  const only = async (name: string, agg: string, more: Readonly<Record<string, string>> = {}) => {
    const { series } = await ask(name, { agg, group_by: '', ...more });
    if (series.length !== 1 || series[0]?.points.length !== 1) throw new Error(JSON.stringify(series));
    return series[0].points[0]?.[1] ?? NaN;
  };
  /** Total count according to the rate. */
  const counted = async (name: string) => Number(((await only(name, 'rate')) * step).toFixed(6));

  for (const temporality of ['CUMULATIVE', 'DELTA'] as const)
    await t.test(`a counter, ${temporality.toLowerCase()}, across a restart of its source`, async (t) => {
      const name = `orders.${temporality.toLowerCase()}`;
      await countOverRestart(name, () => new Source(daemon, Temporality[temporality]));
      t.equal(await counted(name), 16, 'nothing lost or counted twice');
      // Current value of a cumulative counter, or the sum of deltas.
      t.equal(await only(name, 'sum'), temporality === 'DELTA' ? 16 : 4);
      const { type, unit, series, is_truncated } = await ask(name, { agg: 'rate' });
      t.match({ type, unit, is_truncated }, { type: 'sum', unit: '{order}', is_truncated: false });
      t.strictSame(
        series.map(({ labels, points }) => [
          labels['kind'],
          Number(((points[0]?.[1] ?? 0) * step).toFixed(6)),
        ]),
        [
          ['book', 13],
          ['pen', 3],
        ],
      );
      t.same(await api.get(`/dashboard/metrics/labels?name=${name}`), [
        { key: 'kind', values: ['book', 'pen'], is_truncated: false },
        { key: 'service_name', values: ['shop'], is_truncated: false },
      ]);
    });

  for (const temporality of ['CUMULATIVE', 'DELTA'] as const)
    await t.test(`a histogram, ${temporality.toLowerCase()}`, async (t) => {
      const name = `took.${temporality.toLowerCase()}`;
      const source = new Source(daemon, Temporality[temporality]);
      const histogram = source.provider.getMeter('shop-library').createHistogram(name, {
        unit: 'ms',
        advice: { explicitBucketBoundaries: [10, 20, 40] },
      });
      for (let value = 1; value <= 10; value++) histogram.record(value);
      await source.exports();
      for (let value = 21; value <= 40; value++) histogram.record(value);
      await source.ends();
      t.equal(await counted(name), 30, 'each measurement once');
      t.equal(await only(name, 'sum'), 55 + 610);
      t.equal(Number((await only(name, 'avg')).toFixed(6)), Number((665 / 30).toFixed(6)));
      t.equal(await only(name, 'p50'), 25, 'a quarter of the bucket from 20 to 40');
      t.equal((await ask(name, { agg: 'p95' })).unit, 'ms');
    });

  await t.test('a gauge', async (t) => {
    const source = new Source(daemon, Temporality.CUMULATIVE);
    const gauge = source.provider.getMeter('shop-library').createGauge('queue.depth');
    gauge.record(10);
    await source.exports();
    gauge.record(20);
    await source.ends();
    for (const [agg, value] of [
      ['avg', 15],
      ['min', 10],
      ['max', 20],
      ['last', 20],
      ['sum', 20],
    ] as const)
      t.equal(await only('queue.depth', agg), value, agg);
  });

  await t.test('truncates to the largest series and says so', async (t) => {
    const source = new Source(daemon, Temporality.DELTA);
    const counter = source.counter('by.customer');
    const all = MOST_METRIC_SERIES + 20;
    for (let customer = 1; customer <= all; customer++) counter.add(customer, { customer: String(customer) });
    await source.ends();
    const { series, is_truncated } = await ask('by.customer', { agg: 'sum' });
    t.equal(is_truncated, true);
    t.equal(series.length, MOST_METRIC_SERIES);
    t.equal(Math.min(...series.map(({ points }) => points[0]?.[1] ?? 0)), 21);
    const together = await ask('by.customer', { agg: 'sum', group_by: '' });
    t.equal(together.series[0]?.points[0]?.[1], (all * (all + 1)) / 2, 'the sum over all series is complete');
    t.match(await api.get('/dashboard/metrics/labels?name=by.customer'), [
      { key: 'customer', is_truncated: false },
      { key: 'service_name' },
    ]);
  });
});

/** Counts 8 books and a pen, then 2 books and a pen until the end, and 3 books and a pen after a restart. */
async function countOverRestart(name: string, start: () => Source): Promise<void> {
  const add = (counter: { add(value: number, of: Attributes): void }, books: number, pens: number) => {
    counter.add(books, { kind: 'book' });
    counter.add(pens, { kind: 'pen' });
  };
  const first = start();
  const counter = first.counter(name);
  add(counter, 8, 1);
  await first.exports();
  add(counter, 2, 1);
  await first.ends();
  const second = start();
  add(second.counter(name), 3, 1);
  await second.ends();
}
