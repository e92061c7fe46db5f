import type { NanoUsd } from '../../signal/money.js';
import { itemAt } from '../../signal/checked.js';
import { TYPE_CODES } from '../../signal/trace-map.js';
import { ExactSum } from '../../signal/exact-sum.js';
import {
  COUNTS,
  haveSeveralReporters,
  withoutLogged,
  duplicateCalls,
  WHOLE,
  type CallPlaces,
  type CallReport,
  type CallSpan,
} from './duplicate-calls.js';

/**
 * The rule that adds up usage, for tokens and cost apart. A model call counts the larger of what it reports and what its parts report
 * (spans below it without a tool or agent in between), plus what is below its tools and agents. Any other span counts the larger of
 * what it reports and the sum of what is below it. Spans whose parents form a cycle have no parent here. Duplicate calls count once:
 * `duplicate-calls.ts`.
 *
 * The total is the sum of an amount per span: what the span reports beyond the spans that count in its place. So sums by model, agent
 * or time agree with sums of runs. A model call and its parts are one call; the innermost span with tokens counts as the call.
 */

/** The fields of a span that its trace's usage depends on. */
export interface UsageNode extends CallSpan {
  /** A position in `SPAN_TYPES`. */
  readonly type: number;
}

/** What a span adds to the usage of its run, in the form that stores keep. */
export interface SpanCounts {
  /** The span on which its call is counted, if it is a duplicate. */
  readonly same_as: string | null;
  /** Bits of {@link COUNTS}. Only used for model calls. */
  readonly counted: number;
  /** How many of its tokens count. Null: all tokens of a model call that {@link counted} includes; otherwise none. */
  readonly counted_tokens: number | null;
  /** How much of its cost counts. Null: as for the tokens. */
  readonly counted_cost: NanoUsd | null;
}

/** A model call that counts with everything it reports, or another span that adds nothing to the spans below it. */
export const USUAL_COUNTS: SpanCounts = {
  same_as: null,
  counted: WHOLE,
  counted_tokens: null,
  counted_cost: null,
};

/** The counts of a duplicate call. */
export const NOTHING_COUNTED = { counted: 0, counted_tokens: null, counted_cost: null } as const;

export function hasSameCounts(one: SpanCounts, other: SpanCounts): boolean {
  return (
    one.same_as === other.same_as &&
    one.counted === other.counted &&
    one.counted_tokens === other.counted_tokens &&
    one.counted_cost === other.counted_cost
  );
}

/** The largest sum that is kept, the last integer that a double holds exactly: this many tokens, or 9 007 199.254740991 USD. */
export const MOST_USAGE = Number.MAX_SAFE_INTEGER;

export interface Usage {
  /** Null when no span reports any. */
  readonly total_tokens: number | null;
  readonly total_cost_usd: NanoUsd | null;
}

/** The amounts of a span that count toward its run; null if it reports none. */
export function countedUsage(
  span: Pick<UsageNode, 'type' | 'total_tokens' | 'cost_usd'> & SpanCounts,
): Usage {
  const { total_tokens: tokens, cost_usd: cost, counted_tokens, counted_cost } = span;
  const counted = span.type === LLM ? span.counted : 0;
  return {
    total_tokens: tokens && (counted_tokens ?? usualAmount(tokens, counted & COUNTS.call)),
    total_cost_usd: cost && (counted_cost ?? usualAmount(cost, counted & COUNTS.cost)),
  };
}

function usualAmount(reported: number, bit: number): number {
  return bit === 0 ? 0 : reported;
}

/**
 * The counted part of a span's input or output tokens: the same share as of all its tokens, rounded down. The engines have it in SQL,
 * too.
 */
export function shareOf(part: number | null, counted: number | null, all: number | null): number {
  if (part === null || counted === null || all === null) return 0;
  return counted === all ? part : Number((BigInt(part) * BigInt(counted)) / BigInt(Math.max(all, 1)));
}

/** A trace's usage from its spans. */
export function usageOf(spans: readonly UsageNode[]): Usage {
  return countedOnce(spans).usage;
}

const LLM = TYPE_CODES.llm;
const NO_REPORTS: ReadonlyMap<string, CallReport> = new Map();
const NO_COUNTS: ReadonlyMap<string, SpanCounts> = new Map();

