import type { FreshIds, NanoTime, TimeText } from './fresh-values.js';
import type { SampledTrace } from './load-plan.js';

/** Sources of new values for a body. */
export interface RefreshContext {
  readonly ids: FreshIds;
  readonly times: TimeText;
  readonly nanos: NanoTime;
  /** Number of the request, from 0. */
  readonly number: number;
  /**
   * Returns the start time of a part of the request, in milliseconds since the epoch.
   *
   * @param at position of the part in the request, from 0 to 1
   * @param durationMs duration of the part
   */
  readonly startMs: (at: number, durationMs: number) => number;
}

/**
 * The body of one request, which is built once and sent many times. `refresh` replaces ids and times in place, so its
 * length never changes.
 */
export interface BodyTemplate {
  /** Must not be refreshed while it is being sent. */
  readonly bytes: Buffer;
  /** Number of spans, points or records. */
  readonly items: number;
  /** What the daemon's API counts: traces, points or records. */
  readonly units: number;
  /** Replaces ids and times. */
  refresh(fresh: RefreshContext): void;
  /** Returns one of its current traces; undefined for other signals. */
  sample(): SampledTrace | undefined;
}
