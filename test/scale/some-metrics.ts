/** Metric names: a gauge, a counter and a histogram. */
export const METRICS = ['queue.size', 'requests', 'latency'] as const;

const POINTS = 6;
const STEP_MS = 20_000;

/** An OTLP/JSON request with points of each metric from two regions. @param from milliseconds; the last point is two minutes later */
export function someMetrics(from: number): object {
  const [gauge, counter, histogram] = METRICS;
  const start = nanos(from - STEP_MS);
  const points = ['eu', 'us'].flatMap((region, r) =>
    Array.from({ length: POINTS }, (_, i) => ({
      number: i + 1,
      timeUnixNano: nanos(from + i * STEP_MS + r),
      attributes: [{ key: 'region', value: { stringValue: region } }],
    })),
  );
  const metrics = [
    {
      name: gauge,
      gauge: { dataPoints: points.map(({ number, ...point }) => ({ ...point, asDouble: number / 3 })) },
    },
    {
      name: counter,
      sum: {
        aggregationTemporality: 2,
        isMonotonic: true,
        dataPoints: points.map(({ number, ...point }) => ({
          ...point,
          startTimeUnixNano: start,
          asInt: String(number * number),
        })),
      },
    },
    {
      name: histogram,
      unit: 'ms',
      histogram: {
        aggregationTemporality: 1,
        dataPoints: points.map(({ number, ...point }) => ({
          ...point,
          startTimeUnixNano: start,
          count: String(number + 3),
          sum: number * 10.5,
          bucketCounts: ['1', '2', String(number)],
          explicitBounds: [10, 100],
        })),
      },
    },
  ];
  return {
    resourceMetrics: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
        scopeMetrics: [{ metrics }],
      },
    ],
  };
}

function nanos(ms: number): string {
  return `${ms}000000`;
}
