import { callKey, readCallKey, type CallKey } from '../../signal/call-key.js';
import { LOGGED_SCOPE } from '../../signal/logged-scope.js';
import type { NanoUsd } from '../../signal/money.js';
import type { Micros } from '../../signal/time.js';

/**
 * The rule that counts a call once if several instrumentations report it.
 *
 * Spans of one run report the same call if their instrumentation scopes differ, their times overlap, and either both have the same response
 * id, or one has none and both have the same place and model, and the same provider if both name one. The place is the nearest ancestor
 * that is not a call, so siblings share a place, and so do a call and the call below it. Two spans of one scope never report the same call,
 * nor do two with different response ids. Each span joins the first call that matches, in the order of starts, then ids; spans with a
 * response id come first.
 *
 * One span of a call counts ({@link CallReport}): among the most complete ones the one that began last, because it is nearest to the
 * model. Cost is decided separately: if that span has no cost, the cost of another counts. A report with a larger value counts instead,
 * so that a run never totals less than one of its spans. What a report around the counted one says is not dropped: `usage.ts` counts the
 * larger one there.
 */

/** The fields of a span that the rule uses. */
export interface CallSpan {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  /** In the format of `callKey`; null for a span that is not a call or has too few details. */
  readonly call_key: string | null;
  readonly started_at: Micros;
  readonly ended_at: Micros | null;
  readonly total_tokens: number | null;
  readonly cost_usd: NanoUsd | null;
}

/** Bits for the counted parts of a model call. Tokens count with the call. */
export const COUNTS = { call: 1, cost: 2 } as const;
/** Everything counts. */
export const WHOLE = COUNTS.call | COUNTS.cost;

/** The counted parts of a report if several spans report its call. */
export interface CallReport {
  /** The span on which the call is counted; null for that span. */
  readonly same_as: string | null;
  readonly isCall: boolean;
  readonly tokens: boolean;
  readonly cost: boolean;
}

/** Relations between the spans of a run: `UsageTree`. */
export interface CallPlaces {
  /** The ids of the spans above any span that reports a measure. */
  covered(measure: (span: CallSpan) => number | null): ReadonlySet<string>;
  /** Whether one model call is a part of another one: below it without a tool or agent in between. Both are ids. */
  isPart(inner: string, outer: string): boolean;
}

/** Whether a span reports a measure, and whether a descendant does too. */
const SAYS = { nothing: 0, covered: 1, first: 2 } as const;
type Says = (typeof SAYS)[keyof typeof SAYS];

/** A span that reports a call. */
interface Reporter extends CallKey {
  readonly id: string;
  readonly place: string;
  readonly start: Micros;
  /** After the start: {@link endOf}. */
  readonly end: Micros;
  readonly tokens: Says;
  readonly cost: Says;
  readonly said: { readonly tokens: number; readonly cost: number };
}

/** Maximum size of a group of overlapping reporters; in larger groups every span counts. Bounds the changes that one new span can cause. */
export const MAX_REPORTERS = 512;

/** The end of a call for this rule: at least a microsecond after its start, and exactly that while it is running. */
function endOf(span: { readonly started_at: Micros; readonly ended_at: Micros | null }): Micros {
  return Math.max(span.ended_at ?? 0, span.started_at + 1);
}

/** A fast check whether duplicates are possible: most runs have only one scope that reports calls. */
export function haveSeveralReporters(keys: Iterable<string | null>): boolean {
  let first: string | null = null;
  for (const key of keys) {
    if (key === null) continue;
    const reporter = key.slice(0, key.indexOf('.') + 1);
    if (first === null) first = reporter;
    else if (first !== reporter) return true;
  }
  return false;
}

/** Prefix of the keys of calls that only log events report. */
const LOGGED = `${readCallKey(callKey({ scope: LOGGED_SCOPE, model: null, provider: null, response: null })).scope}.`;

/**
 * Leaves out the calls of log events if spans of the run report calls of the same model with tokens: programs log the same calls, without
 * ids that would tell which.
 *
 * @returns the other spans, and for each that is left out the call on which it counts, the last that began before it
 */
