import { GOES_ON, isOfAgent, kindOf, type FollowingHeader } from '../rules/header-of-spans.js';
import { isBefore } from '../rules/shallowest.js';
import { outcomeOf, type Outcome } from '../rules/run-outcome.js';
import { loggedModel, tracedModel } from '../rules/duplicate-calls.js';
import { wholeContext, type RunContext } from '../../signal/run-context.js';
import type { Micros } from '../../signal/time.js';
import {
  countedUsage,
  hasSameCounts,
  NOTHING_COUNTED,
  USUAL_COUNTS,
  usageFrom,
  type SpanCounts,
  type Usage,
} from '../rules/usage.js';
import type { SpanFacts } from '../rules/span-facts.js';
import { TYPE_CODES } from '../../signal/trace-map.js';
import {
  failureOf,
  keyOfUnits,
  unitsOf,
  serializeFailure,
  serializeTop,
  readFailure,
  readTop,
  topOf,
  type Summary,
  type Top,
} from './truncated-summary.js';
import type { CountsRewrite, RunSpans } from './run-spans.js';
import type { SpanState } from './span-state.js';

/** The parts of a stored header that are used here. */
interface StoredRun {
  readonly size: number;
  readonly truncatedSeq: number;
  readonly serialized: string;
  readonly agent: string;
}

/** Limit of the models of a truncated run; calls of further models in log events count in addition to their spans. */
const MAX_MODELS = 100;

/**
 * The spans of a truncated run: one with more spans than the limit. Each span is stored and counted, but only the topmost one and sums are
 * kept. Times, status, error and kind continue to follow the spans, and usage grows by what further model calls report. Agent, context and
 * the outcome of an agent below a wrapper stay as the first spans gave them. The stored spans of a commit are looked up before it and
 * passed to {@link addStored}.
 */
export class TruncatedSpans implements RunSpans {
  /** The commit that truncated it; 0 during that commit. */
  truncatedSeq: number;
  #size: number;
  readonly #followed: number;
  #tokens: number | null;
  #cost: number | null;
  readonly #agent: string;
  readonly #context: RunContext;
  #first: Micros;
  #latestEnd: Micros;
  #lastTime: Micros;
  #isOfAgent: boolean;
  /** How many spans have not ended. */
  #open: number;
  #top: Top;
  /** A call of each model whose calls spans report. */
  readonly #models: Map<string, string>;
  readonly #failure: Outcome | undefined;
  /** All spans, until the commit that truncates the run is over. */
  #before: RunSpans | null;
  /** The stored spans that the commit changes, and its new ones. */
  readonly #touched = new Map<string, SpanState>();
  /** The ids of the spans that it wrote. */
  readonly #written = new Set<string>();

  private constructor(
    parts: Omit<Summary, 'context' | 'top' | 'failure' | 'models'> & {
      readonly context: RunContext;
      readonly size: number;
      readonly truncatedSeq: number;
      readonly agent: string;
      readonly top: Top;
      readonly failure: Outcome | undefined;
      readonly models: Map<string, string>;
      readonly before: RunSpans | null;
    },
  ) {
    this.truncatedSeq = parts.truncatedSeq;
    this.#size = parts.size;
    this.#followed = parts.followed;
    this.#tokens = parts.tokens;
    this.#cost = parts.cost;
    this.#agent = parts.agent;
    this.#context = parts.context;
    this.#first = parts.first;
    this.#latestEnd = parts.latestEnd;
    this.#lastTime = parts.lastTime;
    this.#isOfAgent = parts.isOfAgent;
    this.#open = parts.open ?? 0;
    this.#top = parts.top;
    this.#models = parts.models;
    this.#failure = parts.failure;
    this.#before = parts.before;
  }

