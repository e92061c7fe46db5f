import { ConsumeError } from '../component/consume-error.js';
import type { ConsumeContext, Consumer, Receipt } from '../component/consumer.js';
import type { Kind } from '../component/component-id.js';
import type { Passed } from '../component/edge-listener.js';
import type { Counter, Histogram, Labels, Logger, Meter } from '../component/telemetry.js';
import { CONTENTS, type Batch, type Signal } from '../signal/batch.js';
import { amountOf, refusedAmount, spanCounts, type Amount } from '../signal/sent-request.js';

/**
 * The metrics of every edge of the pipelines, after the habit of the OpenTelemetry Collector. Each of these exists for
 * `receiver`, `processor` and `exporter`, with the component's id under that label and the `signal`; processors,
 * which are created once for each pipeline, also have a `pipeline` label.
 *
 * - `jackdaw_KIND_offered_items_total`: items handed over: by a receiver, to a processor, to an exporter.
 * - `jackdaw_KIND_accepted_items_total`: taken, by it and everything behind it.
 * - `jackdaw_KIND_refused_items_total`: refused individually because of their content.
 * - `jackdaw_KIND_failed_items_total`: in batches that failed as a whole, and that the sender may send again.
 * - `jackdaw_KIND_consume_duration_seconds`: how long a batch took, waiting for what is behind included.
 *
 * Beside these `jackdaw_receiver_in_flight_batches` tells how many batches of all receivers are not answered yet.
 *
 * The first four also count what the items hold, by signal: `…_spans_total`, `…_metric_points_total`, `…_log_records_total`.
 *
 * Once nothing is under way, offered = accepted + refused + failed. An item is a trace with the spans of one request, a metric
 * point, a log record or an event.
 */
export interface EdgeMetrics {
  readonly offered: Counter;
  readonly accepted: Counter;
  readonly refused: Counter;
  readonly failed: Counter;
  readonly duration: Histogram;
  /** The same four for what the items of a signal hold; none for events. */
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

/** Is told of every batch that passes an edge. */
export interface EdgeObserver {
  /** So much is handed over. */
  offer(offered: Amount): void;
  /** How much of it was taken, and refused one by one. */
  take(accepted: Amount, refused: Amount): void;
  /** All of it failed. */
  fail(failed: Amount): void;
  /** How long that took, either way. */
  end(ms: number): void;
  /** Comes before all of these, with the batch as it is handed over. @returns is told what became of it */
  look?(batch: Batch<unknown>): ((passed: Passed) => void) | undefined;
}

/** @param labels the values for the label names of {@link edgeMetrics} */
export function metricsObserver(
  metrics: EdgeMetrics,
  labels: Labels & { readonly signal: Signal },
): EdgeObserver {
  const contents = metrics.contents[labels.signal];
  const add = (outcome: Outcome, amount: Amount): void => {
    metrics[outcome].add(amount.items, labels);
    contents?.[outcome].add(amount.contents, labels);
  };
  // A series that exists from the start shows a rate at its first increase.
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
 * Tells what passes an edge, and turns anything else that is thrown into a retryable {@link ConsumeError}, so that nobody behind
 * this edge has to think of it.
 */
export function observe<B extends Batch<unknown>>(
  inner: Consumer<B>,
  observers: readonly EdgeObserver[],
  { logger, signal }: { readonly logger: Logger; readonly signal: Signal },
): Consumer<B> {
  return {
    passesSent: inner.passesSent,
    async consume(batch: B, context: ConsumeContext): Promise<Receipt> {
      // Counted before the call: the batch belongs to the consumer afterwards.
      const offered = amountOf(batch, signal);
      const spans = spanCounts(batch, signal);
      let told: ((passed: Passed) => void) | undefined;
      for (const observer of observers) told = observer.look?.(batch) ?? told;
      let [receipt, failure]: [Receipt | undefined, unknown] = [undefined, undefined];
      const startedAt = performance.now();
      for (const observer of observers) observer.offer(offered);
      try {
        receipt = await inner.consume(batch, context);
        const refused = refusedAmount(receipt.refused, spans);
        const accepted = { items: receipt.accepted, contents: offered.contents - refused.contents };
        for (const observer of observers) observer.take(accepted, refused);
        return receipt;
      } catch (error) {
        failure = error;
        for (const observer of observers) observer.fail(offered);
        throw error instanceof ConsumeError ? error : unexpected(error, logger);
      } finally {
        const ms = performance.now() - startedAt;
        for (const observer of observers) observer.end(ms);
        told?.(passedOf(ms, receipt, failure));
      }
    },
  };
}

function passedOf(ms: number, receipt: Receipt | undefined, error: unknown): Passed {
  const refused = new Map(receipt?.refused.map(({ index, reason }) => [index, reason]));
  return receipt === undefined ? { ms, refused, error } : { ms, refused };
}

function unexpected(error: unknown, logger: Logger): ConsumeError {
  logger.error({ err: error }, 'A batch failed with an unexpected error; the sender may retry');
  return new ConsumeError('The batch was refused because of an internal error', {
    code: 'internal_error',
    retryable: true,
    cause: error,
  });
}
