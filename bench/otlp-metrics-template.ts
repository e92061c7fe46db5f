import { Random } from './random.js';
import type { Metric, NumberPoint } from '../src/otlp/wire/requests.js';
import type { BodyTemplate, RefreshContext } from './body-template.js';
import type { SampledTrace } from './load-plan.js';
import { attributes, encode, Placeholders, type Placeholder } from './otlp-body.js';

const CUMULATIVE = 2;
const BOUNDS = [5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000];
/** 4 services with 5 metrics and 25 label sets each are 500 series. */
const SERVICES = ['checkout', 'billing', 'search', 'agents'];
/** The metric that `bench read` queries. */
export const READ_METRIC = 'gen_ai.client.token.usage';
const METRICS = [
  { name: READ_METRIC, unit: '{token}', kind: 'sum' },
  { name: 'http.server.active_requests', unit: '{request}', kind: 'gauge' },
  { name: 'process.memory.usage', unit: 'By', kind: 'gauge' },
  { name: 'http.server.request.count', unit: '{request}', kind: 'sum' },
  { name: 'http.server.request.duration', unit: 'ms', kind: 'histogram' },
] as const;

/** An OTLP metrics request in protobuf, like that of a collector: one point for each of several hundred series. */
export class OtlpMetricsTemplate implements BodyTemplate {
  readonly bytes: Buffer;
  readonly items: number;
  readonly #times: Placeholder[] = [];

  constructor(seed: string, points: number) {
    const random = new Random(seed);
    const placeholders = new Placeholders();
    const perService = Math.ceil(points / SERVICES.length);
    const perMetric = Math.ceil(perService / METRICS.length);
    let left = points;
    const resourceMetrics = SERVICES.map((service) => ({
      resource: { attributes: attributes({ 'service.name': service, 'service.version': '3.2.0' }) },
      scopeMetrics: [
        {
          scope: { name: 'meter', version: '2.12.0' },
          metrics: METRICS.map((metric) => {
            const count = Math.min(left, perMetric);
            left -= count;
            return this.#metric(random, placeholders, metric, count);
          }),
        },
      ],
    }));
    this.bytes = encode('metrics', { resourceMetrics });
    placeholders.locate(this.bytes);
    this.items = points;
  }

  get units(): number {
    return this.items;
  }

  refresh({ nanos, startMs }: RefreshContext): void {
    this.#times.forEach(({ offset }, index) => {
      nanos.write(this.bytes, offset, startMs(index / this.items, 0));
    });
  }

  sample(): SampledTrace | undefined {
    return undefined;
  }

  #metric(
    random: Random,
    placeholders: Placeholders,
    metric: (typeof METRICS)[number],
    points: number,
  ): Metric {
    const { name, unit, kind } = metric;
    const common = { name, unit, description: `${name}, measured by the bench` };
    if (kind === 'histogram') {
      const dataPoints = Array.from({ length: points }, (_, at) => ({
        ...this.#point(placeholders, at),
        count: 130,
        sum: random.integer(1000, 90_000),
        bucketCounts: [...BOUNDS, 0].map(() => random.integer(0, 20)),
        explicitBounds: BOUNDS,
        min: 1.5,
        max: 4200,
      }));
      return { ...common, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
    }
    const dataPoints = Array.from({ length: points }, (_, at): NumberPoint => ({
      ...this.#point(placeholders, at),
      asDouble: Math.round(random.float() * 1e6) / 100,
    }));
    return kind === 'gauge'
      ? { ...common, gauge: { dataPoints } }
      : { ...common, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } };
  }

  /** Fields of every point. */
  #point(placeholders: Placeholders, at: number) {
    const { placeholder, value } = placeholders.fixed64();
    this.#times.push(placeholder);
    return {
      startTimeUnixNano: '1763000000000000000',
      timeUnixNano: value,
      attributes: attributes({
        'http.request.method': ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'][at % 5] ?? 'GET',
        'http.route': `/v1/items/${Math.floor(at / 5) % 5}`,
        'host.name': 'agents-7f6c9d5b8-x2k4q',
      }),
    };
  }
}
