import {
  headerOf,
  isLedBy,
  isOfAgent,
  latestEnd,
  topmost,
  type FollowingHeader,
} from '../rules/header-of-spans.js';
import { contextWeight, type RunContext } from '../../signal/run-context.js';
import { contextOf } from '../rules/context-of-spans.js';
import type { Micros } from '../../signal/time.js';
import { lastOutcome } from '../rules/run-outcome.js';
import { NOT_TOLD } from '../rules/duplicate-calls.js';
import { countedOnce, usageOf, type Usage } from '../rules/usage.js';
import type { SpanFacts } from '../rules/span-facts.js';
import type { DuplicateRewrite, RunSpans } from './run-spans.js';
import type { SpanState } from './span-state.js';

/** The spans of a small trace, as objects. Derived values are computed from all of them on each call. */
export class FewSpans implements RunSpans {
  readonly #spans = new Map<string, SpanState>();

  get size(): number {
    return this.#spans.size;
  }

  get weight(): number {
    let weight = this.#spans.size;
    let before: RunContext | null = null;
    for (const { context } of this.#spans.values()) {
      // Spans that say the same have it in common.
      if (context !== null && context !== before) weight += contextWeight(context);
      before = context;
    }
    return Math.floor(weight);
  }

  get hasRoot(): boolean {
    for (const { parent_span_id } of this.#spans.values()) if (parent_span_id === null) return true;
    return false;
  }

  get isOfAgent(): boolean {
    for (const span of this.#spans.values()) if (isOfAgent(span)) return true;
    return false;
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

  all(): SpanState[] {
    return [...this.#spans.values()];
  }

  put(span: SpanState): void {
    this.#spans.set(span.span_id, span);
  }

  written(): void {
    // The object itself is kept.
  }

  release(): void {
    // The objects themselves are kept.
  }

  isLedBy(others: readonly SpanFacts[]): boolean {
    return isLedBy<SpanFacts>(this.#spans.values(), others);
  }

  top(): SpanFacts | undefined {
    return topmost(this.all());
  }

  lastOutcome(): SpanFacts | undefined {
    return lastOutcome(this.all());
  }

  header(): FollowingHeader {
    return headerOf(this.all());
  }

  usage(): Usage {
    return usageOf(this.all());
  }

  context(): RunContext {
    return contextOf(this.all());
  }

  duplicateRewrites(): DuplicateRewrite[] {
    const spans = this.all();
    const { told } = countedOnce(spans);
    const rewrites: DuplicateRewrite[] = [];
    for (const { span_id, same_as, counted } of spans) {
      const now = told.get(span_id) ?? NOT_TOLD;
      if (same_as !== now.same_as || counted !== now.counted) rewrites.push({ span_id, told: now });
    }
    return rewrites;
  }

  latestEnd(): Micros {
    return latestEnd(this.all());
  }

  lastTime(): Micros {
    let last = -Infinity;
    for (const { started_at, ended_at } of this.#spans.values()) {
      last = Math.max(last, started_at, ended_at ?? -Infinity);
    }
    return last;
  }
}
