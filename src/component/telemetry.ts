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

/** An operation in the daemon's own traces. Neither name nor attributes contain ids, keys or data of users. */
export interface Traced {
  /** From a small, fixed set: `GET /api/v1/agents/{agent_id}`. */
  readonly name: string;
  readonly kind: 'server' | 'client';
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** The outcome of a traced operation. */
export interface TracedOutcome {
  readonly attributes?: Traced['attributes'];
  /** Kind of the error, from a small, fixed set; absent: success. */
  readonly error?: string | undefined;
}

/** A request in progress. */
export interface OpenSpan {
  /** Runs work as part of the request. */
  within<T>(work: () => T): T;
  end(outcome: TracedOutcome): void;
}

/** The daemon's own traces (`service.telemetry.otlp`). */
export interface Tracer {
  /**
   * Begins a request.
   *
   * @param traceparent header of the request
   * @returns undefined if the request is not sampled
   */
  begin(request: Traced, traceparent: string | undefined): OpenSpan | undefined;
  /** Calls a store, as part of the request in progress. Traced only if that request is, and the call returns a promise. */
  call<T>(call: Traced, work: () => T): T;
  /**
   * Records a delivery that has just ended.
   *
   * @param about.tenant id of the user whose data was delivered; absent: not data of a user
   */
  delivered(
    delivery: Traced,
    about: TracedOutcome & { readonly durationMs: number; readonly tenant?: string },
  ): void;
  /** @returns a function that runs later work as part of the request that is in progress now */
  bind(): <T>(work: () => T) => T;
}

/** Time source, replaceable in tests. */
export interface Clock {
  now(): Micros;
  /** Calls back once after `ms` milliseconds. Does not keep the process alive. @returns a function that cancels it. */
  after(ms: number, callback: () => void): () => void;
}
