import { doubleAt, intAt, wordAt } from '../../signal/checked.js';
import { GOES_ON, isOfAgent, kindOf, topmost, type FollowingHeader } from '../rules/header-of-spans.js';
import { hasFailed, isWrapper, outcomeOf } from '../rules/run-outcome.js';
import { NO_NODE } from '../../signal/service-map.js';
import type { RunContext } from '../../signal/run-context.js';
import type { Micros } from '../../signal/time.js';
import { usageFrom, type Usage } from '../rules/usage.js';
import type { SpanFacts } from '../rules/span-facts.js';
import { Heap } from './heap.js';
import { MapTally } from './map-tally.js';
import type { DuplicateRewrite, RunSpans } from './run-spans.js';
import { RunAttributes } from './run-attributes.js';
import { NO_ROW, SpanColumns } from './span-columns.js';
import { decidesOutcome, OutcomeSpans } from './outcome-spans.js';
import type { SpanState } from './span-state.js';
import { DuplicateTracker } from './duplicate-tracker.js';
import { UsageTree } from './usage-tree.js';

/** The memory that a span takes here, compared with a span as an object. */
const WEIGHT = 0.5;
/** Additional memory if several scopes report calls. */
const TELLING_WEIGHT = 0.6;

/**
 * The spans of a large trace. Derived values are updated with each new span, so the cost of a commit does not depend on the stored spans.
 * The results equal those of the functions over all spans.
 */
export class ManySpans implements RunSpans {
  readonly #columns = new SpanColumns();
  readonly #tokens = this.#tree(({ tokens }) => tokens);
  readonly #costs = this.#tree(({ costs }) => costs);
  readonly #said = new RunAttributes(this.#columns);
  /** Spans without a parent, and some that have got one since. */
  readonly #roots = new Heap<number>((a, b) => this.#columns.isBefore(a, b));
  readonly #handles = new Map<string, SpanState>();
  /** The first of all spans. */
  #first = NO_ROW;
  #firstStart = Infinity;
  #latestEnd = -Infinity;
  #lastTime = -Infinity;
  #isOfAgent = false;
  #map: MapTally | null = null;
  #speaking: OutcomeSpans | null = null;
  /** Null while only one scope reports calls. */
  #telling: DuplicateTracker | null = null;

  /** Made from the same objects, which stay until {@link release}. */
  static of(spans: Iterable<SpanState>): ManySpans {
    const many = new ManySpans();
    for (const span of spans) {
      many.put(span);
      many.written(span);
    }
    return many;
  }

  get size(): number {
    return this.#columns.size;
  }

