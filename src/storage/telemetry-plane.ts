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
import type { TelemetryWriter } from './telemetry-writer.js';
import type { Usage } from './usage.js';

/**
 * The telemetry plane: what clients send, all that is derived from it, each user seeing only its own. Every part is a contract of its own,
 * with a suite in `test/conformance/`.
 *
 * Reads are given up when `abort` ends, as nobody waits for the answer any more; what they throw then is of no interest.
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
  readonly arrivals: Arrivals;
  /**
   * A UUID that the store was given when it was made, and keeps: what is known of one store's telemetry says nothing of another's.
   *
   * @throws ConsumeError `storage_unavailable` (retryable)
   */
  identity(): Promise<string>;
}

/** Finds a telemetry plane among extensions. */
export function isTelemetryPlane(candidate: unknown): candidate is TelemetryPlane {
  return typeof candidate === 'object' && candidate !== null && 'writer' in candidate;
}
