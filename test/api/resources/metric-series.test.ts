import t from 'tap';
import { startApi, type TestApi } from '../../support/api.js';
import { gaugeRequest } from '../../support/gauge-request.js';

/** 2026-05-28T20:27:00Z, in seconds. */
const START = 1_780_000_020;
const TIMES = { start_time: '2026-05-28T20:27:00Z', end_time: '2026-05-28T20:37:00Z', step: '60' };

interface Series {
  readonly labels: Readonly<Record<string, string>>;
  readonly points: readonly (readonly [number, number])[];
}
interface Answer {
  readonly type: string;
  readonly unit: string;
  readonly series: readonly Series[];
  readonly is_truncated: boolean;
}

const at = (seconds: number): string => `${START + seconds}000000000`;
const attributesOf = (labels: Readonly<Record<string, string>>): object[] =>
  Object.entries(labels).map(([key, stringValue]) => ({ key, value: { stringValue } }));

/** Points of a sum. @param began seconds after the start; null: not sent */
function sumPoints(
  values: readonly (readonly [seconds: number, value: number])[],
  began: number | null,
  labels: Readonly<Record<string, string>> = {},
): object[] {
  return values.map(([seconds, value]) => ({
    timeUnixNano: at(seconds),
    ...(began === null ? {} : { startTimeUnixNano: at(began) }),
    asDouble: value,
    attributes: attributesOf(labels),
  }));
}

async function send(
  api: TestApi,
  metric: object,
  resource: Readonly<Record<string, string>> = { 'service.name': 'shop' },
): Promise<void> {
  const json = {
    resourceMetrics: [
      { resource: { attributes: attributesOf(resource) }, scopeMetrics: [{ metrics: [metric] }] },
    ],
  };
  const { status, body } = await api.call('POST', '/otlp/v1/metrics', { json });
  if (status !== 200) throw new Error(JSON.stringify(body));
}

const cumulative = (name: string, dataPoints: object[], isMonotonic = true) => ({
  name,
  unit: '{request}',
  sum: { aggregationTemporality: 2, isMonotonic, dataPoints },
});
const delta = (name: string, dataPoints: object[]) => ({
  name,
  sum: { aggregationTemporality: 1, isMonotonic: true, dataPoints },
});