/** A trace's usage, and the counts of the spans that differ from {@link USUAL_COUNTS}, by id. */
export function countedOnce(all: readonly UsageNode[]): {
  readonly usage: Usage;
  readonly counts: ReadonlyMap<string, SpanCounts>;
} {
  const { own: spans, logged } = withoutLogged(all);
  const tree = treeOf(spans);
  const { size } = tree;
  if (size === 0) return { usage: usageFrom(null, null), counts: NO_COUNTS };
  const reports = haveSeveralReporters(keysOf(tree.spans))
    ? duplicateCalls(tree.spans, placesIn(tree))
    : NO_REPORTS;
  const said = { tokens: new Float64Array(size).fill(NOTHING), cost: new Float64Array(size).fill(NOTHING) };
  const ranks = new Int8Array(size).fill(NONE);
  let hasTokens = false;
  let hasCost = false;
  for (let i = 0; i < size; i++) {
    const { span_id, type, total_tokens: tokens, cost_usd: cost } = itemAt(tree.spans, i);
    const report = reports.size === 0 ? undefined : reports.get(span_id);
    if (tokens !== null) {
      hasTokens = true;
      if (report?.tokens !== false) said.tokens[i] = tokens;
    }
    if (cost !== null) {
      hasCost = true;
      if (report?.cost !== false) said.cost[i] = cost;
    }
    if (type === LLM && report?.isCall !== false) ranks[i] = tokens !== null ? 2 : cost !== null ? 1 : 0;
  }
  const tokens = amountsIn(tree, said.tokens);
  const cost = amountsIn(tree, said.cost);
  const calls = callsIn(tree, ranks);
  const priced = innermostWith(tree, said.cost);
  const counts = new Map<string, SpanCounts>();
  for (let i = 0; i < size; i++) {
    const span = itemAt(tree.spans, i);
    const own = {
      tokens: numberAt(tokens, i),
      cost: numberAt(cost, i),
      isCall: calls[i] === 1,
      isPriced: priced[i] === 1,
    };
    const isLlm = span.type === LLM;
    const isUsual = isLlm
      ? own.isCall &&
        own.tokens === (span.total_tokens ?? 0) &&
        (own.isPriced || span.cost_usd === null) &&
        own.cost === (span.cost_usd ?? 0)
      : own.tokens === 0 && own.cost === 0;
    if (isUsual && reports.size === 0) continue;
    const its = countsOf(span, reports.get(span.span_id), own);
    if (!hasSameCounts(its, USUAL_COUNTS)) counts.set(span.span_id, its);
  }
  for (const [id, same_as] of logged) counts.set(id, { same_as, ...NOTHING_COUNTED });
  const usage = usageFrom(hasTokens ? sumOf(tokens) : null, hasCost ? sumOf(cost) : null);
  return { usage, counts };
}

function sumOf(amounts: Float64Array): number {
  const sum = new ExactSum();
  for (const amount of amounts) if (amount > 0) sum.add(amount);
  return Number(sum.value);
}

function* keysOf(spans: readonly UsageNode[]): Generator<string | null> {
  for (const { call_key } of spans) yield call_key;
}

function countsOf(
  { type, total_tokens, cost_usd }: UsageNode,
  report: CallReport | undefined,
  its: {
    readonly tokens: number;
    readonly cost: number;
    readonly isCall: boolean;
    readonly isPriced: boolean;
  },
): SpanCounts {
  const isPriced = cost_usd === null ? (report?.cost ?? its.isCall) : its.isPriced;
  const counted = type === LLM ? (its.isCall ? COUNTS.call : 0) | (isPriced ? COUNTS.cost : 0) : WHOLE;
  const bits = type === LLM ? counted : 0;
  return {
    same_as: report?.same_as ?? null,
    counted,
    counted_tokens: its.tokens === usualAmount(total_tokens ?? 0, bits & COUNTS.call) ? null : its.tokens,
    counted_cost: its.cost === usualAmount(cost_usd ?? 0, bits & COUNTS.cost) ? null : its.cost,
  };
}

/** Sums of both measures for a trace, capped at the maximum that stores keep. */
export function usageFrom(tokens: number | null, cost: NanoUsd | null): Usage {
  return {
    total_tokens: tokens === null ? null : Math.min(tokens, MOST_USAGE),
    total_cost_usd: cost === null ? null : Math.min(cost, MOST_USAGE),
  };
}

/** The tree of a trace's model calls and other spans that report usage. */
interface UsageTree {
  readonly size: number;
  /** Parents first. */
  readonly spans: readonly UsageNode[];
  /** The position of each span's nearest ancestor in the tree; -1 for none. */
  readonly above: Int32Array;
  /** The position of the nearest ancestor in the same model call; -1 if a tool or agent is in between. */
  readonly around: Int32Array;
}

const NONE = -1;
const UNKNOWN = -2;
const ON_PATH = -3;
/** Marks a measure that a span does not report. */
const NOTHING = -1;

function reportsUsage({ type, total_tokens, cost_usd }: UsageNode): boolean {
  return type === LLM || total_tokens !== null || cost_usd !== null;
}

/** Whether the span separates spans below it from a model call above it. */
function separates({ type }: UsageNode): boolean {
  return type === TYPE_CODES.tool || type === TYPE_CODES.agent;
}

function numberAt(numbers: Float64Array | Int32Array | Int8Array, i: number): number {
  return numbers[i] ?? NONE;
}

