import type { Agents } from './agents.js';
import type { AlertFigures, PastFigures } from './alert-figures.js';
import type { Arrivals } from './arrivals.js';
import type { Logs } from './logs.js';
import type { Metrics } from './metrics.js';
import type { Models } from './models.js';
import type { PromptRuns } from './prompt-runs.js';
import type { Runs } from './runs.js';
import type { Series } from './run-series.js';
import type { ServiceMap } from './service-map.js';
import type { Sessions } from './sessions.js';
import type { StoredBytes } from './stored-bytes.js';
import type { TelemetryWriter } from './telemetry-writer.js';
import type { Usage } from './usage.js';

/**
 * The telemetry plane: what clients send, all that is derived from it, each user seeing only its own. Every part is a contract of its own,
 * with a suite in `test/conformance/`.
 *
 * Reads are given up when `abort` ends, as the client disconnected; what they throw then is of no interest.
 */
export interface TelemetryPlane {
  readonly writer: TelemetryWriter;
  readonly runs: Runs;
  readonly agents: Agents;
  readonly models: Models;
  readonly series: Series;
  readonly sessions: Sessions;
  readonly metrics: Metrics;
  readonly logs: Logs;
  readonly map: ServiceMap;
  readonly prompts: PromptRuns;
  readonly figures: AlertFigures;
  readonly past: PastFigures;
  readonly usage: Usage;
  readonly stored: StoredBytes;
  readonly arrivals: Arrivals;
  /** Whether other processes may write to it at the same time. Absent: no. */
  readonly isShared?: boolean;
  /**
   * A UUID that the store was given when it was made, and keeps: what is known of one store's telemetry says nothing of another's.
   *
   * @throws ConsumeError `storage_unavailable` (retryable)
   */
  identity(): Promise<string>;
}

/**
 * What a store has of the telemetry plane, where it has not all of it: what is there keeps its contract, and what is not there is
 * undefined, so that whoever needs it is told so when the daemon starts.
 */
export type TelemetryParts = Pick<TelemetryPlane, 'identity'> &
  Partial<Omit<TelemetryPlane, 'identity' | 'writer'>> & { readonly writer: Partial<TelemetryWriter> };

/** What a store tells and is asked, beside what it takes. */
export type TelemetryPart = Exclude<keyof TelemetryPlane, 'writer' | 'isShared'>;

/** Finds a store of telemetry among extensions, whatever it holds. */
export function isTelemetryStore(candidate: unknown): candidate is TelemetryParts {
  return typeof candidate === 'object' && candidate !== null && 'writer' in candidate;
}

/** Whether a store has some parts. */
export function hasParts<Part extends TelemetryPart>(
  store: TelemetryParts,
  parts: readonly Part[],
): store is TelemetryParts & Pick<TelemetryPlane, Part> {
  return parts.every((part) => store[part] !== undefined);
}

const WRITES = Object.keys({
  traces: true,
  metrics: true,
  logs: true,
} satisfies Record<keyof TelemetryWriter, true>) as readonly (keyof TelemetryWriter)[];

const PARTS = Object.keys({
  runs: true,
  agents: true,
  models: true,
  series: true,
  sessions: true,
  metrics: true,
  logs: true,
  map: true,
  prompts: true,
  figures: true,
  past: true,
  usage: true,
  stored: true,
  arrivals: true,
  identity: true,
} satisfies Record<TelemetryPart, true>) as readonly TelemetryPart[];

/** Finds a store of telemetry that has all of it. */
export function isTelemetryPlane(candidate: unknown): candidate is TelemetryPlane {
  return (
    isTelemetryStore(candidate) &&
    hasParts(candidate, PARTS) &&
    WRITES.every((signal) => candidate.writer[signal] !== undefined)
  );
}