void t.test('reads metric series step by step', async (t) => {
  const api = await startApi(t);
  const ask = (parameters: Readonly<Record<string, string>>) =>
    api.get<Answer>(
      `/dashboard/metrics/series?${new URLSearchParams({ ...TIMES, ...parameters }).toString()}`,
    );
  /** Minute and value of the only series. */
  const only = async (parameters: Readonly<Record<string, string>>) => {
    const { series } = await ask(parameters);
    if (series.length !== 1) throw new Error(`There are ${series.length} series.`);
    return series[0]?.points.map(([ms, value]) => [(ms / 1000 - START) / 60, Number(value.toFixed(6))]);
  };

  await t.test('gauges, grouped by labels and combined', async (t) => {
    const points = [
      { seconds: 0, value: 2, host: 'a' },
      { seconds: 30, value: 4, host: 'a' },
      { seconds: 59, value: 9, host: 'b' },
      { seconds: 60, value: 7, host: 'a' },
      { seconds: 599, value: 5, host: 'b' },
      { seconds: 600, value: 99, host: 'b' },
      { seconds: -1, value: 99, host: 'b' },
    ].map(({ seconds, value, host }) => ({
      name: 'load',
      value,
      nanos: BigInt(at(seconds)),
      attributes: { host, zone: 'x' },
    }));
    const { status } = await api.call('POST', '/otlp/v1/metrics', { json: gaugeRequest('shop', points) });
    t.equal(status, 200);
    const each = await ask({ name: 'load' });
    t.match(each, { type: 'gauge', unit: 's', step: 60, is_truncated: false });
    t.strictSame(
      each.series.map(({ labels, points: [first, ...others] }) => [labels.host, first?.[1], others.length]),
      [
        ['a', 3, 1],
        ['b', 9, 1],
      ],
    );
    t.strictSame(each.series[0]?.labels, { host: 'a', service_name: 'shop', zone: 'x' });
    const together = async (agg: string) => await only({ name: 'load', group_by: 'zone', agg });
    t.strictSame(await together('avg'), [
      [0, 5],
      [1, 7],
      [9, 5],
    ]);
    t.strictSame((await together('min'))?.[0], [0, 2]);
    t.equal((await ask({ name: 'load', group_by: 'toString' })).series.length, 1, 'a label without points');
    t.strictSame((await together('max'))?.[0], [0, 9]);
    t.strictSame((await together('last'))?.[0], [0, 9], 'newest of all');
    t.strictSame(
      (await only({ name: 'load', group_by: '', agg: 'sum' }))?.[0],
      [0, 13],
      'newest of each host',
    );
    t.strictSame((await only({ name: 'load', labels: '{"host":"a"}', agg: 'sum' }))?.[0], [0, 4]);
    t.strictSame((await ask({ name: 'load', labels: '{"host":"c"}' })).series, []);
  });

  await t.test('a cumulative counter: differences between points, restarts and first points', async (t) => {
    const restarted = [
      ...sumPoints(
        [
          [-60, 1000],
          [0, 1060],
          [60, 1120],
          [120, 1180],
        ],
        -90_000,
      ),
      ...sumPoints(
        [
          [240, 30],
          [300, 60],
        ],
        180,
      ),
    ];
    await send(api, cumulative('requests', restarted));
    t.strictSame(await only({ name: 'requests', agg: 'rate' }), [
      [0, 1],
      [1, 1],
      [3, 0.5],
      [4, 0.5],
    ]);
    t.strictSame((await only({ name: 'requests', agg: 'sum' }))?.[2], [2, 1180], 'current value');

    await send(
      api,
      cumulative(
        'began.long.ago',
        sumPoints(
          [
            [30, 86_400],
            [90, 86_460],
          ],
          -86_370,
        ),
      ),
    );
    t.strictSame(
      await only({ name: 'began.long.ago', agg: 'rate' }),
      [
        [0, 1],
        [1, 0.5],
      ],
      'a daily count is not assigned to the minute it first appears in',
    );
    await send(
      api,
      cumulative(
        'no.start',
        sumPoints(
          [
            [30, 5000],
            [90, 5060],
          ],
          null,
        ),
      ),
    );
    t.strictSame(await only({ name: 'no.start', agg: 'rate' }), [
      [0, 0.5],
      [1, 0.5],
    ]);
    await send(
      api,
      cumulative(
        'without.start.reset',
        sumPoints(
          [
            [0, 500],
            [60, 6],
            [120, 12],
          ],
          null,
        ),
      ),
    );
    t.strictSame(await only({ name: 'without.start.reset', agg: 'rate' }), [
      [0, 0.1],
      [1, 0.1],
    ]);
    await send(
      api,
      cumulative(
        'open',
        sumPoints(
          [
            [0, 50],
            [60, 20],
          ],
          -90_000,
          {},
        ),
        false,
      ),
    );
    t.strictSame((await only({ name: 'open', agg: 'rate' }))?.[0], [0, -0.5], 'also when it decreases');
  });

  await t.test('distinguishes sources with the same labels', async (t) => {
    for (const [instance, first] of [
      ['1', 1000],
      ['2', 10],
    ] as const) {
      const points = sumPoints(
        [
          [0, first],
          [60, first + 60],
          [120, first + 120],
        ],
        -90_000,
      );
      await send(api, cumulative('shared', points), {
        'service.name': 'shop',
        'service.instance.id': instance,
      });
    }
    t.strictSame(await only({ name: 'shared', agg: 'rate' }), [
      [0, 2],
      [1, 2],
    ]);
    t.strictSame((await only({ name: 'shared', agg: 'sum' }))?.[1], [1, 1130], 'sum of the newest values');
  });

  await t.test('deltas count in their own time range', async (t) => {
    const points = [
      ...sumPoints([[60, 30]], 0),
      ...sumPoints([[120, 60]], 60),
      ...sumPoints([[300, 180]], 120),
    ];
    await send(api, delta('jobs', points));
    t.strictSame(await only({ name: 'jobs', agg: 'rate' }), [
      [0, 0.5],
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
    ]);
    t.strictSame(await only({ name: 'jobs', agg: 'sum' }), [
      [1, 30],
      [2, 60],
      [5, 180],
    ]);
  });

  await t.test('histograms: percentiles from buckets, delta and cumulative', async (t) => {
    const point = (seconds: number, began: number, bucketCounts: readonly number[], sum: number) => ({
      timeUnixNano: at(seconds),
      startTimeUnixNano: at(began),
      count: String(bucketCounts.reduce((a, b) => a + b, 0)),
      sum,
      bucketCounts: bucketCounts.map(String),
      explicitBounds: [10, 20, 40],
    });
    const histogram = (name: string, aggregationTemporality: number, dataPoints: object[]) => ({
      name,
      unit: 'ms',
      histogram: { aggregationTemporality, dataPoints },
    });
    await send(
      api,
      histogram('took', 1, [point(30, 0, [5, 5, 0, 0], 100), point(90, 60, [0, 0, 10, 0], 300)]),
    );
    t.strictSame(await only({ name: 'took', agg: 'p50' }), [
      [0, 10],
      [1, 30],
    ]);
    t.strictSame((await only({ name: 'took', agg: 'p95' }))?.[0], [0, 19]);
    t.strictSame(await only({ name: 'took', agg: 'avg' }), [
      [0, 10],
      [1, 30],
    ]);
    t.strictSame((await only({ name: 'took', agg: 'rate' }))?.[0], [0, Number((10 / 60).toFixed(6))]);
    await send(
      api,
      histogram('took.all', 2, [
        point(-30, -90_000, [900, 0, 0, 0], 4500),
        point(30, -90_000, [900, 10, 0, 0], 4650),
        point(90, -90_000, [900, 10, 10, 0], 4950),
        point(150, 120, [4, 0, 0, 0], 20),
      ]),
    );
    t.strictSame(await only({ name: 'took.all', agg: 'p50' }), [
      [0, 15],
      [1, 30],
      [2, 5],
    ]);
    t.strictSame((await only({ name: 'took.all', agg: 'sum' }))?.slice(0, 2), [
      [0, 150],
      [1, 300],
    ]);
    // A sum that starts at its first point counts from there on.
    await send(
      api,
      histogram('took.first', 2, [point(30, 30, [5, 5, 0, 0], 100), point(50, 30, [5, 5, 10, 0], 400)]),
    );
    t.strictSame(await only({ name: 'took.first', agg: 'sum' }), [[0, 400]]);
    await send(
      api,
      cumulative(
        'first',
        sumPoints(
          [
            [30, 8],
            [50, 10],
          ],
          30,
        ),
      ),
    );
    t.strictSame(await only({ name: 'first', agg: 'rate' }), [[0, Number((2 / 60).toFixed(6))]]);
    await send(api, {
      name: 'took.exp',
      exponentialHistogram: {
        aggregationTemporality: 1,
        dataPoints: [
          {
            timeUnixNano: at(30),
            startTimeUnixNano: at(0),
            count: '10',
            sum: 50,
            scale: 0,
            positive: { offset: 2, bucketCounts: ['10'] },
          },
        ],
      },
    });
    t.strictSame(await only({ name: 'took.exp', agg: 'p50' }), [[0, 6]], 'half of 4 to 8');
  });

  await t.test('lists labels and the time a metric was last seen', async (t) => {
    t.strictSame(await api.get('/dashboard/metrics/labels?name=load&start_time=2026-05-01T00:00:00Z'), [
      { key: 'host', values: ['a', 'b'], is_truncated: false },
      { key: 'service_name', values: ['shop'], is_truncated: false },
      { key: 'zone', values: ['x'], is_truncated: false },
    ]);
    const metrics =
      await api.get<readonly { readonly name: string; readonly last_seen_at: string }[]>(
        '/dashboard/metrics',
      );
    t.equal(metrics.find(({ name }) => name === 'load')?.last_seen_at, '2026-05-28T20:37:00Z');
  });

  await t.test('rejects invalid queries and hides metrics of other users', async (t) => {
    for (const [field, query] of [
      ['name', ''],
      ['agg', 'name=load&agg=rate'],
      ['agg', 'name=requests&agg=p95'],
      ['agg', 'name=load&agg=median'],
      ['step', 'name=load&step=0'],
      ['step', 'name=load&step=10'],
      ['labels', 'name=load&labels=x'],
      ['group_by', 'name=load&group_by=a,b,c,d,e,f,g,h,i'],
      ['start_time', 'name=load&start_time=2026-05-28T20:27:00Z&end_time=2026-05-28T20:26:00Z'],
    ] as const) {
      const { status, body } = await api.call('GET', `/dashboard/metrics/series?${query}`);
      t.match({ status, body }, { status: 422, body: { errors: [{ field }] } }, query);
    }
    const other = await api.createUser('other@example.com', ['read']);
    for (const route of ['series', 'labels']) {
      const path = `/dashboard/metrics/${route}?name=load`;
      t.equal((await api.call('GET', path, { key: other.key })).status, 404);
    }
  });
});
