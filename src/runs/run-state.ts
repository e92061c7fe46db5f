import { invariant } from '../signal/checked.js';
import type { Micros } from '../signal/time.js';
import {
  followsSpans,
  namesItsAgent,
  withDerivedValues,
  timedOut,
  withHeader,
  type NamedHeader,
} from './rules/following-header.js';
import { TruncatedSpans } from './spans/truncated-spans.js';
import { FollowedSpans } from './spans/followed-spans.js';
import type { CountsRewrite, RunSpans } from './spans/run-spans.js';
import type { SpanState } from './spans/span-state.js';
import { judged, weightOf, type SpanVerdict } from './rules/verdicts.js';
import { completedSpan, completesSpan, withOutcome } from './rules/completion.js';
import { completedPayload, NO_PAYLOAD, type Payload } from './rules/payload.js';
import { HAS_FAILED } from './rules/derived.js';
import { FAILED, RUNNING, TIMED_OUT, type HeaderRow, type SpanRow } from './rules/rows.js';
import { factsOf, keyOf, countsColumns, type SpanFacts } from './rules/span-facts.js';
import { HourSums } from '../signal/hour-sums.js';
import { countTrace, hourOf } from '../signal/trace-map.js';

/** The state of a run before a commit. */
export interface KnownRun {
  /** Time of the last new data. */
  readonly lastSeenAt: Micros;
  readonly isStored: boolean;
  /** Whether it counts in the service map. */
  readonly isMapped: boolean;
  /** Whether it has ever had a terminal status that was not provisional. */
  readonly hasEnded: boolean;
}

/** The writes of a commit for a run. */
export interface AppliedRun {
  /** New versions of spans, in order of arrival. */
  readonly spans: readonly SpanState[];
  readonly writesHeader: boolean;
  /** Whether the run ends with this commit, or fails for the first time after its end. */
  readonly ends: boolean;
}

/** A run has few spans with parents in other processes. */
const MOST_JUDGED = 100;

/** A new or stored run, updated by one commit message by message and span by span. */
export class RunState {
  /** Spans changed by this commit, by the keys of their ids, in order of arrival. */
  readonly #changed = new Map<string, SpanState>();
  #spans: RunSpans = new FollowedSpans();
  readonly #maxSpans: number;
  /** Time of the run's last new data. */
  lastSeenAt: Micros;
  #isStored: boolean;
  #isMapped: boolean;
  #hasEnded: boolean;
  /** Whether it had failed before this commit. */
  #hadFailed: boolean;
  #named: NamedHeader;
  #headerChanged: boolean;
  /** Whether this commit has new data, so that the derived values must be recomputed. */
  #hasChanges: boolean;
  #timesOut = false;
  /** Arrival time of this commit's last change. */
  #changedAt: Micros = -Infinity;

  /** @param maxSpans a run with more is truncated */
  constructor(named: NamedHeader, known: KnownRun, maxSpans: number) {
    this.#named = named;
    this.#maxSpans = maxSpans;
    this.lastSeenAt = known.lastSeenAt;
    this.#isStored = known.isStored;
    this.#isMapped = known.isMapped;
    this.#hasEnded = known.hasEnded;
    this.#hadFailed = known.isStored && this.#hasFailed();
    this.#headerChanged = !known.isStored;
    this.#hasChanges = !known.isStored;
  }

  get spans(): RunSpans {
    return this.#spans;
  }

  /** The current state of a span in this commit. @param key key of its id */
  find(key: string): SpanState | undefined {
    return this.#changed.get(key) ?? this.#spans.get(key);
  }

  /** Its spans if the run is truncated, else null. */
  get truncated(): TruncatedSpans | null {
    return this.#spans instanceof TruncatedSpans ? this.#spans : null;
  }

  /** Sets the stored spans. */
  set spans(spans: RunSpans) {
    this.#spans = spans;
  }

