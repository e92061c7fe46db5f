import {
  hasRoot,
  haveEnded,
  headerOf,
  isAbove,
  isOfAgent,
  latestEnd,
  leading,
  topmost,
  type FollowingHeader,
} from '../rules/header-of-spans.js';
import { contextWeight, type RunContext } from '../../signal/run-context.js';
import { contextOf } from '../rules/context-of-spans.js';
import type { Micros } from '../../signal/time.js';
import { lastOutcome } from '../rules/run-outcome.js';
import { countedOnce, hasSameCounts, USUAL_COUNTS, type Usage } from '../rules/usage.js';
import type { SpanFacts } from '../rules/span-facts.js';
import type { CountsRewrite, RunSpans } from './run-spans.js';
import type { SpanState } from './span-state.js';

/** The spans of a run as objects. Derived values are recomputed from all of them after a change, about 1 microsecond per span. */
export class FollowedSpans implements RunSpans {
  readonly #spans = new Map<string, SpanState>();
  /** The same spans, and their usage; null after a change. */
  #all: readonly SpanState[] | null = null;
  #counted: ReturnType<typeof countedOnce> | null = null;
  /** The leading span; undefined if unknown. */
  #lead: SpanState | undefined;

  static of(spans: Iterable<SpanState>): FollowedSpans {
    const followed = new FollowedSpans();
    for (const span of spans) followed.put(span);
    return followed;
  }

  get size(): number {
    return this.#spans.size;
  }

  get weight(): number {
    let weight = this.#spans.size;
    let before: RunContext | null = null;
    for (const { context, error_message } of this.#spans.values()) {
      if (error_message !== null) weight += error_message.length / CHARACTERS_OF_WEIGHT;
      // Spans with the same context share the object.
      if (context !== null && context !== before) weight += contextWeight(context);
      before = context;
    }
    return Math.floor(weight);
  }

  get hasRoot(): boolean {
    return hasRoot(this.all());
  }

  get open(): number {
    return this.all().filter(({ status }) => status === 'running').length;
  }

  get haveEnded(): boolean {
    return haveEnded(this.all());
  }

  get isOfAgent(): boolean {
    return this.all().some(isOfAgent);
  }

  has(key: string): boolean {
    return this.#spans.has(key);
  }

  get(key: string): SpanState | undefined {
    return this.#spans.get(key);
  }

  keys(): Iterable<string> {
    return [...this.#spans.keys()];
  }

  all(): readonly SpanState[] {
    return (this.#all ??= [...this.#spans.values()]);
  }

  put(span: SpanState): void {
    this.#spans.set(span.span_id, span);
    if (span.span_id === this.#lead?.span_id) this.#lead = undefined;
    else if (this.#lead !== undefined && isAbove(span, this.#lead)) this.#lead = span;
    this.#all = null;
    this.#counted = null;
  }

  isLedBy(others: readonly SpanFacts[]): boolean {
    const lead = (this.#lead ??= leading(this.all()));
    return lead === undefined ? others.length > 0 : others.some((other) => isAbove(other, lead));
  }

  top(): SpanFacts | undefined {
    return topmost(this.all());
  }

  lastOutcome(): SpanFacts | undefined {
    return lastOutcome(this.all());
  }

  header(hasWaited?: boolean): FollowingHeader {
    return headerOf(this.all(), hasWaited);
  }

  usage(): Usage {
    return this.#once().usage;
  }

  context(): RunContext {
    return contextOf(this.all());
  }

  countsRewrites(): CountsRewrite[] {
    const { counts } = this.#once();
    const rewrites: CountsRewrite[] = [];
    for (const span of this.all()) {
      const now = counts.get(span.span_id) ?? USUAL_COUNTS;
      if (!hasSameCounts(span, now)) rewrites.push({ span_id: span.span_id, counts: now });
    }
    return rewrites;
  }

  latestEnd(): Micros {
    return latestEnd(this.all());
  }

  lastTime(): Micros {
    return this.all().reduce(
      (last, { started_at, ended_at }) => Math.max(last, started_at, ended_at ?? -Infinity),
      -Infinity,
    );
  }

  #once(): ReturnType<typeof countedOnce> {
    return (this.#counted ??= countedOnce(this.all()));
  }
}

/** As many characters take the memory of a span. */
const CHARACTERS_OF_WEIGHT = 300;
