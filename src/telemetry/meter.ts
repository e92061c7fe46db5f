import * as prometheus from 'prom-client';
import type { Counter, Histogram, Labels, Meter, MetricOptions } from '../component/telemetry.js';

const PREFIX = 'jackdaw_';

/** One observed series of a gauge. */
interface Observation {
  readonly labels: Labels;
  readonly read: () => number;
}

/** The daemon's metrics in a registry of their own. */
export class PrometheusMeter implements Meter {
  readonly #registry = new prometheus.Registry();
  readonly #observations = new Map<string, Set<Observation>>();
  readonly #observedCounters = new Map<string, () => number>();
  /** Labels by metric name, as set by its first user, joined to one text. */
  readonly #labels = new Map<string, string>();

  counter(name: string, options: MetricOptions): Counter {
    const counter =
      this.#existing(name, prometheus.Counter, options) ??
      new prometheus.Counter(this.#configure(name, options));
    return {
      add: (value, labels) => {
        if (labels) counter.inc(labels, value);
        else counter.inc(value);
      },
    };
  }

  observedCounter(name: string, options: Pick<MetricOptions, 'description'>, read: () => number): void {
    const isKnown = this.#existing(name, prometheus.Counter, options) !== undefined;
    const observed = this.#observedCounters;
    // The last one counts: a reload replaces components.
    observed.set(name, read);
    if (isKnown) return;
    new prometheus.Counter({
      ...this.#configure(name, options),
      collect() {
        this.reset();
        this.inc(observed.get(name)?.() ?? 0);
      },
    });
  }

  histogram(name: string, options: MetricOptions & { readonly buckets: readonly number[] }): Histogram {
    const histogram =
      this.#existing(name, prometheus.Histogram, options) ??
      new prometheus.Histogram({ ...this.#configure(name, options), buckets: [...options.buckets] });
    return {
      record: (value, labels) => {
        if (labels) histogram.observe(labels, value);
        else histogram.observe(value);
      },
    };
  }

  gauge(name: string, options: MetricOptions, read: () => number, labels: Labels = {}): () => void {
    const observations = this.#observationsOf(name, options);
    const observation = { labels, read };
    observations.add(observation);
    return () => {
      observations.delete(observation);
    };
  }

  /** Removes all series with this label, such as those of a component that a reload has removed. */
  async forget(label: string, value: string): Promise<void> {
    for (const metric of this.#registry.getMetricsAsArray()) {
      // Gauges end with their observations.
      if (!(metric instanceof prometheus.Counter || metric instanceof prometheus.Histogram)) continue;
      const { values } = await metric.get();
      for (const { labels } of values) {
        if (labels[label] !== value) continue;
        metric.remove(Object.fromEntries(Object.entries(labels).filter(([name]) => name !== 'le')));
      }
    }
  }

  /** Adds the usual metrics of a Node process, without a prefix: `process_resident_memory_bytes`, `nodejs_heap_size_used_bytes` and more. */
  collectProcess(): void {
    prometheus.collectDefaultMetrics({ register: this.#registry });
  }

  /** Everything in the text format of Prometheus. */
  async print(): Promise<{ readonly contentType: string; readonly text: string }> {
    return { contentType: this.#registry.contentType, text: await this.#registry.metrics() };
  }

  /** All series with their values now. */
  async collect(): Promise<readonly prometheus.MetricObjectWithValues<prometheus.MetricValue<string>>[]> {
    return this.#registry.getMetricsAsJSON();
  }

  #observationsOf(name: string, options: MetricOptions): Set<Observation> {
    this.#existing(name, prometheus.Gauge, options);
    const known = this.#observations.get(name);
    if (known) return known;
    const observations = new Set<Observation>();
    this.#observations.set(name, observations);
    const { labelNames = [] } = options;
    new prometheus.Gauge({
      ...this.#configure(name, options),
      collect() {
        this.reset();
        // Otherwise a gauge without labels would stay at 0 after its last observer has gone.
        if (labelNames.length === 0) this.remove();
        for (const { labels, read } of observations) {
          try {
            this.set(labels, read());
          } catch {
            // An unreadable series, such as the size of a missing file, must not hide all others.
          }
        }
      },
    });
    return observations;
  }

  /**
   * @throws Error if the name belongs to another kind of metric, or has other labels: its first owner would count wrongly, or fail
   *   when it counts
   */
  #existing<M extends prometheus.Metric>(
    name: string,
    kind: abstract new (...args: never[]) => M,
    { labelNames = [] }: Partial<MetricOptions>,
  ): M | undefined {
    const labels = labelNames.toSorted().join(', ');
    const known = this.#labels.get(name) ?? labels;
    if (known !== labels)
      throw new Error(
        `The metric ${PREFIX}${name} exists with the labels "${known}" instead of "${labels}": choose another name`,
      );
    this.#labels.set(name, labels);
    const found = this.#registry.getSingleMetric(PREFIX + name);
    if (found === undefined || found instanceof kind) return found;
    throw new Error(`The metric ${PREFIX}${name} exists as another kind: choose another name`);
  }

  #configure(name: string, options: MetricOptions) {
    return {
      name: PREFIX + name,
      help: options.description,
      labelNames: [...(options.labelNames ?? [])],
      registers: [this.#registry],
    };
  }
}
