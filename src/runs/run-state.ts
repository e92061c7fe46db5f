import type { Micros } from '../signal/time.js';
import {
  followsSpans,
  namesItsAgent,
  settledBySpans,
  timedOut,
  withHeader,
  type NamedHeader,
} from './rules/following-header.js';
import { ClosedSpans } from './spans/closed-spans.js';
import { FewSpans } from './spans/few-spans.js';
import { ManySpans } from './spans/many-spans.js';
import type { SpanLimits } from './spans/span-limits.js';
import type { RunSpans } from './spans/run-spans.js';
import type { SpanState } from './spans/span-state.js';
import { completedPayload, completedSpan, completesSpan, withOutcome } from './rules/completion.js';
import { RUNNING, type HeaderRow, type SpanRow } from './rules/rows.js';
import { factsOf, keyOf, type SpanFacts } from './rules/span-facts.js';

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

/** What a commit writes of a run. */
export interface SettledRun {
  /** New versions, in the order in which they came. */
  readonly spans: readonly SpanState[];
  readonly writesHeader: boolean;
  /** Whether this is the commit in which the run has ended. */
  readonly ends: boolean;
}

/** A run that is new, or stored, and what one commit makes of it, message by message and span by span. */
export class RunState {
  /** Those that this commit changes, by the keys of their ids, in the order in which it met them. */
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
  /** Whether this commit brings something new of the run, so that what follows from the spans is worked out again. */
  #hasNews: boolean;
  #timesOut = false;
  /** When the last of this commit's changes came. */
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
  get closed(): ClosedSpans | null {
    return this.#spans instanceof ClosedSpans ? this.#spans : null;
  }

  /** What is stored of its spans. */
  set spans(spans: RunSpans) {
    this.#spans = spans;
  }

  /** From here on its header follows its spans no more. What it added to the service map was taken note of before. */
  close(): void {
    if (this.closed !== null || this.#spans.size === 0) return;
    this.#spans = ClosedSpans.closing(this.#spans);
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

  /** For a name that the run's user has no room for. */
  set agent(name: string) {
    if (name !== this.#named.agent) this.#named = { ...this.#named, agent: name };
  }

  /** Whether the agent is the run's for certain: {@link namesItsAgent}. */
  get namesItsAgent(): boolean {
    return namesItsAgent(this.header, this.spans);
  }

  /** When it was active last: the latest time that header or, while it goes on, any span has, but not after it was heard of. */
  get activeAt(): Micros {
    const { status, started_at, ended_at } = this.header;
    let last = Math.max(started_at, ended_at ?? -Infinity);
    if (status === RUNNING) last = Math.max(last, this.#spans.lastTime());
    return Math.min(last, this.heardAt);
  }

  /**
   * Another header of this run came: {@link withHeader}.
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

  /** Something came of it, of which the header is not applied. */
  heard(receivedAt: Micros): void {
    this.#newsAt = Math.max(this.#newsAt, receivedAt);
  }

  /** From here on it counts in the service map. */
  setMapped(): void {
    if (this.#isMapped || this.closed !== null) return;
    this.#isMapped = true;
    this.#headerChanged = true;
  }

  /**
   * A span came. One that it completes was read as a whole before.
   *
   * @param nodes the number of its node, asked for where it is needed
   * @returns whether it brought anything new
   */
  applySpan(
    incoming: SpanRow,
    payload: string,
    nodes: {
      /** As it came. */
      incoming(): number;
      /** Of what it completed. */
      completed(merged: SpanRow, payload: string): number;
    },
  ): boolean {
    const known = this.find(keyOf(incoming.span_id));
    if (known === undefined) {
      this.#put(incoming, payload, nodes.incoming(), { seq: 0, line: 0 });
      return true;
    }
    if (completesSpan(known, incoming)) {
      const completed = completedSpan(known.row ?? incoming, incoming);
      const merged = completedPayload(known.payload ?? '', payload);
      const isSame = !this.#isMapped || merged === known.payload;
      this.#put(completed, merged, isSame ? known.node : nodes.completed(completed, merged), known);
      return true;
    }
    return false;
  }

  /** A span came that is new, and whose row is written from the sender's columns. */
  addSpan(span: SpanState): void {
    this.#keep(span);
    this.#hasNews = true;
  }

  setOutcome(success: boolean, outcome: string | undefined): void {
    this.#named = { ...this.#named, header: withOutcome(this.header, success, outcome) };
    this.#headerChanged = true;
  }

  /** A stored span makes another node. It was read as a whole before. */
  setNode(span: SpanState, node: number): void {
    this.#keep({ ...span, node, changed: true });
    this.#headerChanged = true;
  }

  /** Nothing came of the run for too long. Whatever comes in the same commit counts for more. */
  timeOut(): void {
    this.#timesOut = followsSpans(this.header) && this.header.status === RUNNING;
  }

  /**
   * Ends what this commit does to the run: what follows from the spans is worked out.
   *
   * @param seq the commit's number
   */
  settle(seq: number): SettledRun {
    const changed = [...this.#changed.values()];
    if (this.closed?.closedSeq === 0) this.closed.closedSeq = seq;
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

  /** After the commit: what was written is what is stored now. What is only written, and not worked with, is let go. */
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

  /** Lets go of what only the commit under way needs. */
  release(): void {
    this.#changed.clear();
    this.spans.release();
  }

  /** Whether the status, with this commit's news, is terminal and not the provisional one of a time-out. */
  #isTerminal(): boolean {
    if (this.header.status === RUNNING) return false;
    // Where there is no span to follow the status is still that of before.
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
    payload: string,
    node: number,
    { seq, line }: { readonly seq: number; readonly line: number },
  ): void {
    this.addSpan({ ...factsOf(row, node), seq, line, row, payload, changed: true });
  }
}
