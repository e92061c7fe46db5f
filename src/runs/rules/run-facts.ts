import type { Micros } from '../../signal/time.js';
import { headerOf, latestEnd, type FollowingHeader } from './header-of-spans.js';
import type { SpanFacts } from './span-facts.js';
import { usageOf, type Usage } from './usage.js';

/** What the spans of a run say of its header. */
export interface RunFacts {
  /** How many spans there are. */
  readonly size: number;
  /** As {@link headerOf}. Only where there are spans. */
  header(): FollowingHeader;
  /** As {@link usageOf}. */
  usage(): Usage;
  /** As {@link latestEnd}. Only where there are spans. */
  latestEnd(): Micros;
}

/** By a look at all of them, each time. */
export function factsOfSpans(spans: readonly SpanFacts[]): RunFacts {
  return {
    size: spans.length,
    header: () => headerOf(spans),
    usage: () => usageOf(spans),
    latestEnd: () => latestEnd(spans),
  };
}
