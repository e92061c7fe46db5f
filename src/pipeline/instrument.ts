import { ConsumeError } from '../component/consume-error.js';
import { handOver, type ConsumeContext, type Consumer, type Receipt } from '../component/consumer.js';
import type { Kind } from '../component/component-id.js';
import type { Passed } from '../component/edge-listener.js';
import type { Rejections } from '../component/rejections.js';
import type { Counter, Histogram, Labels, Logger, Meter } from '../component/telemetry.js';
import { failureOf } from '../http/problem.js';
import { amountOf, itemCount, refusedAmount, spanCounts, type Amount } from '../signal/amount.js';
import { CONTENTS, type Batch, type Signal } from '../signal/batch.js';
import type { LogRecord } from '../signal/log-record.js';
import type { AnyBatch } from '../signal/raw-batch.js';
import type { TraceRecord } from '../signal/trace.js';

/**
 * The metrics of every edge of the pipelines, named as in the OpenTelemetry Collector. Each exists for `receiver`, `processor` and
 * `exporter`, with the component's id under that label and the `signal`; processors, which are created once for each pipeline, also
 * have a `pipeline` label.
 *
 * - `jackdaw_KIND_offered_items_total`: items handed over: by a receiver, to a processor, to an exporter.
 * - `jackdaw_KIND_accepted_items_total`: accepted, by the component and everything downstream.
 * - `jackdaw_KIND_refused_items_total`: refused individually because of their content.
 * - `jackdaw_KIND_failed_items_total`: in batches that failed as a whole, and that the sender may retry.
 * - `jackdaw_KIND_consume_duration_seconds`: duration of a batch, including the time downstream.
 *
 * In addition, `jackdaw_receiver_in_flight_batches` is the number of unanswered batches of all receivers.
 *
 * The first four also count the contents of the items, by signal: `…_spans_total`, `…_metric_points_total`, `…_log_records_total`.
 *
 * Once nothing is in flight, offered = accepted + refused + failed. An item is a trace with the spans of one request, a metric point,
 * a log record or an event.
 */
export interface EdgeMetrics {
  readonly offered: Counter;
  readonly accepted: Counter;
  readonly refused: Counter;
  readonly failed: Counter;
  readonly duration: Histogram;
  /** The same four for the contents of a signal's items; absent for events. */
  readonly contents: Readonly<Partial<Record<Signal, Contents>>>;
}

type Outcome = 'offered' | 'accepted' | 'refused' | 'failed';
type Contents = Readonly<Record<Outcome, Counter>>;

const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** The metrics of the edges of one kind of component. */
export function edgeMetrics(meter: Meter, kind: Exclude<Kind, 'extension'>): EdgeMetrics {
  const labelNames = kind === 'processor' ? [kind, 'signal', 'pipeline'] : [kind, 'signal'];
  const where = kind === 'receiver' ? 'by the receiver' : `to the ${kind}`;
  const counters = (name: string, words: string): Contents => {
    const counter = (outcome: Outcome, rest: string) =>
      meter.counter(`${kind}_${outcome}_${name}_total`, { description: `${words} ${rest}`, labelNames });
    return {
      offered: counter('offered', `passed ${where}.`),
      accepted: counter('accepted', 'accepted by this component and all later ones.'),
      refused: counter('refused', 'refused individually because of their content.'),
      failed: counter('failed', 'in batches that failed as a whole.'),
    };
  };
  return {
    ...counters('items', 'Items'),
    contents: Object.fromEntries(
      Object.entries(CONTENTS).map(([signal, { name, words }]) => [signal, counters(name, words)]),
    ),
    duration: meter.histogram(`${kind}_consume_duration_seconds`, {
      description: 'Time to process a batch, including all later components.',
      labelNames,
      buckets: BUCKETS_S,
    }),
  };
}

/** Counts the batches and items of an edge. */
export interface EdgeObserver {
  /** Called before a batch is passed on. */
  offer(offered: Amount): void;
  /** Called with the accepted and the individually refused items. */
  take(accepted: Amount, refused: Amount): void;
  /** Called if the whole batch failed. */
  fail(failed: Amount): void;
  /** Called with the duration after either outcome. */
  end(ms: number): void;
}

/**
 * Creates an observer for one edge.
 *
 * @param labels the values for the label names of {@link edgeMetrics}
 */
export function metricsObserver(
  metrics: EdgeMetrics,
  labels: Labels & { readonly signal: Signal },
): EdgeObserver {
  const contents = metrics.contents[labels.signal];
  const add = (outcome: Outcome, amount: Amount): void => {
    metrics[outcome].add(amount.items, labels);
    contents?.[outcome].add(amount.contents, labels);
  };
  // If a series exists from the start, a rate includes its first increase.
  for (const outcome of ['offered', 'accepted', 'refused', 'failed'] as const)
    add(outcome, { items: 0, contents: 0 });
  return {
    offer: (offered) => {
      add('offered', offered);
    },
    take: (accepted, refused) => {
      add('accepted', accepted);
      if (refused.items > 0) add('refused', refused);
    },
    fail: (failed) => {
      add('failed', failed);
    },
    end: (ms) => {
      metrics.duration.record(ms / 1000, labels);
    },
  };
}

/**
 * The gate between receivers and pipelines. It counts the batches in flight and can be closed, so that a stop finishes accepted
 * batches before it stops the components.
 */
export class Gate {
  #isClosed = false;
  #inside = 0;
  #whenEmpty: (() => void)[] = [];

  /** Number of batches that are accepted but not yet answered. */
  get inside(): number {
    return this.#inside;
  }