  /** Truncates the run: its header no longer follows its spans. Subtract its contribution to the service map before. */
  truncate(): void {
    if (this.truncated !== null || this.#spans.size === 0) return;
    this.#spans = TruncatedSpans.of(this.#spans);
    this.#isMapped = false;
    this.#headerChanged = true;
  }

  /** Whether it counts in the service map. */
  get isMapped(): boolean {
    return this.#isMapped;
  }

  /** Whether it has ever had a terminal status that was not provisional. */
  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get header(): HeaderRow {
    return this.#named.header;
  }

  /** The name of the run's agent. */
  get agent(): string {
    return this.#named.agent;
  }

  /** Replaces a name that exceeds the user's limit. */
  set agent(name: string) {
    if (name !== this.#named.agent) this.#named = { ...this.#named, agent: name };
  }

  /** Whether the run certainly belongs to the agent: {@link namesItsAgent}. */
  get namesItsAgent(): boolean {
    return namesItsAgent(this.header, this.spans);
  }

  /** Last activity: the latest time of the header or, while running, of any span, capped at the time of the last new data. */
  get activeAt(): Micros {
    const { status, started_at, ended_at } = this.header;
    let last = Math.max(started_at, ended_at ?? -Infinity);
    if (status === RUNNING) last = Math.max(last, this.#spans.lastTime());
    return Math.min(last, this.lastSeenAt);
  }

  /**
   * Applies another header of this run: {@link withHeader}.
   *
   * @param spans spans sent with it that have not been applied yet
   */
  applyHeader(incoming: NamedHeader, spans: readonly SpanFacts[], receivedAt: Micros): void {
    this.seen(receivedAt);
    const before = this.#named;
    this.#named = withHeader(before, incoming, () => this.spans.isLedBy(spans));
    if (this.#named === before) return;
    this.#headerChanged = true;
    this.#hasChanges = true;
  }

  /** Records new data without a header. */
  seen(receivedAt: Micros): void {
    this.#changedAt = Math.max(this.#changedAt, receivedAt);
  }

  /** Makes the run count in the service map. */
  setMapped(): void {
    if (this.#isMapped || this.truncated !== null) return;
    this.#isMapped = true;
    this.#headerChanged = true;
  }

  /**
   * Applies an incoming span. If it completes a stored span, that one must be read as a whole before.
   *
   * @param nodes return the number of its node when needed
   * @returns whether it has new data
   */
  applySpan(
    incoming: SpanRow,
    payload: Payload,
    nodes: {
      /** The node of the span as it came. */
      incoming(): number;
      /** The node of the completed span. */
      completed(merged: SpanRow, payload: Payload): number;
    },
  ): boolean {
    const known = this.find(keyOf(incoming.span_id));
    if (known === undefined) {
      this.#put(incoming, payload, nodes.incoming(), { seq: 0, line: 0 });
      return true;
    }
    if (completesSpan(known, incoming)) {
      const completed = completedSpan(known.row ?? incoming, incoming);
      const merged = completedPayload(known.payload ?? NO_PAYLOAD, payload);
      const isSame =
        !this.#isMapped || (merged === known.payload && completed.map_hint === known.row?.map_hint);
      this.#put(completed, merged, isSame ? known.node : nodes.completed(completed, merged), known);
      return true;
    }
    return false;
  }

  /** Adds a new span, whose row is written from the sender's columns. */
  addSpan(span: SpanState): void {
    this.#keep(span);
    this.#hasChanges = true;
  }

  /** Spans with outdated stored counts. The engine reads the complete spans and calls {@link rewriteCounts}. */
  countsRewrites(): readonly CountsRewrite[] {
    return this.#spans.countsRewrites();
  }

  rewriteCounts({ span_id, counts }: CountsRewrite): void {
    const span = invariant(this.find(span_id), 'span with outdated counts');
    const row = span.row && { ...span.row, ...countsColumns(counts) };
    this.#keep({ ...span, ...counts, row, changed: true });
    this.#headerChanged = true;
  }

  setOutcome(success: boolean, outcome: string | undefined): void {
    this.#named = { ...this.#named, header: withOutcome(this.header, success, outcome) };
    this.#headerChanged = true;
  }

  /** Keys of the spans whose scores may decide about the run, at most {@link MOST_JUDGED}. */
  judgedSpans(): readonly string[] {
    const top = this.#spans.top();
    const found: string[] = [];
    for (const key of this.#spans.keys()) {
      if (found.length === MOST_JUDGED) break;
      if (weightOf(this.find(key), top) !== 'none') found.push(key);
    }
    return found;
  }

  /** Applies verdicts that came as scores, after the spans of the commit. */
  judge(verdicts: readonly SpanVerdict[]): void {
    const top = this.#spans.top();
    const header = judged(this.header, verdicts, (key) => weightOf(this.find(key), top));
    if (header === this.header) return;
    this.#named = { ...this.#named, header };
    this.#headerChanged = true;
  }

  /** Changes the node of a stored span, which must be read as a whole before. */
  setNode(span: SpanState, node: number): void {
    this.#keep({ ...span, node, changed: true });
    this.#headerChanged = true;
  }

  /** Ends an idle run: see {@link timedOut}. Data in the same commit takes precedence. */
  timeOut(): void {
    this.#timesOut = followsSpans(this.header) && this.header.status === RUNNING;
  }

  /**
   * Finishes this commit's changes to the run and updates the derived values.
   *
   * @param seq the commit's number
   */
  finish(seq: number): AppliedRun {
    const changed = [...this.#changed.values()];
    if (this.truncated?.truncatedSeq === 0) this.truncated.truncatedSeq = seq;
    const hadEnded = this.#hasEnded;
    if (this.#hasChanges) {
      this.lastSeenAt = Math.max(this.lastSeenAt, this.#changedAt);
      this.#named = withDerivedValues(this.#named, this.spans);
      this.#hasEnded ||= this.#isTerminal();
    } else if (this.#timesOut) {
      this.#named = { ...this.#named, header: timedOut(this.header, this.spans) };
      this.#hasEnded ||= this.header.status !== TIMED_OUT;
      this.#headerChanged = true;
    }
    const writesHeader = this.#headerChanged || this.#hasChanges;
    const fails = this.#hasFailed() && !this.#hadFailed;
    if (writesHeader && (fails || this.#hadFailed)) this.#markFailed();
    return { spans: changed, writesHeader, ends: this.#hasEnded && (!hadEnded || fails) };
  }

  #hasFailed(): boolean {
    const { status, derived } = this.header;
    return this.#hasEnded && (status === FAILED || (derived & HAS_FAILED) !== 0);
  }

  #markFailed(): void {
    const { header } = this;
    this.#named = { ...this.#named, header: { ...header, derived: header.derived | HAS_FAILED } };
  }

  /** Call it after the commit: marks the written data as stored and releases data needed only for writing. */
  written(seq: number, spans: readonly SpanState[]): void {
    this.#isStored = true;
    this.#headerChanged = false;
    this.#hasChanges = false;
    this.#timesOut = false;
    this.#hadFailed = this.#hasFailed();
    spans.forEach((span, line) => {
      span.seq = seq;
      span.line = line;
      span.row = undefined;
      span.payload = undefined;
      span.changed = false;
    });
    this.truncated?.written(spans);
    this.release();
  }

  /** Releases data that only the current commit needs. */
  release(): void {
    this.#changed.clear();
    this.truncated?.release();
  }

  /** Whether the status after this commit is terminal and not a provisional time-out. */
  #isTerminal(): boolean {
    if (this.header.status === RUNNING) return false;
    // Without spans, the status is unchanged.
    return !this.#isStored || this.spans.size > 0 || !followsSpans(this.header);
  }

  #keep(span: SpanState): void {
    this.#changed.set(span.span_id, span);
    if (this.#spans.size >= this.#maxSpans && !this.#spans.has(span.span_id)) this.truncate();
    this.#spans.put(span);
  }

  #put(
    row: SpanRow,
    payload: Payload,
    node: number,
    { seq, line }: { readonly seq: number; readonly line: number },
  ): void {
    this.addSpan({ ...factsOf(row, node), seq, line, row, payload, changed: true });
  }
}

/** The nodes and edges that a run adds to the service map, and their hour. Null if the run does not count there. */
export function mapContribution(
  { agent, header, isMapped, spans }: RunState,
  /** The number of an agent's node. */
  nodeOf: (agent: string) => number,
): { readonly hour: number; readonly sums: HourSums } | null {
  if (!isMapped || !(spans instanceof FollowedSpans)) return null;
  const sums = new HourSums();
  countTrace(nodeOf(agent), spans.all(), sums);
  return { hour: hourOf(header.started_at), sums };
}
