import { ItemProblems } from '../../component/item-problems.js';
import type { JsonObject } from '../../signal/attributes.js';
import { MOST_NANO_USD } from '../../signal/money.js';
import { MAX_NAME, MAX_TEXT } from '../../signal/names.js';
import { isUnseen } from '../../signal/sent-span.js';
import type { ScoreRecord } from '../../signal/score.js';
import { rootOwnParent, type SpanRecord } from '../../signal/span.js';
import type { TraceHeader, TraceRecord } from '../../signal/trace.js';
import { findUnstorable, HALF_SURROGATE } from './payload.js';
import { isLonger } from './text-length.js';

/** Derived `metadata` nests no deeper than this. */
const DERIVED_DEPTH = 64;

export interface Limits {
  readonly maxNameLength: number;
  readonly maxTextLength: number;
  readonly maxLogBodyLength: number;
  readonly maxPayloadDepth: number;
  readonly maxSpansPerTrace: number;
  readonly maxLabels: number;
  readonly maxBuckets: number;
}

/**
 * Whether the OTLP mapping already keeps texts and payloads within the limits, so that only the number of spans may exceed one.
 */
export function isMappedWithin({ maxNameLength, maxTextLength, maxPayloadDepth }: Limits): boolean {
  return maxNameLength >= MAX_NAME && maxTextLength >= MAX_TEXT && maxPayloadDepth >= DERIVED_DEPTH;
}

/**
 * Checks one trace against the rules that no schema can express, and trims the names of its agent and spans.
 *
 * @returns the first problem, with the number of further ones; undefined for a valid trace
 */
export function checkTrace({ trace, spans }: TraceRecord, limits: Limits): string | undefined {
  const rules = new Rules(limits);
  rules.checkHeader(trace);
  if (spans.length > limits.maxSpansPerTrace) {
    // One error is enough here, so the spans are not checked.
    rules.problems.add(
      '/spans',
      `must not contain more than ${limits.maxSpansPerTrace} spans, but there are ${spans.length}`,
    );
    return rules.problems.reason;
  }
  const seen = new Set<string>();
  for (let index = 0; index < spans.length; index++) {
    const span = spans[index];
    if (!span) continue;
    rules.checkSpan(span, trace, index);
    if (seen.has(span.span_id)) rules.problems.add(`/spans/${index}/span_id`, 'occurs twice in this trace');
    seen.add(span.span_id);
  }
  return rules.problems.reason;
}

/** The rules. Pointers are built only for errors, so valid spans allocate nothing. */
class Rules {
  readonly problems = new ItemProblems();
  readonly #limits: Limits;
  /** The index of the checked span; -1 for the header. */
  #index = -1;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  checkHeader(trace: TraceHeader): void {
    trace.agent = this.#name('agent', trace.agent);
    this.#times(trace.started_at, trace.ended_at);
    this.#amount('duration_ms', trace.duration_ms);
    this.#text('outcome', trace.outcome, this.#limits.maxTextLength);
    this.#text('error_message', trace.error_message, this.#limits.maxTextLength);
    this.#count('total_tokens', trace.total_tokens);
    this.#money('total_cost_usd', trace.total_cost_usd);
    this.#payload('metadata', trace.metadata);
    this.#text('sdk_version', trace.sdk_version, this.#limits.maxNameLength);
  }

  checkSpan(span: SpanRecord, trace: TraceHeader, index: number): void {
    this.#index = index;
    if (span.trace_id !== trace.trace_id) this.#add('trace_id', "must be the trace_id of the item's trace");
    rootOwnParent(span);
    span.name = this.#name('name', span.name);
    this.#times(span.started_at, span.ended_at);
    this.#amount('duration_ms', span.duration_ms);
    this.#text('model', span.model, this.#limits.maxNameLength);
    this.#count('input_tokens', span.input_tokens);
    this.#count('output_tokens', span.output_tokens);
    this.#count('total_tokens', span.total_tokens);
    this.#money('cost_usd', span.cost_usd);
    this.#payload('input_data', span.input_data);
    this.#payload('output_data', span.output_data);
    this.#text('error_message', span.error_message, this.#limits.maxTextLength);
    if (span.scores !== null) this.#scores(span.scores);
    // Unread payloads are derived from the sent data in a storable form.
    if (!isUnseen(span) || this.#limits.maxPayloadDepth < DERIVED_DEPTH)
      this.#payload('metadata', span.metadata);
  }

  #scores(scores: readonly ScoreRecord[]): void {
    const { maxNameLength, maxTextLength } = this.#limits;
    scores.forEach(({ name, label, comment }, index) => {
      this.#text(`scores/${index}/name`, name, maxNameLength);
      this.#text(`scores/${index}/label`, label, maxNameLength);
      this.#text(`scores/${index}/comment`, comment, maxTextLength);
    });
  }

  /** @returns the trimmed name */
  #name(field: string, sent: string): string {
    const name = sent.trim();
    if (name === '') this.#add(field, 'must not be empty');
    else if (name.includes('\0')) this.#add(field, 'must not contain the character U+0000');
    else this.#text(field, name, this.#limits.maxNameLength);
    return name;
  }

  #text(field: string, text: string | null, maxLength: number): void {
    if (text === null) return;
    if (isLonger(text, maxLength)) this.#add(field, `must not be longer than ${maxLength} characters`);
    else if (!text.isWellFormed()) this.#add(field, HALF_SURROGATE);
  }

  #times(start: number, end: number | null): void {
    if (end !== null && end < start) this.#add('ended_at', 'must not be before started_at');
  }

  #amount(field: string, value: number | null): void {
    if (value === null || (value >= 0 && value <= Number.MAX_SAFE_INTEGER)) return;
    if (value < 0) this.#add(field, 'must not be negative');
    else this.#add(field, 'must be a number, and not larger than 9007199254740991');
  }

  #count(field: string, value: number | null): void {
    if (value === null) return;
    if (
      value >= 0 &&
      !Number.isSafeInteger(value) &&
      Number.isFinite(value) &&
      value < Number.MAX_SAFE_INTEGER
    )
      this.#add(field, 'must be a whole number');
    else this.#amount(field, value);
  }

  #money(field: string, nanos: number | null): void {
    if (nanos !== null && nanos > MOST_NANO_USD) this.#add(field, 'must be less than 1000000');
    else this.#count(field, nanos);
  }

  #payload(field: string, payload: JsonObject | null): void {
    if (payload === null) return;
    const found = findUnstorable(payload, this.#limits.maxPayloadDepth);
    if (found !== undefined) this.#add(field, found);
  }

  #add(field: string, message: string): void {
    this.problems.add(`${this.#index < 0 ? '/trace' : `/spans/${this.#index}`}/${field}`, message);
  }
}
