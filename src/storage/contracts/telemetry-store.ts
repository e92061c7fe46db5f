import type { Agents, Models, Runs, Series, Sessions } from './runs.js';
import type { AlertStats, PastStats } from './alerts.js';
import type { ChangeFeed, StoredBytes, TelemetryWriter, Usage } from './telemetry-writer.js';
import type { Logs } from './logs.js';
import type { Metrics } from './metrics.js';
import type { PromptRuns } from './prompts.js';
import type { RunGroups } from './run-groups.js';
import type { Scores } from './scores.js';
import type { ServiceMap } from './service-map.js';

/**
 * The telemetry store: received telemetry and data derived from it, isolated per user. Each member is a separate contract, with a suite
 * in `test/conformance/`.
 *
 * Reads stop when `abort` fires because the client disconnected; their errors can be ignored.
 */
export interface TelemetryStore {
  readonly writer: TelemetryWriter;
  readonly runs: Runs;
  readonly agents: Agents;
  readonly models: Models;
  readonly series: Series;
  readonly groups: RunGroups;
  readonly sessions: Sessions;
  readonly scores: Scores;
  readonly metrics: Metrics;
  readonly logs: Logs;
  readonly map: ServiceMap;
  readonly prompts: PromptRuns;
  readonly stats: AlertStats;
  readonly past: PastStats;
  readonly usage: Usage;
  readonly stored: StoredBytes;
  readonly arrivals: ChangeFeed;
  /** Whether other processes may write to it concurrently. Absent: no. */
  readonly isShared?: boolean;
  /**
   * A UUID assigned when the store was created. Saved state about one store's telemetry is not valid for another store.
   *
   * @throws ConsumeError `storage_unavailable` (retryable)
   */
  identity(): Promise<string>;
}

/**
 * A store that implements only some of the contracts. Missing contracts are undefined, so that components that need them can report it
 * when the daemon starts.
 */
export type PartialTelemetryStore = Pick<TelemetryStore, 'identity'> &
  Partial<Omit<TelemetryStore, 'identity' | 'writer'>> & { readonly writer: Partial<TelemetryWriter> };

/** The contracts of a store, except writing. */
export type TelemetryPart = Exclude<keyof TelemetryStore, 'writer' | 'isShared'>;

/** Whether an extension is a telemetry store, complete or partial. */
export function isPartialTelemetryStore(candidate: unknown): candidate is PartialTelemetryStore {
  return typeof candidate === 'object' && candidate !== null && 'writer' in candidate;
}

/** Whether a store implements some contracts. */
export function hasParts<Part extends TelemetryPart>(
  store: PartialTelemetryStore,
  parts: readonly Part[],
): store is PartialTelemetryStore & Pick<TelemetryStore, Part> {
  return parts.every((part) => store[part] !== undefined);
}

/** The contracts of a telemetry store. */
type TelemetryContract = Exclude<keyof TelemetryStore, 'identity' | 'isShared'>;

/** Every method of every contract: clients in other threads are created from this list. */
export const TELEMETRY_METHODS: {
  readonly [Name in TelemetryContract]: { readonly [Method in keyof TelemetryStore[Name]]: true };
} = {
  writer: { traces: true, metrics: true, logs: true },
  runs: {
    read: true,
    traceSummary: true,
    readSpan: true,
    scores: true,
    list: true,
    follow: true,
    search: true,
    searchTrace: true,
    values: true,
    attributeValues: true,
    preview: true,
    find: true,
    setOutcome: true,
  },
  agents: { list: true, find: true, read: true, days: true, estimate: true, compare: true },
  models: { list: true, performance: true, tools: true, reprice: true },
  series: { read: true },
  groups: { read: true },
  sessions: { list: true, read: true, scores: true, users: true, repositories: true },
  scores: { groups: true, ofRuns: true },
  metrics: { list: true, query: true, series: true, labels: true },
  logs: { search: true, facets: true, groups: true, findTrace: true },
  map: { read: true, hours: true, rebuild: true },
  prompts: { link: true, compare: true },
  stats: { observe: true, exampleTraces: true },
  past: { observe: true },
  usage: { read: true, days: true },
  stored: { read: true, take: true },
  arrivals: { watch: true },
};

/** Whether an extension is a complete telemetry store. */
export function isTelemetryStore(candidate: unknown): candidate is TelemetryStore {
  if (!isPartialTelemetryStore(candidate) || !hasParts(candidate, ['identity'])) return false;
  const { writer: writes, ...contracts } = TELEMETRY_METHODS;
  return (
    hasParts(candidate, Object.keys(contracts) as TelemetryPart[]) &&
    (Object.keys(writes) as (keyof TelemetryWriter)[]).every(
      (signal) => candidate.writer[signal] !== undefined,
    )
  );
}
