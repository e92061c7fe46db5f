import { fold, type Run } from '../../../runs/fold.js';
import { timesOutAt } from '../../../runs/rules/following-header.js';
import { RUNNING, type SpanRow } from '../../../runs/rules/rows.js';
import { keyOf, countsColumns, type CountsColumns, type SpanFacts } from '../../../runs/rules/span-facts.js';
import { HourSums } from '../../../signal/hour-sums.js';
import { countTrace, hourOf, TYPE_CODES } from '../../../signal/trace-map.js';
import { invariant } from '../../../signal/checked.js';
import type { Micros } from '../../../signal/time.js';
import { addedCalls, type AddedCalls } from './added-calls.js';
import { rowMadeOf, spansMadeOf, type MadeOf, type WholeSpan } from './effective-spans.js';
import type { NodeNumbers } from './node-names.js';
import { foldedMessages, hoursOfRun, type RunFacts } from './run-facts.js';

/** A node of the service map, and the run's contribution to it. */
export interface AddedNode {
  readonly name: string;
  readonly type: number;
  readonly grade: number;
  readonly spans: number;
  readonly traces: number;
}

export interface AddedEdge {
  readonly source: string;
  readonly target: string;
  readonly grade: number;
  readonly spans: number;
}

/** A run derived from its facts. */
export interface DerivedRun {
  readonly facts: RunFacts;
  readonly run: Run;
  /** The hour of its row. */
  readonly hour: number;
  /** Other hours that may contain an earlier row of it. */
  readonly otherHours: readonly number[];
  /** The last time in the run (while running, also in its spans), capped at its last update. */
  readonly activeAt: Micros;
  readonly timesOutAt: Micros | null;
  /** Prompt versions used by the run, ascending. */
  readonly prompts: readonly number[];
  readonly nodes: readonly AddedNode[];
  readonly edges: readonly AddedEdge[];
  readonly calls: readonly AddedCalls[];
  /** Spans to write as a whole, because their stored rows differ from the effective span. */
  readonly wholes: readonly WholeSpan[];
  /** Whether a message of a span differs from the effective span in a searchable column. */
  readonly isContradicted: boolean;
}

/**
 * Derives a run from all its stored facts. Deterministic and idempotent.
 *
 * @returns null without a header
 */
export function deriveRun(facts: RunFacts, nodes: NodeNumbers): DerivedRun | null {
  const run = fold(foldedMessages(facts.messages), facts.spans);
  if (run === null) return null;
  const made = spansMadeOf(facts.spans);
  const spans = wholeSpans(made, run.spans);
  const hour = hourOf(run.header.started_at);
  const hours = new Set(hoursOfRun(facts));
  hours.delete(hour);
  const { nodes: addedNodes, edges } = mapOf(run, nodes);
  return {
    facts,
    run,
    hour,
    otherHours: [...hours],
    activeAt: activeAt(run),
    timesOutAt: timesOutAt(run.header, run.lastSeenAt),
    prompts: promptsOf(facts, made),
    nodes: addedNodes,
    edges,
    calls: addedCalls(spans.values()),
    wholes: wholesOf(facts, spans),
    isContradicted: facts.spans.some((fact) => {
      const of = invariant(made.get(fact.row.span_id), 'what a span is made of');
      const row = rowMadeOf(of);
      return (
        fact.node !== of.begun.node ||
        fact.row.name !== row.name ||
        fact.row.type !== row.type ||
        (fact.row.model !== null && fact.row.model !== row.model)
      );
    }),
  };
}

function activeAt({ header, spans, lastSeenAt: lastSeenAt }: Run): Micros {
  let last = Math.max(header.started_at, header.ended_at ?? header.started_at);
  if (header.status === RUNNING)
    for (const { started_at, ended_at } of spans) last = Math.max(last, started_at, ended_at ?? started_at);
  return Math.min(last, lastSeenAt);
}

function promptsOf({ messages }: RunFacts, made: ReadonlyMap<string, MadeOf>): number[] {
  const prompts = new Set<number>();
  for (const message of messages) if (message.kind === 'link') prompts.add(message.prompt);
  for (const { begun, completed } of made.values())
    for (const one of [begun.prompt, completed?.prompt ?? null]) if (one !== null) prompts.add(one);
  return [...prompts].sort((a, b) => a - b);
}

function mapOf(run: Run, numbers: NodeNumbers): Pick<DerivedRun, 'nodes' | 'edges'> {
  if (!run.isMapped) return { nodes: [], edges: [] };
  const sums = new HourSums();
  countTrace(numbers.named(run.agent), run.spans, sums);
  return {
    nodes: sums.nodes().map(({ node_no, type, grade, spans, traces }) => ({
      name: numbers.nameOf(node_no),
      type,
      grade: invariant(grade, 'grade of a span'),
      spans,
      traces,
    })),
    edges: sums.edges().map(({ source_no, target_no, grade, spans }) => ({
      source: numbers.nameOf(source_no),
      target: numbers.nameOf(target_no),
      grade: invariant(grade, 'grade of a span'),
      spans,
    })),
  };
}

/** All spans of a run with their counted parts, by id. @param spans the spans of {@link Run} */
export function wholeSpans(
  made: ReadonlyMap<string, MadeOf<SpanRow>>,
  spans: readonly SpanFacts[],
): ReadonlyMap<string, WholeSpan> {
  const counts = new Map(spans.map((span) => [span.span_id, countsColumns(span)]));
  return new Map(
    [...made].map(([spanId, of]) => [
      spanId,
      { made: of, counts: invariant(counts.get(keyOf(spanId)), 'what counts of a span') },
    ]),
  );
}

/** Spans whose stored rows differ from the effective span. */
function wholesOf({ wholes }: RunFacts, spans: ReadonlyMap<string, WholeSpan>): WholeSpan[] {
  return [...spans].flatMap(([spanId, whole]) => {
    const { made: of, counts } = whole;
    const stored = wholes.get(spanId);
    // Models count spans other than model calls by the effective span, because a repeated message may report more.
    const isCounted = of.begun.row.type !== TYPE_CODES.llm && hasAmount(counts);
    if (stored === undefined && isCounted) return [whole];
    const shown =
      stored === undefined ? { begunBy: of.begun.order, completedBy: 0, ...countsOf(of.begun.row) } : stored;
    const isShown =
      shown.begunBy === of.begun.order &&
      shown.completedBy === (of.completed?.order ?? 0) &&
      hasSameColumns(shown, counts);
    return isShown ? [] : [whole];
  });
}

function countsOf({ same_as, counted, counted_tokens, counted_cost }: SpanRow): CountsColumns {
  return { same_as, counted, counted_tokens, counted_cost };
}

function hasAmount({ counted_tokens, counted_cost }: CountsColumns): boolean {
  return (counted_tokens ?? 0) > 0 || (counted_cost ?? 0) > 0;
}

function hasSameColumns(one: CountsColumns, other: CountsColumns): boolean {
  return (
    one.same_as === other.same_as &&
    one.counted === other.counted &&
    one.counted_tokens === other.counted_tokens &&
    one.counted_cost === other.counted_cost
  );
}
