import type { EdgeStats, QueueStats } from '../component/daemon-view.js';
import type { EdgeEnd, EdgeListener, EdgePlace, EdgeSample, Passed } from '../component/edge-listener.js';
import type { Clock } from '../component/telemetry.js';
import type { Amount } from '../signal/amount.js';
import type { Signal } from '../signal/batch.js';
import type { AnyBatch } from '../signal/raw-batch.js';
import type { EdgeObserver } from './instrument.js';
import type { PlannedPipeline } from './plan.js';
import { MICROS_PER_MINUTE } from '../signal/time-units.js';
import type { Micros } from '../signal/time.js';

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

/** A listener of an edge, with a number for messages to intake threads. */
export interface Listening {
  readonly number: number;
  readonly place: EdgePlace;
  readonly listener: EdgeListener;
}

/** The listeners of all edges. */
class Listeners {
  readonly all = new Map<number, Listening>();
  changed: (listening: Listening, hasEnded: boolean) => void = () => undefined;
  #last = 0;

  /** @returns a function that removes it */
  add(place: EdgePlace, listener: EdgeListener): () => void {
    const listening: Listening = { number: ++this.#last, place, listener };
    this.all.set(listening.number, listening);
    this.changed(listening, false);
    return () => {
      if (this.all.delete(listening.number)) this.changed(listening, true);
    };
  }
}

/** All edges of all pipelines, with their throughput. */
export class Edges {
  #pipelines: readonly PlannedPipeline[];
  readonly #clock: Clock;
  #edges: Edge[] = [];
  /** Edges that run; those that stay go on counting. */
  readonly #previous: Edges | undefined;
  readonly #listeners: Listeners;

  constructor(pipelines: readonly PlannedPipeline[], clock: Clock, previous?: Edges) {
    this.#pipelines = pipelines;
    this.#clock = clock;
    this.#previous = previous;
    this.#listeners = previous === undefined ? new Listeners() : previous.#listeners;
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
    const leave = this.#listeners.add(place, listener);
    return () => {
      leave();
      end();
    };
  }

  get listeners(): Iterable<Listening> {
    return this.#listeners.all.values();
  }

  /** @param changed called with each new listener, and each that has ended */
  watchListeners(changed: Listeners['changed']): void {
    this.#listeners.changed = changed;
  }

  /** Whether an edge of one of these pipelines has a listener that needs all batches. */
  hasUnsampledListeners(pipelines: readonly string[]): boolean {
    for (const { place, listener } of this.listeners)
      if (listener.sampled === undefined && pipelines.includes(place.pipeline)) return true;
    return false;
  }

  /** Gives a listener a sample of an intake thread. Resolves when it was read. */
  async addSample(number: number, sample: EdgeSample): Promise<void> {
    await this.#listeners.all.get(number)?.listener.sampled?.add(sample);
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

/** Each bucket ends 10% higher than the one before. */
const STEP = Math.log(1.1);
/** Milliseconds; shorter durations count as this. */
const SHORTEST = 0.01;
/** The last bucket ends at about a quarter of an hour; longer durations count as that. */
const BUCKETS = 193;

/** Durations of the current and the previous minute, in buckets: memory does not grow with their number. */
export class RecentDurations {
  readonly #clock: Clock;
  #now = new Uint32Array(BUCKETS);
  #before = new Uint32Array(BUCKETS);
  /** When the current minute began. */
  #since: Micros;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#since = clock.now();
  }

  record(ms: number): void {
    this.#rotate();
    const bucket = ms <= SHORTEST ? 0 : Math.min(BUCKETS - 1, Math.ceil(Math.log(ms / SHORTEST) / STEP));
    this.#now[bucket] = (this.#now[bucket] ?? 0) + 1;
  }

  /** @param share from 0 to 1 @returns the quantile in milliseconds, at most 10% too high; null without durations */
  quantile(share: number): number | null {
    this.#rotate();
    const counts = this.#now.map((count, bucket) => count + (this.#before[bucket] ?? 0));
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return null;
    let below = 0;
    const bucket = counts.findIndex((count) => (below += count) >= share * total);
    return SHORTEST * Math.exp(STEP * bucket);
  }

  #rotate(): void {
    const age = this.#clock.now() - this.#since;
    // A clock that was set back also starts a new minute.
    if (age >= 0 && age < MICROS_PER_MINUTE) return;
    [this.#now, this.#before] = [this.#before, this.#now];
    this.#now.fill(0);
    if (age < 0 || age >= 2 * MICROS_PER_MINUTE) this.#before.fill(0);
    this.#since = this.#clock.now();
  }
}
