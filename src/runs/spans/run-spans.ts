import type { RunFacts } from '../rules/run-facts.js';
import type { Micros } from '../../signal/time.js';
import type { SpanFacts } from '../rules/span-facts.js';
import type { SpanCounts } from '../rules/usage.js';
import type { SpanState } from './span-state.js';

/** The new counts of a span. The ids are keys. */
export interface CountsRewrite {
  readonly span_id: string;
  readonly counts: SpanCounts;
}

/** The spans of one run, as far as its header and the service map depend on them. Ids are keys: `uuidKey`. */
export interface RunSpans extends RunFacts {
  /** Their memory in units of a span without long texts, about 400 bytes. */
  readonly weight: number;
  /** How many spans have not ended. */
  readonly open: number;
  /** Whether any span says that the run is an agent's. */
  readonly isOfAgent: boolean;
  has(key: string): boolean;
  get(key: string): SpanState | undefined;
  keys(): Iterable<string>;
  /** Adds a new span, or replaces one by a newer version, which may say more but never less. */
  put(span: SpanState): void;
  /** Whether the leading span ({@link leading}) among these and others is one of the others. */
  isLedBy(others: readonly SpanFacts[]): boolean;
  /** The topmost span; undefined if missing, or if it is not kept as a whole. */
  top(): SpanFacts | undefined;
  /** See `rules/run-outcome.ts`; undefined also where no such span failed. Not of a truncated run. */
  lastOutcome(): SpanFacts | undefined;
  /** The spans with outdated stored counts: `rules/usage.ts`. For a truncated run, only in the commit that truncates it. */
  countsRewrites(): readonly CountsRewrite[];
  /** The latest start or end of any span; -Infinity if there is none. */
  lastTime(): Micros;
}