  /** @param spans at least one; must not be changed afterwards */
  static of(spans: RunSpans): TruncatedSpans {
    const { agent, started_at } = spans.header();
    const { total_tokens, total_cost_usd } = storedUsage(spans);
    const top = spans.top();
    if (top === undefined) throw new RangeError('cannot truncate a run without spans');
    const models = new Map<string, string>();
    for (const key of spans.keys()) addModel(models, spans.get(key));
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
      open: spans.open,
      context: spans.context(),
      top: topOf(top),
      failure: failureOf(spans),
      models,
      before: spans,
    });
  }

  static stored({ size, truncatedSeq, serialized, agent }: StoredRun): TruncatedSpans {
    const summary = JSON.parse(serialized) as Summary;
    const top = readTop(summary.top);
    const failure = readFailure(summary.failure);
    const models = new Map(summary.models?.map(([model, call]) => [model, keyOfUnits(call)]));
    const context = wholeContext(summary.context);
    const parts = { size, truncatedSeq, agent, context, top, failure, models };
    return new TruncatedSpans({ ...summary, ...parts, before: null });
  }

  /** The text for {@link stored}, without the agent, which is in the header. */
  serialize(): string {
    const summary: Summary = {
      followed: this.#followed,
      tokens: this.#tokens,
      cost: this.#cost,
      first: this.#first,
      latestEnd: this.#latestEnd,
      lastTime: this.#lastTime,
      isOfAgent: this.#isOfAgent,
      open: this.#open,
      models: [...this.#models].map(([model, call]) => [model, unitsOf(call)]),
      context: this.#context,
      top: serializeTop(this.#top),
      failure: serializeFailure(this.#failure),
    };
    return JSON.stringify(summary);
  }

  get size(): number {
    return this.#size;
  }

  /** How many spans agent, context and duplicate calls follow. */
  get followed(): number {
    return this.#followed;
  }

  get weight(): number {
    return 1 + (this.#before?.weight ?? 0);
  }

  get hasRoot(): boolean {
    return this.#top.parent_span_id === null || this.#top.parent_is_remote === true;
  }

  get open(): number {
    return this.#open;
  }

  get haveEnded(): boolean {
    return this.#open === 0;
  }

  get isOfAgent(): boolean {
    return this.#isOfAgent;
  }

  has(key: string): boolean {
    return this.#touched.has(key) || this.#before?.has(key) === true;
  }

  get(key: string): SpanState | undefined {
    return this.#touched.get(key) ?? this.#before?.get(key);
  }

  /** Empty: there are too many to go through. */
  keys(): Iterable<string> {
    return [];
  }

  /** Adds a stored span that the commit may change. */
  addStored(span: SpanState): void {
    this.#touched.set(span.span_id, span);
  }

  put(span: SpanState): void {
    const before = this.get(span.span_id);
    if (before === undefined) this.#size++;
    if (span.type === TYPE_CODES.llm) {
      const [earlier, now] = [before && countedUsage(before), countedUsage(span)];
      this.#tokens = grown(this.#tokens, earlier?.total_tokens, now.total_tokens);
      this.#cost = grown(this.#cost, earlier?.total_cost_usd, now.total_cost_usd);
    }
    addModel(this.#models, span);
    this.#touched.set(span.span_id, span);
    this.#isOfAgent ||= isOfAgent(span);
    this.#first = Math.min(this.#first, span.started_at);
    this.#latestEnd = Math.max(this.#latestEnd, span.ended_at ?? span.started_at);
    this.#lastTime = Math.max(this.#lastTime, span.started_at, span.ended_at ?? -Infinity);
    // A span that older versions did not count may end.
    this.#open = Math.max(0, this.#open + openness(span) - (before === undefined ? 0 : openness(before)));
    if (span.span_id === this.#top.span_id || isAboveTop(span, this.#top)) this.#top = topOf(span);
  }

  /** Spans were written: the places of their ids are to be recorded. */
  written(spans: readonly SpanState[]): void {
    for (const { span_id } of spans) this.#written.add(span_id);
  }

  /** The keys of the spans to record the places of: the written ones, or all if the commit truncated the run. */
  *takeChangedKeys(): Generator<string> {
    if (this.#before !== null) yield* this.#before.keys();
    yield* this.#written;
    this.#before = null;
    this.#written.clear();
  }

  release(): void {
    this.#touched.clear();
  }

  isLedBy(others: readonly SpanFacts[]): boolean {
    return others.some((other) => isAboveTop(other, this.#top));
  }

  top(): SpanFacts | undefined {
    return undefined;
  }

  header(hasWaited = false): FollowingHeader {
    const { status, isWrapper } = this.#top;
    const hasEnded = (hasWaited || this.hasRoot) && status !== 'running';
    const outcome = hasEnded ? outcomeOf(this.#top, isWrapper, () => this.#failure) : GOES_ON;
    const ended_at = hasEnded ? this.#latestEnd : null;
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
    return usageFrom(this.#tokens, this.#cost);
  }

  latestEnd(): Micros {
    return this.#latestEnd;
  }

  lastOutcome(): undefined {
    return undefined;
  }

  /**
   * In the commit that truncates the run, those of its spans before. Later, a span that is not a model call counts nothing, because the
   * spans below it are unknown: it may repeat what they report. Nor does a call in a log event, if spans report calls of its model.
   */
  countsRewrites(): readonly CountsRewrite[] {
    const before = (this.#before?.countsRewrites() ?? []).filter(
      ({ span_id }) => !this.#touched.has(span_id),
    );
    const later = [...this.#touched.values()].flatMap((span) => {
      if (span.seq !== 0 || this.#before?.has(span.span_id)) return [];
      const counts = span.type === TYPE_CODES.llm ? this.#countsOfLogged(span) : USUAL_COUNTS;
      return counts === null || hasSameCounts(span, counts) ? [] : [{ span_id: span.span_id, counts }];
    });
    return [...before, ...later];
  }

  #countsOfLogged(span: SpanFacts): SpanCounts | null {
    const model = loggedModel(span);
    const call = model === null ? undefined : this.#models.get(model);
    return call === undefined ? null : { same_as: call, ...NOTHING_COUNTED };
  }

  lastTime(): Micros {
    return this.#lastTime;
  }
}

/** Whether a span replaces the topmost one. The parents of the other spans are unknown. */
function isAboveTop(span: SpanFacts, top: Top): boolean {
  if (span.parent_span_id === null) return top.parent_span_id !== null || isBefore(span, top);
  return span.span_id === top.parent_span_id;
}

function addModel(models: Map<string, string>, span: SpanFacts | undefined): void {
  const model = span === undefined ? null : tracedModel(span);
  if (span !== undefined && model !== null && models.size < MAX_MODELS && !models.has(model))
    models.set(model, span.span_id);
}

function openness(span: SpanFacts): number {
  return span.status === 'running' ? 1 : 0;
}

/** The sum of the counted usage of a run's spans, as stored before pending rewrites. */
function storedUsage(spans: RunSpans): Usage {
  let { total_tokens: tokens, total_cost_usd: cost } = spans.usage();
  if (tokens !== null) tokens = 0;
  if (cost !== null) cost = 0;
  for (const key of spans.keys()) {
    const span = spans.get(key);
    if (span === undefined) continue;
    const counted = countedUsage(span);
    tokens = grown(tokens, null, counted.total_tokens);
    cost = grown(cost, null, counted.total_cost_usd);
  }
  return { total_tokens: tokens, total_cost_usd: cost };
}

/** A sum after the counted value of a span changed. */
function grown(sum: number | null, before: number | null | undefined, after: number | null): number | null {
  return after === null ? sum : (sum ?? 0) + after - (before ?? 0);
}
