import { Random } from './random.js';
import type { Metric, NumberPoint } from '../src/otlp/wire/requests.js';
import type { BodyTemplate, Fresh } from './body-template.js';
import type { SampledTrace } from './load-plan.js';
import { attributes, encode, Placeholders, type Mark } from './otlp-body.js';

const CUMULATIVE = 2;
const BOUNDS = [5, 10, 25, 50, 75, 100, 250, 500, 750, 1000, 2500, 5000];
/** Services, each with the same metrics: 4 x 5 metrics x 25 label sets are 500 series. */
const SERVICES = ['checkout', 'billing', 'search', 'agents'];
/** The one that `bench read` asks for. */
export const READ_METRIC = 'gen_ai.client.token.usage';
const METRICS = [
  { name: READ_METRIC, unit: '{token}', kind: 'sum' },
  { name: 'http.server.active_requests', unit: '{request}', kind: 'gauge' },
  { name: 'process.memory.usage', unit: 'By', kind: 'gauge' },
  { name: 'http.server.request.count', unit: '{request}', kind: 'sum' },
  { name: 'http.server.request.duration', unit: 'ms', kind: 'histogram' },
] as const;

/** A request of OTLP metric points in protobuf, as a collector sends them on: several hundred series, one point of each after the other. */
export class OtlpMetricsTemplate implements BodyTemplate {
  readonly bytes: Buffer;
  readonly items: number;
  readonly #times: Mark[] = [];

  constructor(seed: string, points: number) {
    const random = new Random(seed);
    const places = new Placeholders();
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
            return this.#metric(random, places, metric, count);
          }),
        },
      ],
    }));
    this.bytes = encode('metrics', { resourceMetrics });
    places.locate(this.bytes);
    this.items = points;
  }

  get units(): number {
    return this.items;
  }

  refresh({ nanos, startMs }: Fresh): void {
    this.#times.forEach(({ offset }, index) => {
      nanos.write(this.bytes, offset, startMs(index / this.items, 0));
    });
  }

  sample(): SampledTrace | undefined {
    return undefined;
  }

  #metric(random: Random, places: Placeholders, metric: (typeof METRICS)[number], points: number): Metric {
    const { name, unit, kind } = metric;
    const facts = { name, unit, description: `${name}, measured by the bench` };
    if (kind === 'histogram') {
      const dataPoints = Array.from({ length: points }, (_, at) => ({
        ...this.#point(places, at),
        count: 130,
        sum: random.integer(1000, 90_000),
        bucketCounts: [...BOUNDS, 0].map(() => random.integer(0, 20)),
        explicitBounds: BOUNDS,
        min: 1.5,
        max: 4200,
      }));
      return { ...facts, histogram: { dataPoints, aggregationTemporality: CUMULATIVE } };
    }
    const dataPoints = Array.from({ length: points }, (_, at): NumberPoint => ({
      ...this.#point(places, at),
      asDouble: Math.round(random.unit() * 1e6) / 100,
    }));
    return kind === 'gauge'
      ? { ...facts, gauge: { dataPoints } }
      : { ...facts, sum: { dataPoints, aggregationTemporality: CUMULATIVE, isMonotonic: true } };
  }

  /** What all points have. */
  #point(places: Placeholders, at: number) {
    const { mark, value } = places.fixed64();
    this.#times.push(mark);
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
