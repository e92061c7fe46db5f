import { invariant } from '../signal/checked.js';
import type { Micros } from '../signal/time.js';
import {
  followsSpans,
  namesItsAgent,
  settledBySpans,
  timedOut,
  withHeader,
  type NamedHeader,
} from './rules/following-header.js';
import { TruncatedSpans } from './spans/truncated-spans.js';
import { FewSpans } from './spans/few-spans.js';
import { ManySpans } from './spans/many-spans.js';
import type { SpanLimits } from './spans/span-limits.js';
import type { DuplicateRewrite, RunSpans } from './spans/run-spans.js';
import type { SpanState } from './spans/span-state.js';
import { completedSpan, completesSpan, withOutcome } from './rules/completion.js';
import { completedPayload, NO_PAYLOAD, type Payload } from './rules/payload.js';
import { RUNNING, type HeaderRow, type SpanRow } from './rules/rows.js';
import { factsOf, keyOf, toldRow, type SpanFacts } from './rules/span-facts.js';

/** What is known of a run before a commit. */
export interface KnownRun {
  /** When something new of it last came. */
  readonly heardAt: Micros;
  readonly isStored: boolean;
  /** Whether it counts in the service map. */
  readonly isMapped: boolean;
  /** Whether it has ever had a terminal status that was not provisional. */
  readonly hasEnded: boolean;
}

/** What a commit writes for a run. */
export interface SettledRun {
  /** New versions, in the order in which they came. */
  readonly spans: readonly SpanState[];
  readonly writesHeader: boolean;
  /** Whether this is the commit in which the run has ended. */
  readonly ends: boolean;
}

/** A new or stored run, and what one commit makes of it, message by message and span by span. */
export class RunState {
  /** The spans that this commit changes, by the keys of their ids, in the order in which it met them. */
  readonly #changed = new Map<string, SpanState>();
  #spans: RunSpans = new FewSpans();
  readonly #limits: SpanLimits;
  /** When something new of the run last came. */
  heardAt: Micros;
  #isStored: boolean;
  #isMapped: boolean;
  #hasEnded: boolean;
  #named: NamedHeader;
  #headerChanged: boolean;
  /** Whether this commit brings something new, so that what follows from the spans has to be worked out again. */
  #hasNews: boolean;
  #timesOut = false;
  /** When the last change of this commit came. */
  #newsAt: Micros = -Infinity;

  constructor(named: NamedHeader, known: KnownRun, limits: SpanLimits) {
    this.#named = named;
    this.#limits = limits;
    this.heardAt = known.heardAt;
    this.#isStored = known.isStored;
    this.#isMapped = known.isMapped;
    this.#hasEnded = known.hasEnded;
    this.#headerChanged = !known.isStored;
    this.#hasNews = !known.isStored;
  }

  get spans(): RunSpans {
    return this.#spans;
  }

  /** A span as this commit has left it so far. @param key of its id */
  find(key: string): SpanState | undefined {
    return this.#changed.get(key) ?? this.#spans.get(key);
  }

  /** Its spans, where it has more than its header follows. */
  get truncated(): TruncatedSpans | null {
    return this.#spans instanceof TruncatedSpans ? this.#spans : null;
  }

  /** Sets the stored spans. */
  set spans(spans: RunSpans) {
    this.#spans = spans;
  }

