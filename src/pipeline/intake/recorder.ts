import type { EdgePlace } from '../../component/edge-listener.js';
import type { RejectedItems, Rejections } from '../../component/rejections.js';
import type { Counter, Histogram, Labels, Meter, MetricOptions } from '../../component/telemetry.js';
import type { EdgeObserver } from '../instrument.js';

/** A series of the main thread that a thread adds to. */
export type Series =
  | {
      readonly kind: 'counter';
      readonly name: string;
      readonly options: MetricOptions;
      readonly labels: Labels;
    }
  | {
      readonly kind: 'histogram';
      readonly name: string;
      readonly options: MetricOptions & { readonly buckets: readonly number[] };
      readonly labels: Labels;
    }
  | { readonly kind: 'edge'; readonly place: EdgePlace; readonly event: EdgeEvent };

type EdgeEvent = 'offered' | 'accepted' | 'refused' | 'failed' | 'ended';

/** What a thread has counted since the last message. */
export interface Counts {
  /** Series that are used for the first time; they are numbered in this order. */
  readonly series: readonly Series[];
  /** Pairs: the number of a series, and the value to add or record. */
  readonly values: readonly number[];
  readonly rejections: readonly { readonly userId: string; readonly items: RejectedItems }[];
}

const NO_LABELS: Labels = {};

/** Records the metrics and rejections of a thread, which the main thread counts. */
export class Recorder implements Meter {
  #size = 0;
  #series: Series[] = [];
  /** Sums of counters by number. */
  #sums = new Map<number, number>();
  #values: number[] = [];
  #rejections: Counts['rejections'][number][] = [];

  counter(name: string, options: MetricOptions): Counter {
    const numberOf = this.#numbering((labels) => ({ kind: 'counter', name, options, labels }));
    return {
      add: (value, labels = NO_LABELS) => {
        if (value !== 0) this.#add(numberOf(labels), value);
      },
    };
  }

  histogram(name: string, options: MetricOptions & { readonly buckets: readonly number[] }): Histogram {
    const numberOf = this.#numbering((labels) => ({ kind: 'histogram', name, options, labels }));
    return {
      record: (value, labels = NO_LABELS) => {
        this.#values.push(numberOf(labels), value);
      },
    };
  }

  /** Observed values belong to components on the main thread. */
  observedCounter(): void {
    return;
  }

  gauge(): () => void {
    return () => undefined;
  }

  /** The observer of an edge. */
  edge(place: EdgePlace): EdgeObserver {
    const number = (event: EdgeEvent): number => this.#define({ kind: 'edge', place, event });
    const [offered, accepted, refused] = [number('offered'), number('accepted'), number('refused')];
    const [failed, ended] = [number('failed'), number('ended')];
    return {
      offer: ({ items }) => {
        this.#add(offered, items);
      },
      take: (taken, left) => {
        this.#add(accepted, taken.items);
        if (left.items > 0) this.#add(refused, left.items);
      },
      fail: ({ items }) => {
        this.#add(failed, items);
      },
      end: (ms) => {
        this.#values.push(ended, ms);
      },
    };
  }

  readonly rejections: Pick<Rejections, 'note'> = {
    note: (userId, items) => {
      this.#rejections.push({ userId, items });
    },
  };

  /** What was recorded since the last call; undefined for nothing. */
  take(): Counts | undefined {
    for (const [number, sum] of this.#sums) this.#values.push(number, sum);
    const taken = { series: this.#series, values: this.#values, rejections: this.#rejections };
    if (taken.values.length + taken.rejections.length === 0) return undefined;
    this.#series = [];
    this.#sums = new Map();
    this.#values = [];
    this.#rejections = [];
    return taken;
  }

  #add(number: number, value: number): void {
    this.#sums.set(number, (this.#sums.get(number) ?? 0) + value);
  }

  #define(series: Series): number {
    this.#series.push(series);
    return this.#size++;
  }

  /** @returns the number of the series of some labels */
  #numbering(seriesOf: (labels: Labels) => Series): (labels: Labels) => number {
    // Most callers pass the same object each time.
    const known = new WeakMap<Labels, number>();
    const byValue = new Map<string, number>();
    return (labels) => {
      let number = known.get(labels);
      if (number === undefined) {
        const key = JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)));
        number = byValue.get(key) ?? this.#define(seriesOf(labels));
        byValue.set(key, number);
        known.set(labels, number);
      }
      return number;
    };
  }
}
