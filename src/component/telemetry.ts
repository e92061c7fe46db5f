import type { Micros } from '../signal/time.js';

/** A structured logger: fields first, then one sentence. The part of pino that components may use. */
export interface Logger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
  /** A logger that adds these fields to every line. */
  child(fields: Record<string, unknown>): Logger;
  /** Whether debug lines are written: guards work that only serves such lines. */
  isDebugEnabled(): boolean;
}

/** Label names and values of a series. Values must come from a small, fixed set: never ids, names or keys of users. */
export type Labels = Readonly<Record<string, string>>;

export interface Counter {
  add(value: number, labels?: Labels): void;
}

export interface Histogram {
  record(value: number, labels?: Labels): void;
}

export interface MetricOptions {
  /** One sentence, shown as HELP. */
  readonly description: string;
  readonly labelNames?: readonly string[];
}

/**
 * The daemon's own metrics. Names are without the `jackdaw_` prefix, lower_snake_case, with their unit and, for
 * counters, `_total` at the end: `receiver_accepted_items_total`. Asking twice for one name gives the same metric.
 */
export interface Meter {
  counter(name: string, options: MetricOptions): Counter;
  histogram(name: string, options: MetricOptions & { readonly buckets: readonly number[] }): Histogram;
  /** A counter maintained elsewhere: its total, which never decreases, is read at collection time. */
  observedCounter(name: string, options: Pick<MetricOptions, 'description'>, read: () => number): void;
  /** A value read at collection time. @returns a function that ends the observation of this `labels` set. */
  gauge(name: string, options: MetricOptions, read: () => number, labels?: Labels): () => void;
}

/** Time source, replaceable in tests. */
export interface Clock {
  now(): Micros;
  /** Calls back once after `ms` milliseconds. Does not keep the process alive. @returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}