  /**
   * Counts a batch until {@link leave}, which must follow in any case, even after an error.
   *
   * @throws ConsumeError `shutting_down` after {@link close}
   */
  enter(): void {
    this.#inside += 1;
    if (this.#isClosed)
      throw new ConsumeError('The daemon is stopping: send the batch again later', {
        code: 'shutting_down',
        retryable: true,
        retryAfterMs: 1000,
      });
  }

  leave(): void {
    this.#inside -= 1;
    if (this.#inside === 0) for (const resolve of this.#whenEmpty.splice(0)) resolve();
  }

  /** Refuses further batches as retryable. Resolves when the last one inside is answered. */
  async close(): Promise<void> {
    this.#isClosed = true;
    if (this.#inside === 0) return;
    await new Promise<void>((resolve) => this.#whenEmpty.push(resolve));
  }
}

/** The observers of an edge and the rules for its batches. */
export interface EdgeInstruments {
  readonly signal: Signal;
  readonly logger: Logger;
  readonly observers: readonly EdgeObserver[];
  /**
   * Called with each batch before it is passed on.
   *
   * @returns a function that receives the outcome
   */
  readonly look?: (batch: AnyBatch) => ((passed: Passed) => void) | undefined;
  /** For receivers: counts batches in flight, and refuses them during a stop. */
  readonly gate?: Gate;
  /** For receivers: where rejected items are recorded. */
  readonly rejections?: { readonly receiver: string; readonly to: Pick<Rejections, 'note'> } | undefined;
  /** Handles a batch that failed as a whole, instead of the sender. */
  readonly onFailure?: ((offered: Amount, error: unknown) => Receipt) | undefined;
}

/**
 * The only wrapper around an input. It counts, times and records the batches of an edge, and converts any thrown value other than
 * a {@link ConsumeError} into a retryable one. It does not reference the batch while it waits; otherwise the items would survive
 * several garbage collections.
 */
export function instrument<B extends Batch<unknown>>(
  inner: Consumer<B>,
  { signal, logger, observers, look, gate, rejections, onFailure }: EdgeInstruments,
): Consumer<B> {
  const begin = async (batch: AnyBatch, context: ConsumeContext): Promise<Receipt> => {
    gate?.enter();
    return handOver(inner, batch, context);
  };
  const consume = async (batch: AnyBatch, context: ConsumeContext): Promise<Receipt> => {
    const offered = amountOf(batch, signal);
    const spans = spanCounts(batch, signal);
    const note = rejections && noting(batch, signal, rejections);
    const notify = look?.(batch);
    for (const observer of observers) observer.offer(offered);
    const startedAt = performance.now();
    const end = (passed: Omit<Passed, 'ms'>): void => {
      const ms = performance.now() - startedAt;
      gate?.leave();
      for (const observer of observers) observer.end(ms);
      notify?.({ ms, ...passed });
    };
    return begin(batch, context).then(
      (receipt) => {
        const refused = refusedAmount(receipt.refused, spans);
        const accepted = { items: receipt.accepted, contents: offered.contents - refused.contents };
        for (const observer of observers) observer.take(accepted, refused);
        end({ refused: new Map(receipt.refused.map(({ index, reason }) => [index, reason])) });
        note?.refused(receipt.refused);
        return receipt;
      },
      (thrown: unknown) => {
        context.trail?.fail(thrown);
        for (const observer of observers) observer.fail(offered);
        end({ refused: new Map(), error: thrown });
        const error = thrown instanceof ConsumeError ? thrown : unexpected(thrown, logger);
        note?.failed(error);
        if (onFailure !== undefined) return onFailure(offered, error);
        throw error;
      },
    );
  };
  return {
    consume,
    // A reload may change what follows.
    get passthrough() {
      const form = inner.passthrough?.form;
      return form && { form, consume };
    },
  };
}

function unexpected(error: unknown, logger: Logger): ConsumeError {
  logger.error({ err: error }, 'A batch failed with an unexpected error; the sender may retry');
  return new ConsumeError('The batch was refused because of an internal error', {
    code: 'internal_error',
    retryable: true,
    cause: error,
  });
}

/** Maximum number of ids kept until the response. */
const MOST_IDS = 1000;

/** Records the items of a batch that a pipeline does not accept: single ones, or all. */
function noting(
  batch: AnyBatch,
  signal: Signal,
  { to, receiver }: NonNullable<EdgeInstruments['rejections']>,
) {
  const { tenant } = batch;
  const count = itemCount(batch);
  const ids = idsOf(batch, signal);
  return {
    refused: (refused: Receipt['refused']): void => {
      if (refused.length === 0) return;
      const items = refused.map(({ index, id, reason }) => ({
        trace_id: ids[index] ?? (signal === 'traces' ? (id ?? null) : null),
        error: reason,
      }));
      to.note(tenant, { receiver, signal, code: 'validation_failed', items });
    },
    failed: (failure: ConsumeError): void => {
      const error = failureOf(failure).problem.message;
      const items = (ids.length === 0 ? [null] : ids).map((trace_id) => ({ trace_id, error }));
      to.note(tenant, { receiver, signal, code: failure.code, items, count });
    },
  };
}

/** The ids of a batch; none if they would have to be decoded first. */
function idsOf(batch: AnyBatch, signal: Signal): readonly (string | null)[] {
  if (batch.kind === 'raw') return [];
  if (signal === 'traces')
    return (batch.items as readonly TraceRecord[]).slice(0, MOST_IDS).map(({ trace }) => trace.trace_id);
  if (signal === 'logs')
    return (batch.items as readonly LogRecord[]).slice(0, MOST_IDS).map(({ trace_id }) => trace_id);
  return [];
}