  /** From here on its header no longer follows its spans. What it contributed to the service map has to be noted before. */
  close(): void {
    if (this.truncated !== null || this.#spans.size === 0) return;
    this.#spans = TruncatedSpans.closing(this.#spans);
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

  /** Used for a name that the run's user has no room for. */
  set agent(name: string) {
    if (name !== this.#named.agent) this.#named = { ...this.#named, agent: name };
  }

  /** Whether the run certainly belongs to the agent: {@link namesItsAgent}. */
  get namesItsAgent(): boolean {
    return namesItsAgent(this.header, this.spans);
  }

  /** When it was last active: the latest time of the header or, while it goes on, of any span, but not after it was heard of. */
  get activeAt(): Micros {
    const { status, started_at, ended_at } = this.header;
    let last = Math.max(started_at, ended_at ?? -Infinity);
    if (status === RUNNING) last = Math.max(last, this.#spans.lastTime());
    return Math.min(last, this.heardAt);
  }

  /**
   * Applies another header of this run: {@link withHeader}.
   *
   * @param spans that came with it, and have not been applied yet
   */
  applyHeader(incoming: NamedHeader, spans: readonly SpanFacts[], receivedAt: Micros): void {
    this.heard(receivedAt);
    const before = this.#named;
    this.#named = withHeader(before, incoming, () => this.spans.isLedBy(spans));
    if (this.#named === before) return;
    this.#headerChanged = true;
    this.#hasNews = true;
  }

  /** Notes that something of it came, whose header is not applied. */
  heard(receivedAt: Micros): void {
    this.#newsAt = Math.max(this.#newsAt, receivedAt);
  }

  /** From here on it counts in the service map. */
  setMapped(): void {
    if (this.#isMapped || this.truncated !== null) return;
    this.#isMapped = true;
    this.#headerChanged = true;
  }

  /**
   * Applies a span that came. A stored span that it completes has to be read as a whole before.
   *
   * @param nodes give the number of its node, where that is needed
   * @returns whether it brought anything new
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
    this.#hasNews = true;
  }

  /** Spans of which something else counts now than they say. The engine reads the stored ones as a whole and calls {@link rewriteDuplicate}. */
  duplicateRewrites(): readonly DuplicateRewrite[] {
    return this.#spans.duplicateRewrites();
  }

  /** A span of which something else counts from now on. */
  rewriteDuplicate({ span_id, told }: DuplicateRewrite): void {
    const span = invariant(this.find(span_id), 'span that is told of');
    const row = span.row && { ...span.row, ...toldRow(told) };
    this.#keep({ ...span, ...told, row, changed: true });
    this.#headerChanged = true;
  }

  setOutcome(success: boolean, outcome: string | undefined): void {
    this.#named = { ...this.#named, header: withOutcome(this.header, success, outcome) };
    this.#headerChanged = true;
  }

  /** Gives a stored span another node. It has to be read as a whole before. */
  setNode(span: SpanState, node: number): void {
    this.#keep({ ...span, node, changed: true });
    this.#headerChanged = true;
  }

  /** Nothing came of the run for too long. Whatever comes in the same commit has precedence. */
  timeOut(): void {
    this.#timesOut = followsSpans(this.header) && this.header.status === RUNNING;
  }

  /**
   * Finishes what this commit does to the run: works out what follows from the spans.
   *
   * @param seq the commit's number
   */
  settle(seq: number): SettledRun {
    const changed = [...this.#changed.values()];
    if (this.truncated?.truncatedSeq === 0) this.truncated.truncatedSeq = seq;
    const hadEnded = this.#hasEnded;
    if (this.#hasNews) {
      this.heardAt = Math.max(this.heardAt, this.#newsAt);
      this.#named = settledBySpans(this.#named, this.spans);
      this.#hasEnded ||= this.#isTerminal();
    } else if (this.#timesOut) {
      this.#named = { ...this.#named, header: timedOut(this.header, this.spans) };
      this.#headerChanged = true;
    }
    return {
      spans: changed,
      writesHeader: this.#headerChanged || this.#hasNews,
      ends: this.#hasEnded && !hadEnded,
    };
  }

  /** After the commit: what was written is now what is stored. Data that was only needed for writing is released. */
  written(seq: number, spans: readonly SpanState[]): void {
    this.#isStored = true;
    this.#headerChanged = false;
    this.#hasNews = false;
    this.#timesOut = false;
    spans.forEach((span, line) => {
      span.seq = seq;
      span.line = line;
      span.row = undefined;
      span.payload = undefined;
      span.changed = false;
      this.spans.written(span);
    });
    this.release();
  }

  /** Releases what only the commit under way needs. */
  release(): void {
    this.#changed.clear();
    this.spans.release();
  }

  /** Whether the status, after this commit's news, is terminal and not the provisional one of a time-out. */
  #isTerminal(): boolean {
    if (this.header.status === RUNNING) return false;
    // Without a span to follow, the status is still the previous one.
    return !this.#isStored || this.spans.size > 0 || !followsSpans(this.header);
  }

  #keep(span: SpanState): void {
    this.#changed.set(span.span_id, span);
    if (this.#spans.size >= this.#limits.followed && !this.#spans.has(span.span_id)) this.close();
    this.#spans.put(span);
    if (this.#spans instanceof FewSpans && this.#spans.size > this.#limits.few)
      this.#spans = ManySpans.of(this.#spans.all());
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
