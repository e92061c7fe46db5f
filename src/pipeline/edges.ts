import type { EdgeStats, QueueStats } from '../component/daemon-view.js';
import type { EdgeEnd, EdgeListener, EdgePlace, Passed } from '../component/edge-listener.js';
import type { Clock } from '../component/telemetry.js';
import type { Amount } from '../signal/amount.js';
import type { Signal } from '../signal/batch.js';
import type { AnyBatch } from '../signal/raw-batch.js';
import type { EdgeObserver } from './instrument.js';
import type { PlannedPipeline } from './plan.js';
import { RecentDurations } from './recent-durations.js';

/** Counts the throughput of one edge and notifies listeners. Without listeners, a batch costs a few additions. */
class EdgeMeter implements EdgeObserver {
  offered = 0;
  accepted = 0;
  refused = 0;
  failed = 0;
  readonly #durations: RecentDurations;
  readonly #signal: Signal;
  readonly #listeners = new Set<EdgeListener>();

  constructor(signal: Signal, clock: Clock) {
    this.#signal = signal;
    this.#durations = new RecentDurations(clock);
  }

  /** The 99th percentile of the last one to two minutes; null without batches. */
  get p99Ms(): number | null {
    return this.#durations.quantile(0.99);
  }

  /** @returns a function that removes the listener */
  listen(listener: EdgeListener): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  /**
   * Passes a batch to the listeners.
   *
   * @returns a function that receives the outcome
   */
  readonly look = (batch: AnyBatch): ((passed: Passed) => void) | undefined => {
    if (this.#listeners.size === 0) return undefined;
    const notifiers = [...this.#listeners].flatMap((listener) => listener.offer(batch, this.#signal) ?? []);
    if (notifiers.length === 0) return undefined;
    return (passed) => {
      for (const notify of notifiers) notify(passed);
    };
  };

  offer({ items }: Amount): void {
    this.offered += items;
  }

  take(accepted: Amount, refused: Amount): void {
    this.accepted += accepted.items;
    this.refused += refused.items;
  }

  fail({ items }: Amount): void {
    this.failed += items;
  }

  end(ms: number): void {
    this.#durations.record(ms);
  }
}

interface Edge {
  readonly pipeline: string;
  readonly from: EdgeEnd;
  readonly to: EdgeEnd;
  readonly meter: EdgeMeter;
  readonly waiting: () => QueueStats | null;
}

/** All edges of all pipelines, with their throughput. */
export class Edges {
  #pipelines: readonly PlannedPipeline[];
  readonly #clock: Clock;
  #edges: Edge[] = [];
  /** Edges that run; those that stay go on counting. */
  readonly #previous: Edges | undefined;
  /** The pipeline of each listener. */
  readonly #listeners: string[] = [];

  constructor(pipelines: readonly PlannedPipeline[], clock: Clock, previous?: Edges) {
    this.#pipelines = pipelines;
    this.#clock = clock;
    this.#previous = previous;
  }

  /** After a reload: takes the edges of a later build. */
  adopt(next: Edges): void {
    this.#pipelines = next.#pipelines;
    this.#edges = next.#edges;
  }

  /** @param waiting the queue at the end of the edge, if it has one @returns the observer of the edge */
  add(
    pipeline: string,
    from: EdgeEnd,
    to: EdgeEnd,
    waiting: () => QueueStats | null = () => null,
  ): EdgeMeter {
    const signal = this.#pipelines.find(({ name }) => name === pipeline)?.signal;
    if (signal === undefined) throw new Error(`there is no pipeline ${pipeline}`);
    const meter = this.#previous?.observerOf({ pipeline, from, to }) ?? new EdgeMeter(signal, this.#clock);
    this.#edges.push({ pipeline, from, to, meter, waiting });
    return meter;
  }

  /** See `DaemonView.listen`. */
  listen(place: EdgePlace, listener: EdgeListener): (() => void) | null {
    const end = this.#find(place)?.meter.listen(listener);
    if (end === undefined) return null;
    this.#listeners.push(place.pipeline);
    return () => {
      const index = this.#listeners.indexOf(place.pipeline);
      if (index >= 0) this.#listeners.splice(index, 1);
      end();
    };
  }

  /** Whether an edge of one of these pipelines has a listener. */
  hasListeners(pipelines: readonly string[]): boolean {
    return this.#listeners.some((pipeline) => pipelines.includes(pipeline));
  }

  /** The observer of an edge. */
  observerOf(place: EdgePlace): EdgeMeter | undefined {
    return this.#find(place)?.meter;
  }

  #find({ pipeline, from, to }: EdgePlace): Edge | undefined {
    return this.#edges.find(
      (each) => each.pipeline === pipeline && isSame(each.from, from) && isSame(each.to, to),
    );
  }

  /** Sorted by pipeline, then along the data flow. */
  stats(): readonly EdgeStats[] {
    return this.#pipelines.flatMap(({ name, processors }) => {
      // Edges were created against the flow.
      const step = ({ from: { kind, id } }: Edge): number =>
        kind === 'receiver' ? -1 : processors.findIndex((processor) => processor.id === id);
      return this.#edges
        .filter(({ pipeline }) => pipeline === name)
        .sort((a, b) => step(a) - step(b))
        .map(statsOf);
    });
  }
}

function isSame(a: EdgeEnd, b: EdgeEnd): boolean {
  return a.kind === b.kind && a.id === b.id;
}

function statsOf({ pipeline, from, to, meter, waiting }: Edge): EdgeStats {
  const { offered, accepted, refused, failed, p99Ms } = meter;
  return { pipeline, from, to, offered, accepted, refused, failed, p99Ms, queue: waiting() };
}
