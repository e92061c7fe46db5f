import { GOES_ON, isOfAgent, kindOf, type FollowingHeader } from '../rules/header-of-spans.js';
import { outcomeOf, type Outcome } from '../rules/run-outcome.js';
import type { RunContext } from '../../signal/run-context.js';
import type { Micros } from '../../signal/time.js';
import type { Usage } from '../rules/usage.js';
import type { SpanFacts } from '../rules/span-facts.js';
import {
  failureOf,
  isAbove,
  serializeFailure,
  serializeTop,
  readFailure,
  readTop,
  topOf,
  type Summary,
  type Top,
} from './truncated-summary.js';
import type { RunSpans } from './run-spans.js';
import type { SpanState } from './span-state.js';

/** The parts of a stored header that are used here. */
interface StoredRun {
  readonly size: number;
  readonly truncatedSeq: number;
  readonly printed: string;
  readonly agent: string;
}

/**
 * The spans of a run that has more than are followed. Each span is stored and counted, but there is no tree of them: times,
 * status, error and kind go on following the spans, which takes the topmost one and a few numbers; agent, usage, context and what an agent
 * says below a wrapper stay as the first spans gave them. Which ids are stored is not known here: those that a commit brings are
 * looked up before, and {@link meet} takes the stored ones.
 */
export class TruncatedSpans implements RunSpans {
  /** The commit in which it was closed; 0 during that commit. */
  truncatedSeq: number;
  #size: number;
  readonly #followed: number;
  readonly #usage: Usage;
  readonly #agent: string;
  readonly #context: RunContext;
  #first: Micros;
  #latestEnd: Micros;
  #lastTime: Micros;
  #isOfAgent: boolean;
  #top: Top;
  readonly #failure: Outcome | undefined;
  /** The spans as they were kept before, until the commit that closes the run is over. */
  #before: RunSpans | null;
  /** Spans that the commit under way has met. */
  readonly #met = new Map<string, SpanState>();
  /** Those of them that it wrote. */
  readonly #written = new Set<string>();

  private constructor(
    parts: Omit<Summary, 'top' | 'failure'> & {
      readonly size: number;
      readonly truncatedSeq: number;
      readonly agent: string;
      readonly top: Top;
      readonly failure: Outcome | undefined;
      readonly before: RunSpans | null;
    },
  ) {
    this.truncatedSeq = parts.truncatedSeq;
    this.#size = parts.size;
    this.#followed = parts.followed;
    this.#usage = { total_tokens: parts.tokens, total_cost_usd: parts.cost };
    this.#agent = parts.agent;
    this.#context = parts.context;
    this.#first = parts.first;
    this.#latestEnd = parts.latestEnd;
    this.#lastTime = parts.lastTime;
    this.#isOfAgent = parts.isOfAgent;
    this.#top = parts.top;
    this.#failure = parts.failure;
    this.#before = parts.before;
  }

  /** @param spans at least one; they must not be changed from here on */
  static closing(spans: RunSpans): TruncatedSpans {
    const { agent, started_at } = spans.header();
    const { total_tokens, total_cost_usd } = spans.usage();
    const top = spans.top();
    if (top === undefined) throw new RangeError('a run without spans has too many');
    return new TruncatedSpans({
      size: spans.size,
      truncatedSeq: 0,
      followed: spans.size,
      tokens: total_tokens,
      cost: total_cost_usd,
      agent,
      first: started_at,
      latestEnd: spans.latestEnd(),
      lastTime: spans.lastTime(),
      isOfAgent: spans.isOfAgent,
      context: spans.context(),
      top: topOf(top),
      failure: failureOf(spans),
      before: spans,
    });
  }

  static stored({ size, truncatedSeq, printed, agent }: StoredRun): TruncatedSpans {
    const summary = JSON.parse(printed) as Summary;
    const top = readTop(summary.top);
    const failure = readFailure(summary.failure);
    return new TruncatedSpans({ ...summary, size, truncatedSeq, agent, top, failure, before: null });
  }

  /** The text for {@link stored}; the agent is that of the header. */
  print(): string {
    const summary: Summary = {
      followed: this.#followed,
      tokens: this.#usage.total_tokens,
      cost: this.#usage.total_cost_usd,
      first: this.#first,
      latestEnd: this.#latestEnd,
      lastTime: this.#lastTime,
      isOfAgent: this.#isOfAgent,
      context: this.#context,
      top: serializeTop(this.#top),
      failure: serializeFailure(this.#failure),
    };
    return JSON.stringify(summary);
  }

  get size(): number {
    return this.#size;
  }

  /** How many spans agent, usage and map followed. */
  get followed(): number {
    return this.#followed;
  }

  get weight(): number {
    return 1 + (this.#before?.weight ?? 0);
  }

  get hasRoot(): boolean {
    return this.#top.parent_span_id === null;
  }

  get isOfAgent(): boolean {
    return this.#isOfAgent;
  }

  has(key: string): boolean {
    return this.#met.has(key) || this.#before?.has(key) === true;
  }

  get(key: string): SpanState | undefined {
    return this.#met.get(key) ?? this.#before?.get(key);
  }

  /** Empty: there are too many to go through. */
  keys(): Iterable<string> {
    return [];
  }

  /** Takes a stored span that the commit under way may be about. */
  meet(span: SpanState): void {
    this.#met.set(span.span_id, span);
  }

  put(span: SpanState): void {
    if (!this.has(span.span_id)) this.#size++;
    this.#met.set(span.span_id, span);
    this.#isOfAgent ||= isOfAgent(span);
    this.#first = Math.min(this.#first, span.started_at);
    this.#latestEnd = Math.max(this.#latestEnd, span.ended_at ?? span.started_at);
    this.#lastTime = Math.max(this.#lastTime, span.started_at, span.ended_at ?? -Infinity);
    if (span.span_id === this.#top.span_id || isAbove(span, this.#top)) this.#top = topOf(span);
  }

  written({ span_id }: SpanState): void {
    this.#written.add(span_id);
  }

  /**
   * The keys of the spans whose place has to be noted: those that were written, and when the run was just closed all that are
   * stored.
   */
  *takeNews(): Generator<string> {
    if (this.#before !== null) yield* this.#before.keys();
    yield* this.#written;
    this.#before = null;
    this.#written.clear();
  }

  release(): void {
    this.#met.clear();
  }

  isLedBy(others: readonly SpanFacts[]): boolean {
    return others.some((other) => isAbove(other, this.#top));
  }

  top(): SpanFacts | undefined {
    return undefined;
  }

  header(): FollowingHeader {
    const { parent_span_id, status, ended_at: end, isWrapper } = this.#top;
    const hasEnded = parent_span_id === null && status !== 'running';
    const outcome = hasEnded ? outcomeOf(this.#top, isWrapper, () => this.#failure) : GOES_ON;
    const ended_at = hasEnded ? (end ?? this.#latestEnd) : null;
    return {
      agent: this.#agent,
      kind: kindOf(this.#top, this.#isOfAgent),
      status: outcome.status,
      started_at: this.#first,
      ended_at,
      duration_ms: ended_at === null ? null : (ended_at - this.#first) / 1000,
      error_message: outcome.error_message,
    };
  }

  context(): RunContext {
    return this.#context;
  }

  usage(): Usage {
    return this.#usage;
  }

  latestEnd(): Micros {
    return this.#latestEnd;
  }

  lastOutcome(): undefined {
    return undefined;
  }

  duplicateRewrites(): [] {
    return [];
  }

  lastTime(): Micros {
    return this.#lastTime;
  }
}