export function withoutLogged<Span extends CallSpan>(
  spans: readonly Span[],
): { readonly own: readonly Span[]; readonly logged: ReadonlyMap<string, string> } {
  if (!spans.some(isLogged)) return { own: spans, logged: NONE_LOGGED };
  const inOrder = [...spans].sort((a, b) => a.started_at - b.started_at || (a.span_id < b.span_id ? -1 : 1));
  const calls = new Map<string, Span[]>();
  for (const span of inOrder) {
    const model = tracedModel(span);
    if (model === null) continue;
    const others = calls.get(model);
    if (others === undefined) calls.set(model, [span]);
    else others.push(span);
  }
  const logged = new Map<string, string>();
  /** How many calls of each model began before the span. */
  const passed = new Map<string, number>();
  for (const span of inOrder) {
    const model = loggedModel(span);
    const its = model === null ? undefined : calls.get(model);
    if (model === null || its === undefined) continue;
    let count = passed.get(model) ?? 0;
    while ((its[count]?.started_at ?? Infinity) <= span.started_at) count++;
    passed.set(model, count);
    const call = its[Math.max(0, count - 1)];
    if (call !== undefined) logged.set(span.span_id, call.span_id);
  }
  return { own: spans.filter(({ span_id }) => !logged.has(span_id)), logged };
}

function isLogged({ call_key: key }: CallSpan): boolean {
  return key?.startsWith(LOGGED) === true;
}

/** The model of a call that is known from a log event only, as in its key; null for other spans. */
export function loggedModel(span: CallSpan): string | null {
  return span.call_key === null || !isLogged(span) ? null : readCallKey(span.call_key).model;
}

/** The model of a call with tokens that a span reports; null for other spans. Calls of the same model in log events do not count. */
export function tracedModel(span: CallSpan): string | null {
  if (span.call_key === null || span.total_tokens === null || isLogged(span)) return null;
  return readCallKey(span.call_key).model;
}

const NONE_LOGGED: ReadonlyMap<string, string> = new Map();

/** The reports of calls that several spans of a run report, by the ids of the spans. */
export function duplicateCalls(
  spans: readonly CallSpan[],
  places: CallPlaces,
): ReadonlyMap<string, CallReport> {
  const found = new Map<string, CallReport>();
  const covered = {
    tokens: places.covered(({ total_tokens: tokens }) => tokens),
    cost: places.covered(({ cost_usd: cost }) => cost),
  };
  const placeOf = placesIn(spans);
  const reporters: Reporter[] = [];
  for (const span of spans) {
    if (span.call_key === null) continue;
    const says = (value: number | null, above: ReadonlySet<string>): Says =>
      value === null ? SAYS.nothing : above.has(span.span_id) ? SAYS.covered : SAYS.first;
    reporters.push({
      id: span.span_id,
      ...readCallKey(span.call_key),
      place: placeOf(span),
      start: span.started_at,
      end: endOf(span),
      tokens: says(span.total_tokens, covered.tokens),
      cost: says(span.cost_usd, covered.cost),
      said: { tokens: span.total_tokens ?? -1, cost: span.cost_usd ?? -1 },
    });
  }
  reporters.sort((a, b) => a.start - b.start || (a.id < b.id ? -1 : 1));
  for (const together of overlappingGroups(reporters)) {
    if (together.length < 2 || together.length > MAX_REPORTERS) continue;
    for (const call of callsOf(together)) if (call.length > 1) decide(call, places, found);
  }
  return found;
}

function decide(call: readonly Reporter[], places: CallPlaces, found: Map<string, CallReport>): void {
  const isAround = (one: Reporter, other: Reporter): boolean => places.isPart(other.id, one.id);
  /** The reporter whose measure counts: the given one, unless one that is not around it reports more. */
  const most = (from: Reporter, measure: keyof Reporter['said']): Reporter => {
    const larger = call.filter(
      (one) => one.said[measure] > from.said[measure] && one !== from && !isAround(one, from),
    );
    const [next] = larger;
    return next === undefined
      ? from
      : most(
          larger.reduce((top, one) => (one.said[measure] >= top.said[measure] ? one : top), next),
          measure,
        );
  };
  const counted = most(best(call, weightOf), 'tokens');
  const costs = most(
    best(call, (reporter) => (reporter === counted ? 0.5 : 0) + reporter.cost),
    'cost',
  );
  for (const reporter of call) {
    const isCall = reporter === counted;
    found.set(reporter.id, {
      same_as: isCall ? null : counted.id,
      isCall,
      tokens: isCall || isAround(reporter, counted),
      cost: reporter === costs || isAround(reporter, costs),
    });
  }
}

