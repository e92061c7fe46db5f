import type { FreshIds, NanoTime, TimeText } from './fresh-values.js';
import type { SampledTrace } from './load-plan.js';

/** What a body is made new with before each sending. */
export interface Fresh {
  readonly ids: FreshIds;
  readonly times: TimeText;
  readonly nanos: NanoTime;
  /** Which request it becomes, from 0. */
  readonly number: number;
  /**
   * When a part of the request starts, in milliseconds since the epoch.
   *
   * @param at where in the request it stands, from 0 up to 1
   * @param durationMs how long it takes
   */
  readonly startMs: (at: number, durationMs: number) => number;
}

/**
 * The bytes of one request, made once and sent many times: before each sending ids and times are replaced in place. The
 * length never changes.
 */
export interface BodyTemplate {
  /** Not to be changed while it is being sent. */
  readonly bytes: Buffer;
  /** Spans, points or records. */
  readonly items: number;
  /** What the daemon counts when it is asked: traces, points or records. */
  readonly units: number;
  /** Makes it a new request. */
  refresh(fresh: Fresh): void;
  /** One of its traces as it is at present; undefined where there are none. */
  sample(): SampledTrace | undefined;
}
