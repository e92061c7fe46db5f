import type { MetricAggregation } from '../../contracts/metrics.js';

/** Steps of equal width. The first begins at `first`, in microseconds. */
export interface Steps {
  readonly first: number;
  readonly width: number;
  readonly count: number;
  /** End of the last step, which may be shorter. */
  readonly end: number;
}

/** The index of the step that contains a time. */
export function stepOf({ first, width }: Steps, at: number): number {
  return Math.floor((at - first) / width);
}

/** Statistics of some values of one step. */
export interface StepStats {
  readonly count: number;
  readonly sum: number;
  readonly min: number;
  readonly max: number;
  /** The newest value, and when it was measured. */
  readonly last: number;
  readonly lastAt: number;
  /** The summand of `sum` over sources: the total of a delta, otherwise the newest value. */
  readonly total: number;
}

/** An increase between two times, both in microseconds. */
export interface Increase {
  readonly from: number;
  readonly to: number;
  readonly by: number;
}

/** One series of a result under construction: a value for each step, over any number of sources. */
export class StepValues {
  readonly #steps: Steps;
  readonly #stats = new Map<number, StepStats>();
  readonly #increases = new Map<number, number>();

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  /** @param step its index */
  add(step: number, some: StepStats): void {
    if (step < 0 || step >= this.#steps.count) return;
    const known = this.#stats.get(step);
    this.#stats.set(step, known === undefined ? some : together(known, some));
  }

  /**
   * Distributes an increase evenly over the steps it spans: a counter that is read rarely, or for the first time, has not counted
   * everything in the step in which it was read.
   */
  increase({ from, to, by }: Increase): void {
    const { first, width, count } = this.#steps;
    const last = Math.floor((to - first) / width);
    if (from >= to) {
      this.#grow(last, by);
      return;
    }
    const rate = by / (to - from);
    // An increase that ends at the end of a step belongs to that step.
    const end = last * width + first === to ? last - 1 : last;
    for (
      let step = Math.max(0, Math.floor((from - first) / width));
      step <= Math.min(end, count - 1);
      step++
    ) {
      const start = first + step * width;
      this.#grow(step, rate * (Math.min(to, start + width) - Math.max(from, start)));
    }
  }

  /** For each step, its start in milliseconds and its value. */
  points(agg: Exclude<MetricAggregation, 'p50' | 'p95' | 'p99'>): [number, number][] {
    const { first, width, end } = this.#steps;
    const secondsOf = (step: number): number => Math.min(width, end - first - step * width) / 1e6;
    const values =
      agg === 'rate'
        ? [...this.#increases].map(([step, by]): [number, number] => [step, by / secondsOf(step)])
        : [...this.#stats].map(([step, stats]): [number, number] => [step, valueOf(stats, agg)]);
    return values
      .filter(([, value]) => Number.isFinite(value))
      .sort(([a], [b]) => a - b)
      .map(([step, value]) => [startMs(this.#steps, step), value]);
  }

  #grow(step: number, by: number): void {
    if (step < 0 || step >= this.#steps.count) return;
    this.#increases.set(step, (this.#increases.get(step) ?? 0) + by);
  }
}

/** The start of a step in milliseconds. */
export function startMs({ first, width }: Steps, step: number): number {
  return (first + step * width) / 1000;
}

function together(a: StepStats, b: StepStats): StepStats {
  const newest = b.lastAt > a.lastAt ? b : a;
  return {
    count: a.count + b.count,
    sum: a.sum + b.sum,
    min: Math.min(a.min, b.min),
    max: Math.max(a.max, b.max),
    last: newest.last,
    lastAt: newest.lastAt,
    total: a.total + b.total,
  };
}

function valueOf(
  { count, sum, min, max, last, total }: StepStats,
  agg: 'avg' | 'sum' | 'min' | 'max' | 'last',
): number {
  switch (agg) {
    case 'avg':
      return sum / count;
    case 'sum':
      return total;
    case 'min':
      return min;
    case 'max':
      return max;
    case 'last':
      return last;
  }
}
