import type { Counter, Histogram, Labels, Meter } from '../../component/telemetry.js';

/** Keeps the counters of components for tests. */
export class CountingMeter implements Meter {
  readonly #counts: { readonly name: string; readonly value: number; readonly labels: Labels }[] = [];

  counter(name: string): Counter {
    return {
      add: (value, labels = {}) => {
        if (value > 0) this.#counts.push({ name, value, labels });
      },
    };
  }

  histogram(): Histogram {
    return { record: () => undefined };
  }

  observedCounter(): void {
    // Not needed in tests.
  }

  gauge(): () => void {
    return () => undefined;
  }

  /** Counts since the last call, by the values of one label. */
  take(name: string, label: string): Readonly<Record<string, number>> {
    const sums: Record<string, number> = {};
    for (const count of this.#counts.splice(0)) {
      const key = count.labels[label];
      if (count.name === name && key !== undefined) sums[key] = (sums[key] ?? 0) + count.value;
    }
    return sums;
  }
}