/** Visits every span at most once. */
function treeOf(spans: readonly UsageNode[]): UsageTree {
  const size = spans.reduce((count, span) => (reportsUsage(span) ? count + 1 : count), 0);
  const tree = {
    size,
    spans: new Array<UsageNode>(),
    above: new Int32Array(size).fill(NONE),
    around: new Int32Array(size).fill(NONE),
  };
  if (size === 0) return tree;
  const places = new Map<string, number>();
  for (let i = 0; i < spans.length; i++) places.set(itemAt(spans, i).span_id, i);
  // For the children of each span: the position of the nearest ancestor in the tree, and of the nearest one in the same model call.
  const above = new Int32Array(spans.length).fill(UNKNOWN);
  const around = new Int32Array(spans.length).fill(NONE);
  const path: number[] = [];
  for (let from = 0; from < spans.length; from++) {
    if (numberAt(above, from) !== UNKNOWN || !reportsUsage(itemAt(spans, from))) continue;
    let at = from;
    while (at >= 0 && above[at] === UNKNOWN) {
      above[at] = ON_PATH;
      path.push(at);
      const parent = itemAt(spans, at).parent_span_id;
      at = parent === null ? NONE : (places.get(parent) ?? NONE);
    }
    // The path met itself: the spans since then form a cycle.
    const ring = at >= 0 && above[at] === ON_PATH ? path.indexOf(at) : path.length;
    for (let step = path.length - 1; step >= 0; step--) {
      const i = itemAt(path, step);
      const parent = step >= ring ? NONE : step + 1 < path.length ? itemAt(path, step + 1) : at;
      const span = itemAt(spans, i);
      const isApart = separates(span);
      const [next, part] = parent < 0 ? [NONE, NONE] : [numberAt(above, parent), numberAt(around, parent)];
      if (reportsUsage(span)) {
        const place = tree.spans.length;
        tree.spans.push(span);
        tree.above[place] = next;
        tree.around[place] = isApart ? NONE : part;
        above[i] = around[i] = place;
      } else {
        above[i] = next;
        around[i] = isApart ? NONE : part;
      }
    }
    path.length = 0;
  }
  return tree;
}

function placesIn({ spans, above, around, size }: UsageTree): CallPlaces {
  const places = new Map(spans.map(({ span_id }, i) => [span_id, i]));
  return {
    covered: (measure) => {
      const ids = new Set<string>();
      for (let i = size - 1; i >= 0; i--) {
        const span = itemAt(spans, i);
        const over = spans[numberAt(above, i)];
        if (over !== undefined && (measure(span) !== null || ids.has(span.span_id))) ids.add(over.span_id);
      }
      return ids;
    },
    isPart: (inner, outer) => {
      const top = places.get(outer) ?? NONE;
      let i = places.get(inner) ?? NONE;
      while (i > top) i = numberAt(around, i);
      return i >= 0 && i === top;
    },
  };
}

/** How much of a measure counts on each span. */
function amountsIn({ size, spans, above, around }: UsageTree, said: Float64Array): Float64Array {
  const counted = new Float64Array(size);
  // Counted amounts below each span: within its model call, and below tools and agents.
  const parts = new Float64Array(size);
  const beyond = new Float64Array(size);
  for (let i = size - 1; i >= 0; i--) {
    const far = numberAt(beyond, i);
    const near = numberAt(parts, i);
    const covered = itemAt(spans, i).type === LLM ? near : near + far;
    const own = Math.max(0, numberAt(said, i) - covered);
    counted[i] = own;
    const next = numberAt(above, i);
    if (next < 0) continue;
    if (numberAt(around, i) < 0) beyond[next] = numberAt(beyond, next) + near + own + far;
    else {
      parts[next] = numberAt(parts, next) + near + own;
      beyond[next] = numberAt(beyond, next) + far;
    }
  }
  return counted;
}

/** Marks the innermost model calls that report a measure. */
function innermostWith({ size, spans, around }: UsageTree, said: Float64Array): Uint8Array {
  const found = new Uint8Array(size);
  const isBelow = new Uint8Array(size);
  for (let i = size - 1; i >= 0; i--) {
    const isOne = numberAt(said, i) !== NOTHING && itemAt(spans, i).type === LLM;
    if (isOne && isBelow[i] === 0) found[i] = 1;
    const next = numberAt(around, i);
    if (next >= 0 && (isOne || isBelow[i] === 1)) isBelow[next] = 1;
  }
  return found;
}

/**
 * Marks the spans that count as calls: the innermost ones that report tokens, else a cost, else anything.
 *
 * @param ranks how much each model call reports; -1 for other spans and for duplicates
 */
function callsIn({ size, around }: UsageTree, ranks: Int8Array): Uint8Array {
  const best = new Int8Array(size).fill(NONE);
  for (let i = size - 1; i >= 0; i--) {
    const next = numberAt(around, i);
    if (next >= 0) best[next] = Math.max(numberAt(best, next), numberAt(ranks, i), numberAt(best, i));
  }
  const found = new Uint8Array(size);
  const isWithin = new Uint8Array(size);
  for (let i = 0; i < size; i++) {
    const next = numberAt(around, i);
    if (next >= 0 && (found[next] === 1 || isWithin[next] === 1)) isWithin[i] = 1;
    else if (numberAt(ranks, i) > numberAt(best, i)) found[i] = 1;
  }
  return found;
}
