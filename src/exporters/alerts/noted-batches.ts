import { LRUCache } from 'lru-cache';
import type { TouchedData } from '../../alerting/touched.js';
import type { MetricsBatch, TracesBatch } from '../../signal/batch.js';
import type { TraceRecord } from '../../signal/trace.js';

/** Maximum number of runs whose agent names are cached. */
const REMEMBERED_RUNS = 10_000;

const NO_AGENTS: ReadonlySet<string> = new Set();

/** Extracts from batches what decides which rules they may affect. */
export class NotedBatches {
  /** Agent names in the records of a run, by run id, for the most recently used runs. */
  readonly #names = new LRUCache<string, readonly string[]>({ max: REMEMBERED_RUNS });

  traces({ tenant, items }: TracesBatch): TouchedData {
    const agents = new Set<string>();
    for (const item of items) this.#addNames(item, agents);
    return { userId: tenant, agents, hasSpans: items.length > 0, hasPoints: false };
  }

  metrics({ tenant, items }: MetricsBatch): TouchedData {
    return { userId: tenant, agents: NO_AGENTS, hasSpans: false, hasPoints: items.length > 0 };
  }

  /**
   * Adds the agent names of a run's records. A partial record may name the agent less precisely than another record of the run, so
   * all names count. Names of evicted runs, and names known only to the store, are found by the next tick.
   */
  #addNames({ trace }: TraceRecord, to: Set<string>): void {
    const { trace_id, agent } = trace;
    to.add(agent);
    const before = this.#names.get(trace_id);
    if (before === undefined && !trace.follows_spans && trace.status !== 'running') return;
    for (const name of before ?? []) to.add(name);
    if (before?.includes(agent) !== true) this.#names.set(trace_id, [...(before ?? []), agent]);
  }
}
