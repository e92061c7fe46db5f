import { createHistogram } from 'node:perf_hooks';
import type { Latency } from './load-plan.js';

const LONGEST_US = 3_600_000_000;

/** Records latencies in a histogram with three significant digits (Node's HdrHistogram). */
export class LatencyRecorder {
  readonly #histogram = createHistogram({ lowest: 1, highest: LONGEST_US, figures: 3 });

  record(ms: number): void {
    this.#histogram.record(Math.min(LONGEST_US, Math.max(1, Math.round(ms * 1000))));
  }

  summary(): Latency {
    const count = this.#histogram.count;
    const at = (percentile: number) => (count === 0 ? 0 : this.#histogram.percentile(percentile) / 1000);
    return {
      count,
      p50: at(50),
      p90: at(90),
      p95: at(95),
      p99: at(99),
      max: count === 0 ? 0 : this.#histogram.max / 1000,
    };
  }
}
