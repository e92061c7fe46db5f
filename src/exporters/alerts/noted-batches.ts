import { LRUCache } from 'lru-cache';
import type { TouchedData } from '../../alerting/touched.js';
import type { MetricsBatch, TracesBatch } from '../../signal/batch.js';

/** Maximum number of runs whose agent names are cached. */
const REMEMBERED_RUNS = 10_000;

const NO_AGENTS: ReadonlySet<string> = new Set();

interface NamedRun {
  readonly trace_id: string;
  readonly agent: string;
  /** Whether other records of the run may follow. */
  readonly isPartial: boolean;
}

/** What of a batch decides which rules it may affect; plain data, for other threads. */
export interface BatchSummary {
  readonly userId: string;
  /** Undefined for metrics. */
  readonly runs?: readonly NamedRun[];
  readonly points: number;
}

export function summaryOfTraces({ tenant, items }: TracesBatch): BatchSummary {
  const runs = items.map(({ trace: { trace_id, agent, follows_spans, status } }) => ({
    trace_id,
    agent,
    isPartial: follows_spans || status === 'running',
  }));
  return { userId: tenant, runs, points: 0 };
}

export function summaryOfMetrics({ tenant, items }: MetricsBatch): BatchSummary {
  return { userId: tenant, points: items.length };
}

/** Extracts from batches what decides which rules they may affect. */
export class NotedBatches {
  /** Agent names in the records of a run, by run id, for the most recently used runs. */
  readonly #names = new LRUCache<string, readonly string[]>({ max: REMEMBERED_RUNS });

  note({ userId, runs, points }: BatchSummary): TouchedData {
    if (runs === undefined) return { userId, agents: NO_AGENTS, hasSpans: false, hasPoints: points > 0 };
    const agents = new Set<string>();
    for (const run of runs) this.#addNames(run, agents);
    return { userId, agents, hasSpans: runs.length > 0, hasPoints: false };
  }

  /**
   * Adds the agent names of a run's records. A partial record may name the agent less precisely than another record of the run, so
   * all names count. Names of evicted runs, and names known only to the store, are found by the next tick.
   */
  #addNames({ trace_id, agent, isPartial }: NamedRun, to: Set<string>): void {
    to.add(agent);
    const before = this.#names.get(trace_id);
    if (before === undefined && !isPartial) return;
    for (const name of before ?? []) to.add(name);
    if (before?.includes(agent) !== true) this.#names.set(trace_id, [...(before ?? []), agent]);
  }
}