/** The completeness of a reporter. */
function weightOf({ tokens, cost, model }: Reporter): number {
  return tokens * 8 + cost * 2 + (model ? 1 : 0);
}

/** The last reporter with the greatest weight. @param call in the order of starts, at least one */
function best(call: readonly Reporter[], weight: (reporter: Reporter) => number): Reporter {
  return call.reduce((selected, reporter) => (weight(reporter) >= weight(selected) ? reporter : selected));
}

/** Groups reporters of the same call. */
function callsOf(reporters: readonly Reporter[]): Reporter[][] {
  const calls: Reporter[][] = [];
  const join = (reporter: Reporter, isSame: (known: Reporter) => boolean): void => {
    const isKnown = (known: Reporter): boolean => overlap(known, reporter) && isSame(known);
    const call = calls.find(
      (others) => others.some(isKnown) && !others.some((other) => other.scope === reporter.scope),
    );
    if (call === undefined) calls.push([reporter]);
    else call.push(reporter);
  };
  for (const reporter of reporters)
    if (reporter.response) join(reporter, ({ response }) => response === reporter.response);
  for (const reporter of reporters)
    if (!reporter.response) join(reporter, (known) => isAlike(known, reporter));
  const order = new Map(reporters.map((reporter, i) => [reporter, i]));
  for (const call of calls) call.sort((a, b) => (order.get(a) ?? 0) - (order.get(b) ?? 0));
  return calls;
}

function overlap(one: Reporter, other: Reporter): boolean {
  return one.start < other.end && other.start < one.end;
}

function isAlike(one: Reporter, other: Reporter): boolean {
  const isSameModel = Boolean(one.model) && one.model === other.model;
  const mayBeSeller = !one.provider || !other.provider || one.provider === other.provider;
  return one.place === other.place && isSameModel && mayBeSeller;
}

/** The place of each call. In a cycle of calls it is the smallest id of the cycle. */
function placesIn(spans: readonly CallSpan[]): (span: CallSpan) => string {
  const calls = new Map<string, CallSpan>();
  for (const span of spans) if (span.call_key !== null) calls.set(span.span_id, span);
  const places = new Map<string, string>();
  return (span) => {
    const path = new Set<string>();
    let at = span.span_id;
    for (let call = calls.get(at); call !== undefined && !places.has(at) && !path.has(at);) {
      path.add(at);
      if (call.parent_span_id === null) break;
      at = call.parent_span_id;
      call = calls.get(at);
    }
    const ring = path.has(at) ? [...path].slice([...path].indexOf(at)) : [];
    const place = places.get(at) ?? ring.reduce((least, id) => (id < least ? id : least), at);
    for (const id of path) places.set(id, place);
    return place;
  };
}

/** Groups reporters whose times overlap and that share a place or a response id. @param reporters in the order of starts */
function overlappingGroups(reporters: readonly Reporter[]): Reporter[][] {
  const parts = reporters.map((_, i) => i);
  const partOf = (i: number): number => {
    let end = i;
    while (parts[end] !== end) end = parts[end] ?? end;
    parts[i] = end;
    return end;
  };
  /** The last gapless interval of each place or response id: its end, and one reporter in it. */
  const stretches = new Map<string, { end: Micros; readonly one: number }>();
  for (const [i, { place, response, start, end }] of reporters.entries()) {
    for (const group of response ? [`in ${place}`, `as ${response}`] : [`in ${place}`]) {
      const stretch = stretches.get(group);
      if (stretch !== undefined && start < stretch.end) {
        parts[partOf(i)] = partOf(stretch.one);
        stretch.end = Math.max(stretch.end, end);
      } else stretches.set(group, { end, one: i });
    }
  }
  const found = new Map<number, Reporter[]>();
  for (const [i, reporter] of reporters.entries()) {
    const part = partOf(i);
    const known = found.get(part);
    if (known === undefined) found.set(part, [reporter]);
    else known.push(reporter);
  }
  return [...found.values()];
}
