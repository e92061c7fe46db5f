import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../component/telemetry.js';
import { MICROS_PER_SECOND } from '../../../signal/time-units.js';
import type { Micros } from '../../../signal/time.js';
import { charactersOfMetric, MOST_METRIC_CHARACTERS, MOST_METRICS } from '../../contracts/metrics.js';

/** Metadata of a metric. */
export interface MetricFacts {
  readonly name: string;
  /** Position in `METRIC_TYPES`. */
  readonly type: number;
  readonly unit: string;
  readonly description: string;
}

/** Maximum age of the cached metrics when a metric looks new; older caches are read again. */
const FRESH: Micros = 2 * MICROS_PER_SECOND;
/** Size of the LRU cache of metrics for all users, in characters: several times the limit of one user. */
const REMEMBERED_CHARACTERS = 128 * 1024 * 1024;
/** Size of an entry without its texts, in characters. */
const ENTRY = 100;

interface Metrics {
  byName: Map<string, MetricFacts>;
  /** Names whose write is in progress, so the store may not return them yet. */
  readonly pending: Set<string>;
  characters: number;
  readAt: Micros;
}

/** The decision about the metrics of a batch. */
export interface TakenMetrics {
  /** In the order of the batch's metrics: the metadata to store; null if the points are refused. */
  readonly facts: readonly (MetricFacts | null)[];
  /** Call it after the points were stored or failed. */
  readonly ended: (isStored: boolean) => void;
}

/**
 * Enforces the limit of metrics per user. Metrics accepted by other processes are seen after {@link FRESH}, so several processes together
 * may exceed the limits by what they accept within that time.
 */
export class KnownMetrics {
  readonly #read: (tenant: number) => Promise<readonly MetricFacts[]>;
  readonly #clock: Clock;
  readonly #users = new LRUCache<number, Metrics>({
    maxSize: REMEMBERED_CHARACTERS,
    sizeCalculation: ({ byName, characters }) => 1 + byName.size * ENTRY + characters,
  });
  readonly #reading = new Map<number, Promise<Metrics>>();

  /** @param read reads the stored metrics of a user */
  constructor(read: (tenant: number) => Promise<readonly MetricFacts[]>, clock: Clock) {
    this.#read = read;
    this.#clock = clock;
  }

  /** Decides which metrics of a batch are accepted. @throws ConsumeError */
  async take(tenant: number, metrics: readonly MetricFacts[]): Promise<TakenMetrics> {
    const known = await this.#knowing(tenant, metrics);
    const changed = new Set<string>();
    const added: string[] = [];
    const facts = metrics.map((metric) => {
      const { name } = metric;
      const before = known.byName.get(name);
      // If a batch has conflicting metadata of a metric, the first change counts.
      if (before !== undefined && (changed.has(name) || areSame(before, metric))) return before;
      const characters =
        known.characters + charactersOfMetric(metric) - (before ? charactersOfMetric(before) : 0);
      const isFull = characters > MOST_METRIC_CHARACTERS;
      // Its points are accepted, without the metadata change.
      if (before !== undefined && isFull) return before;
      if (before === undefined && (isFull || known.byName.size >= MOST_METRICS)) return null;
      if (before === undefined) added.push(name);
      changed.add(name);
      known.byName.set(name, metric);
      known.characters = characters;
      return metric;
    });
    for (const name of added) known.pending.add(name);
    // Stored again, because its size grew.
    if (changed.size > 0) this.#users.set(tenant, known);
    return {
      facts,
      ended: (isStored) => {
        for (const name of added) {
          known.pending.delete(name);
          if (!isStored) forget(known, name);
        }
      },
    };
  }

  async #knowing(tenant: number, metrics: readonly MetricFacts[]): Promise<Metrics> {
    const known = this.#users.get(tenant);
    if (known !== undefined) {
      const age = this.#clock.now() - known.readAt;
      const isFresh = age >= 0 && age < FRESH;
      if (isFresh || metrics.every(({ name }) => known.byName.has(name))) return known;
    }
    const reading = this.#reading.get(tenant) ?? this.#readAgain(tenant);
    this.#reading.set(tenant, reading);
    return await reading;
  }

  async #readAgain(tenant: number): Promise<Metrics> {
    try {
      const readAt = this.#clock.now();
      const stored = await this.#read(tenant);
      const before = this.#users.get(tenant);
      const byName = new Map(stored.map((metric) => [metric.name, metric]));
      // Metrics missing from the store were removed by retention; only pending ones are kept.
      for (const name of before?.pending ?? []) {
        const metric = before?.byName.get(name);
        if (metric !== undefined && !byName.has(name)) byName.set(name, metric);
      }
      const characters = [...byName.values()].reduce((sum, metric) => sum + charactersOfMetric(metric), 0);
      const known = before ?? { byName, pending: new Set<string>(), characters, readAt };
      known.byName = byName;
      known.characters = characters;
      known.readAt = readAt;
      this.#users.set(tenant, known);
      return known;
    } finally {
      this.#reading.delete(tenant);
    }
  }
}

function forget(known: Metrics, name: string): void {
  const metric = known.byName.get(name);
  if (metric === undefined) return;
  known.byName.delete(name);
  known.characters -= charactersOfMetric(metric);
}

function areSame(a: MetricFacts, b: MetricFacts): boolean {
  return a.type === b.type && a.unit === b.unit && a.description === b.description;
}