  get weight(): number {
    const each = WEIGHT + this.#said.weight + (this.#telling === null ? 0 : TELLING_WEIGHT);
    return Math.ceil(this.#columns.ids.size * each + this.#columns.contextWeight);
  }

  get hasRoot(): boolean {
    return this.#root !== NO_ROW;
  }

  get isOfAgent(): boolean {
    return this.#isOfAgent;
  }

  has(key: string): boolean {
    const row = this.#columns.ids.find(key);
    return row !== NO_ROW && this.#columns.isHere(row);
  }

  get(key: string): SpanState | undefined {
    const known = this.#handles.get(key);
    if (known !== undefined) return known;
    const row = this.#columns.ids.find(key);
    if (row === NO_ROW || !this.#columns.isHere(row)) return undefined;
    const place = { seq: doubleAt(this.#columns.seqs, row), line: wordAt(this.#columns.lines, row) };
    const handle = {
      ...this.#columns.facts(row),
      ...place,
      row: undefined,
      payload: undefined,
      changed: false,
    };
    this.#handles.set(key, handle);
    return handle;
  }

  *keys(): Generator<string> {
    const { ids } = this.#columns;
    for (let row = 0; row < ids.size; row++) if (this.#columns.isHere(row)) yield ids.key(row);
  }

  put(span: SpanState): void {
    this.#handles.set(span.span_id, span);
    this.add(span);
  }

  /** Like {@link put}, for a stored span whose object is not used. @returns its row */
  add(span: SpanFacts): number {
    const columns = this.#columns;
    const row = columns.row(span.span_id);
    const { parent_span_id: parentId } = span;
    const parent = parentId === null ? NO_ROW : columns.row(parentId);
    if (columns.isHere(row)) this.#change(row, parent, span);
    else this.#arrive(row, parent, span);
    // A later version of a span may say this where an earlier one did not, and never takes it back.
    this.#isOfAgent ||= isOfAgent(span);
    this.#latestEnd = Math.max(this.#latestEnd, span.ended_at ?? span.started_at);
    this.#lastTime = Math.max(this.#lastTime, span.started_at, span.ended_at ?? -Infinity);
    return row;
  }

  written(span: Pick<SpanState, 'span_id' | 'seq' | 'line'>): void {
    this.place(this.#columns.ids.find(span.span_id), span);
  }

  /** Notes where a span is stored. */
  place(row: number, { seq, line }: { readonly seq: number; readonly line: number }): void {
    this.#columns.seqs[row] = seq;
    this.#columns.lines[row] = line;
  }

  release(): void {
    this.#handles.clear();
  }

  isLedBy(others: readonly SpanFacts[]): boolean {
    const other = topmost(others);
    if (other === undefined) return false;
    const top = this.#top;
    if (top === NO_ROW) return true;
    const isRoot = other.parent_span_id === null;
    if (isRoot !== this.hasRoot) return isRoot;
    const start = doubleAt(this.#columns.starts, top);
    return other.started_at === start ? other.span_id < this.#columns.ids.key(top) : other.started_at < start;
  }

  top(): SpanFacts | undefined {
    const top = this.#top;
    return top === NO_ROW ? undefined : this.#columns.facts(top);
  }

  lastOutcome(): SpanFacts | undefined {
    const row = (this.#speaking ??= new OutcomeSpans(this.#columns)).last;
    const isOfUse = row !== NO_ROW && hasFailed(this.#columns.status(row));
    return isOfUse ? this.#columns.facts(row) : undefined;
  }

  header(): FollowingHeader {
    const [root, top] = [this.#root, this.#top];
    const status = root === NO_ROW ? 'running' : this.#columns.status(root);
    const end = root === NO_ROW ? NaN : doubleAt(this.#columns.ends, root);
    const hasEnded = status !== 'running';
    const ended_at = hasEnded ? (Number.isNaN(end) ? this.#latestEnd : end) : null;
    const outcome = hasEnded
      ? outcomeOf({ status, error_message: this.#columns.error(root) }, this.#wraps(root), () =>
          this.lastOutcome(),
        )
      : GOES_ON;
    return {
      agent: this.#said.agent,
      kind: kindOf(top === NO_ROW ? undefined : { run_kind: this.#columns.kind(top) }, this.#isOfAgent),
      status: outcome.status,
      started_at: this.#firstStart,
      ended_at,
      duration_ms: ended_at === null ? null : (ended_at - this.#firstStart) / 1000,
      error_message: outcome.error_message,
    };
  }

  #wraps(root: number): boolean {
    return isWrapper(decidesOutcome(this.#columns, root), this.#columns.kind(root));
  }

  usage(): Usage {
    this.#telling?.judge();
    return usageFrom(this.#tokens.total, this.#costs.total);
  }

  duplicateRewrites(): DuplicateRewrite[] {
    this.#telling?.judge();
    const keyOf = (row: number): string => this.#columns.ids.key(row);
    return Array.from(this.#telling?.news() ?? [], ([row, { same_as, counted }]) => ({
      span_id: keyOf(row),
      told: { same_as: same_as === null ? null : keyOf(same_as), counted },
    }));
  }

  context(): RunContext {
    return this.#said.context;
  }

  latestEnd(): Micros {
    return this.#latestEnd;
  }

  lastTime(): Micros {
    return this.#lastTime;
  }

  /** What they contribute to the service map. */
  get map(): MapTally {
    return (this.#map ??= new MapTally(this.#columns));
  }

  /** The first span without a parent. */
  get #root(): number {
    for (let row = this.#roots.first; row !== undefined; row = this.#roots.first) {
      if (this.#columns.parents[row] === NO_ROW) return row;
      this.#roots.shift();
    }
    return NO_ROW;
  }

  get #top(): number {
    const root = this.#root;
    return root === NO_ROW ? this.#first : root;
  }

  #arrive(row: number, parent: number, span: SpanFacts): void {
    const columns = this.#columns;
    columns.set(row, parent, parent !== NO_ROW, span);
    if (parent === NO_ROW) this.#roots.push(row);
    if (this.#first === NO_ROW || columns.isBefore(row, this.#first)) this.#first = row;
    this.#firstStart = Math.min(this.#firstStart, span.started_at);
    for (const tree of [this.#tokens, this.#costs]) {
      tree.reported(row, NaN);
      if (parent !== NO_ROW) tree.linked(row);
    }
    this.#said.arrived(row);
    this.#map?.arrived(row);
    this.#speaking?.arrived(row);
    this.#telling?.arrived(row);
    this.#listen();
  }

  #change(row: number, parent: number, span: SpanFacts): void {
    const columns = this.#columns;
    const [tokens, cost] = [doubleAt(columns.tokens, row), doubleAt(columns.costs, row)];
    const before = this.#said.ranks(row);
    const spoke = decidesOutcome(columns, row);
    const wasCall = columns.voice(row) !== null;
    const isLinked = columns.parents[row] === NO_ROW && parent !== NO_ROW;
    const node = intAt(columns.nodes, row);
    columns.set(row, parent, parent !== NO_ROW, span);
    if (node !== span.node) {
      if (node !== NO_NODE && span.node !== NO_NODE && !isLinked) this.#map?.renamed(row, node);
      // Other spans now have another caller, and there is no index of them.
      else this.#map = null;
    }
    // Compressed paths of its descendants skip it, and there is no index of them.
    if (!spoke && decidesOutcome(columns, row)) this.#speaking = null;
    this.#tokens.reported(row, tokens);
    this.#costs.reported(row, cost);
    if (isLinked) {
      this.#tokens.linked(row);
      this.#costs.linked(row);
      this.#said.linked(row);
      this.#map?.linked(row);
      this.#speaking?.linked(row);
    }
    this.#map?.changed(row);
    this.#said.changed(row, before);
    if (!wasCall) this.#telling?.arrived(row);
    else {
      if (isLinked) this.#telling?.linked(row);
      this.#telling?.changed(row);
    }
    this.#listen();
  }

  /** Starts tracking duplicates, once several scopes report calls. */
  #listen(): void {
    if (this.#telling === null && this.#columns.haveSeveralReporters)
      this.#telling = new DuplicateTracker(this.#columns, this.#tokens, this.#costs);
  }

  #tree(values: (columns: SpanColumns) => Float64Array): UsageTree {
    return new UsageTree(this.#columns, values, (row) => this.#telling?.covered(row));
  }
}
