import { NO_NODE } from '../signal/service-map.js';
import type { Micros } from '../signal/time.js';
import { completedSpan, completesSpan, withOutcome } from './rules/completion.js';
import {
  followsSpans,
  namesItsAgent,
  withDerivedValues,
  timedOut,
  timesOutAt,
  withHeader,
  type NamedHeader,
} from './rules/following-header.js';
import { isLedBy, topmost } from './rules/header-of-spans.js';
import { judged, weightOf, type SpanVerdict } from './rules/verdicts.js';
import { RUNNING, TIMED_OUT, type HeaderRow } from './rules/rows.js';
import { factsOfSpans, type RunFacts } from './rules/run-facts.js';
import { factsOf, type SpanFacts } from './rules/span-facts.js';
import { countedOnce, hasSameCounts, USUAL_COUNTS } from './rules/usage.js';
import type { HeaderMessage, RunMessage, SpanFact } from './run-messages.js';

/** A run derived from its messages and spans. */
export interface Run {
  readonly header: HeaderRow;
  readonly agent: string;
  /** Whether the run certainly belongs to the agent: {@link namesItsAgent}. */
  readonly namesItsAgent: boolean;
  /** `countTrace` derives the run's contribution to the service map from them. */
  readonly spans: readonly SpanFacts[];
  /** Whether it counts in the service map. */
  readonly isMapped: boolean;
  /** Prompt versions used by the run, ascending. */
  readonly prompts: readonly number[];
  /** Time of the last new data. */
  readonly lastSeenAt: Micros;
  /** Whether its status is terminal and not a provisional time-out, or it has ever ended without a root. */
  readonly hasEnded: boolean;
}

/**
 * Derives a run from all its facts. Deterministic, independent of their order, and idempotent. `RunState` computes the same header, agent,
 * spans and prompts incrementally, with these differences:
 *
 * - `lastSeenAt` is the time of the last message with new data; in `RunState` it may be that of another message in the same commit.
 * - `hasEnded` is the current state, unless the run ended without a root; in `RunState` it stays true.
 * - The number of spans has no limit here.
 * - The header has no bit `HAS_FAILED`.
 *
 * @param spans each with the number of its header
 * @returns null without a header
 */
export function fold(messages: readonly RunMessage[], spans: readonly SpanFact[]): Run | null {
  const spansOf = new Map<number, SpanFact[]>();
  for (const span of spans) {
    const known = spansOf.get(span.order);
    if (known === undefined) spansOf.set(span.order, [span]);
    else known.push(span);
  }
  const folded = new Folded();
  let last = -Infinity;
  for (const message of messages.toSorted((a, b) => a.order - b.order)) {
    // A duplicate of the same message.
    if (message.order === last) continue;
    last = message.order;
    if (message.kind === 'header') folded.header(message, spansOf.get(message.order) ?? []);
    else if (message.kind === 'link') folded.prompts.add(message.promptNo);
    else if (message.kind === 'timeout') folded.timeOut(message.at);
    else if (message.kind === 'verdict') folded.verdicts.push(message);
    else folded.setOutcome(message.success, message.outcome);
    folded.judge();
  }
  return folded.run();
}

interface KnownSpan {
  readonly row: SpanFact['row'];
  readonly facts: SpanFacts;
}

class Folded {
  readonly prompts = new Set<number>();
  readonly verdicts: SpanVerdict[] = [];
  #named: NamedHeader | null = null;
  /** By the keys of their ids. */
  readonly #spans = new Map<string, KnownSpan>();
  #lastSeenAt: Micros = -Infinity;
  #isMapped = false;
  #isTimedOut = false;
  #endedWithoutRoot = false;
  /** Whether there is new data that the derived values do not include yet. */
  #hasChanges = false;

  header({ named, receivedAt, isMapped }: HeaderMessage, spans: readonly SpanFact[]): void {
    const incoming = spans.map(({ row, node }) => ({ row, facts: factsOf(row, node) }));
    const before = this.#named;
    const leads = (): boolean => isLedBy(this.#facts(), factsIn(incoming));
    this.#named = before === null ? named : withHeader(before, named, leads);
    let isNews = this.#named !== before;
    for (const span of incoming) if (this.#addSpan(span)) isNews = true;
    this.#isMapped ||= isMapped;
    if (!isNews) return;
    this.#hasChanges = true;
    this.#lastSeenAt = Math.max(this.#lastSeenAt, receivedAt);
  }

  timeOut(at: Micros): void {
    const named = this.#derived();
    const dueAt = named && timesOutAt(named.header, this.#lastSeenAt);
    // Spans may have arrived since the run was found.
    if (named === null || dueAt === null || dueAt > at) return;
    const header = timedOut(named.header, this.#runFacts());
    this.#named = { ...named, header };
    this.#isTimedOut = header.status === TIMED_OUT;
    this.#endedWithoutRoot ||= !this.#isTimedOut;
  }

  setOutcome(success: boolean, outcome: string | null): void {
    const named = this.#named;
    if (named !== null)
      this.#named = { ...named, header: withOutcome(named.header, success, outcome ?? undefined) };
  }

  judge(): void {
    const named = this.#named;
    if (named === null || this.verdicts.length === 0) return;
    const facts = this.#facts();
    const top = topmost(facts);
    const weightOfSpan = (key: string) =>
      weightOf(
        facts.find(({ span_id }) => span_id === key),
        top,
      );
    this.#named = { ...named, header: judged(named.header, this.verdicts, weightOfSpan) };
  }

  run(): Run | null {
    const named = this.#derived();
    if (named === null) return null;
    const facts = this.#facts();
    const { counts } = countedOnce(facts);
    const spans = facts.map((span) => {
      const its = counts.get(span.span_id) ?? USUAL_COUNTS;
      // Nearly all spans have these values already.
      return hasSameCounts(span, its) ? span : { ...span, ...its };
    });
    return {
      ...named,
      namesItsAgent: namesItsAgent(named.header, this.#runFacts()),
      spans,
      isMapped: this.#isMapped,
      prompts: [...this.prompts].sort((a, b) => a - b),
      lastSeenAt: this.#lastSeenAt,
      hasEnded: this.#endedWithoutRoot || (named.header.status !== RUNNING && !this.#isTimedOut),
    };
  }

  /** @returns whether the span is new or completes a known one */
  #addSpan(incoming: KnownSpan): boolean {
    const key = incoming.facts.span_id;
    const known = this.#spans.get(key);
    if (known === undefined) {
      this.#spans.set(key, incoming);
      return true;
    }
    if (!completesSpan(known.facts, incoming.row)) return false;
    const row = completedSpan(known.row, incoming.row);
    // The node is filled like any other value: the first one is kept.
    const node = known.facts.node === NO_NODE ? incoming.facts.node : known.facts.node;
    this.#spans.set(key, { row, facts: factsOf(row, node) });
    return true;
  }

  #derived(): NamedHeader | null {
    if (this.#named === null || !this.#hasChanges) return this.#named;
    this.#hasChanges = false;
    this.#named = withDerivedValues(this.#named, this.#runFacts());
    // Without spans, nothing can reopen the run.
    if (this.#spans.size > 0 || !followsSpans(this.#named.header)) this.#isTimedOut = false;
    return this.#named;
  }

  #runFacts(): RunFacts {
    return factsOfSpans(this.#facts());
  }

  #facts(): SpanFacts[] {
    return factsIn([...this.#spans.values()]);
  }
}

function factsIn(spans: readonly KnownSpan[]): SpanFacts[] {
  return spans.map(({ facts }) => facts);
}
