import type { Counter, Histogram, Labels, Meter, MetricOptions } from '../component/telemetry.js';

type Kind = 'counter' | 'histogram' | 'gauge';

interface Metric {
  readonly kind: Kind;
  readonly labelNames: readonly string[];
  /** By the labels in one text: the sum of a counter, how many values a histogram has. */
  readonly values: Map<string, number>;
  readonly reads: Set<{ readonly labels: Labels; readonly read: () => number }>;
}

/** A meter with readable values, as strict about names and labels as the daemon's. */
export class TestMeter implements Meter {
  readonly #metrics = new Map<string, Metric>();

  counter(name: string, options: MetricOptions): Counter {
    const metric = this.#metric(name, 'counter', options);
    return {
      add: (value, labels = {}) => {
        if (!(value >= 0)) throw new Error(`counter ${name} cannot go down, by ${value}`);
        const key = keyOf(name, metric, labels);
        metric.values.set(key, (metric.values.get(key) ?? 0) + value);
      },
    };
  }

  observedCounter(name: string, options: Pick<MetricOptions, 'description'>, read: () => number): void {
    const metric = this.#metric(name, 'counter', options);
    if (metric.reads.size === 0) metric.reads.add({ labels: {}, read });
  }

  histogram(name: string, options: MetricOptions & { readonly buckets: readonly number[] }): Histogram {
    const metric = this.#metric(name, 'histogram', options);
    return {
      record: (value, labels = {}) => {
        const key = keyOf(name, metric, labels);
        metric.values.set(key, (metric.values.get(key) ?? 0) + (Number.isNaN(value) ? 0 : 1));
      },
    };
  }

  gauge(name: string, options: MetricOptions, read: () => number, labels: Labels = {}): () => void {
    const metric = this.#metric(name, 'gauge', options);
    keyOf(name, metric, labels);
    const observation = { labels, read };
    metric.reads.add(observation);
    return () => {
      metric.reads.delete(observation);
    };
  }

  /**
   * The value of one series: the sum of a counter, the count of a histogram, the current value of a gauge.
   *
   * @param name without `jackdaw_`
   * @returns undefined if there is no such series
   */
  value(name: string, labels: Labels = {}): number | undefined {
    const metric = this.#metrics.get(name);
    if (metric === undefined) return undefined;
    const key = keyOf(name, metric, labels);
    const read = [...metric.reads].find((one) => keyOf(name, metric, one.labels) === key);
    if (read !== undefined) return read.read();
    return metric.values.get(key);
  }

  /** The names of all metrics so far. */
  get names(): readonly string[] {
    return [...this.#metrics.keys()];
  }

  #metric(name: string, kind: Kind, { labelNames = [] }: MetricOptions): Metric {
    if (!/^[a-z][a-z0-9_]*$/.test(name))
      throw new Error(`the name of metric "${name}" is not lower_snake_case`);
    const known = this.#metrics.get(name);
    if (known !== undefined && known.kind !== kind)
      throw new Error(`The metric ${name} exists as another kind: choose another name`);
    const metric = known ?? { kind, labelNames, values: new Map<string, number>(), reads: new Set() };
    this.#metrics.set(name, metric);
    return metric;
  }
}

function keyOf(name: string, { labelNames }: Metric, labels: Labels): string {
  const unknown = Object.keys(labels).find((label) => !labelNames.includes(label));
  if (unknown !== undefined) throw new Error(`metric ${name} has no label "${unknown}" among its labelNames`);
  return JSON.stringify(labelNames.map((label) => labels[label] ?? null));
}
