import type { RunContext } from '../../signal/run-context.js';
import type { Micros } from '../../signal/time.js';
import { contextOf } from './context-of-spans.js';
import { hasRoot, haveEnded, headerOf, latestEnd, type FollowingHeader } from './header-of-spans.js';
import type { SpanFacts } from './span-facts.js';
import { usageOf, type Usage } from './usage.js';

/** The parts of a run's header that its spans determine. */
export interface RunFacts {
  /** How many spans there are. */
  readonly size: number;
  /** Whether all spans have ended. */
  readonly haveEnded: boolean;
  /** Whether any span is a root: {@link hasRoot}. */
  readonly hasRoot: boolean;
  /** See {@link headerOf}. Only where there are spans. */
  header(hasWaited?: boolean): FollowingHeader;
  /** See {@link usageOf}. */
  usage(): Usage;
  /** See {@link contextOf}. */
  context(): RunContext;
  /** See {@link latestEnd}. Only where there are spans. */
  latestEnd(): Micros;
}

/** Looks at all of them each time. */
export function factsOfSpans(spans: readonly SpanFacts[]): RunFacts {
  return {
    size: spans.length,
    get haveEnded() {
      return haveEnded(spans);
    },
    get hasRoot() {
      return hasRoot(spans);
    },
    header: (hasWaited) => headerOf(spans, hasWaited),
    usage: () => usageOf(spans),
    context: () => contextOf(spans),
    latestEnd: () => latestEnd(spans),
  };
}
