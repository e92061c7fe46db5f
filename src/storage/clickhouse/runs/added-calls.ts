import { COUNTS, WHOLE } from '../../../runs/rules/told-calls.js';
import type { SpanRow } from '../../../runs/rules/rows.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import type { Micros } from '../../../signal/time.js';
import { hourOf } from '../../../signal/trace-map.js';
import { NO_CALLS } from '../tables/run-tables.js';
import { rowMadeOf, type WholeSpan } from './effective-spans.js';

const LLM = SPAN_TYPES.indexOf('llm');

/** What the calls of a model within an hour add up to in one run. Sums are texts: they may be larger than a number holds exactly. */
export interface AddedCalls {
  readonly hour: number;
  readonly model: string | null;
  readonly calls: number;
  readonly priced: number;
  readonly nanos: string;
  readonly input: string;
  readonly output: string;
  readonly total: string;
  readonly first: Micros;
  readonly last: Micros;
}

class CallSums {
  calls = 0;
  priced = 0;
  nanos = 0n;
  input = 0n;
  output = 0n;
  total = 0n;
  first: Micros = Infinity;
  last: Micros = -Infinity;

  /** @param counted which of {@link COUNTS} */
  add(row: SpanRow, counted: number): void {
    if ((counted & COUNTS.call) > 0) {
      this.calls++;
      this.input += BigInt(row.input_tokens ?? 0);
      this.output += BigInt(row.output_tokens ?? 0);
      this.total += BigInt(row.total_tokens ?? 0);
    }
    if ((counted & COUNTS.cost) > 0 && row.cost_usd !== null) {
      this.priced++;
      this.nanos += BigInt(row.cost_usd);
    }
    this.first = Math.min(this.first, row.started_at);
    this.last = Math.max(this.last, row.started_at);
  }
}

/** What a run adds to the figures of models. @param spans all of it */
export function addedCalls(spans: Iterable<WholeSpan>): AddedCalls[] {
  const sums = new Map<
    string,
    { readonly hour: number; readonly model: string | null; readonly of: CallSums }
  >();
  for (const { made, told } of spans) {
    const row = rowMadeOf(made);
    const counted = told.counted ?? WHOLE;
    if (row.type !== LLM || counted === 0) continue;
    const { model } = row;
    const hour = hourOf(row.started_at);
    const key = model === null ? String(hour) : `${hour} ${model}`;
    const known = sums.get(key) ?? { hour, model, of: new CallSums() };
    known.of.add(row, counted);
    sums.set(key, known);
  }
  return [...sums.values()].map(({ hour, model, of }) => ({
    ...{ hour, model, calls: of.calls, priced: of.priced, first: of.first, last: of.last },
    ...{
      nanos: String(of.nanos),
      input: String(of.input),
      output: String(of.output),
      total: String(of.total),
    },
  }));
}

/** The hour of the last of them. */
export function callsUntil(calls: readonly AddedCalls[]): number {
  return calls.reduce((last, { hour }) => Math.max(last, hour), NO_CALLS);
}
