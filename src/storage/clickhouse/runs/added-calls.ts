import { RUNNING, type SpanRow } from '../../../runs/rules/rows.js';
import { COUNTS, WHOLE } from '../../../runs/rules/duplicate-calls.js';
import { COST_PARTS, storedCall, type CostPart, type UsageParts } from '../../../signal/call-details.js';
import { inputLength, tokensByPart, tokensOfCall, type Tokens } from '../../../signal/call-tokens.js';
import { ExactSum } from '../../../signal/exact-sum.js';
import { SPAN_TYPES } from '../../../signal/span.js';
import type { Micros } from '../../../signal/time.js';
import { hourOf } from '../../../signal/trace-map.js';
import { LONG_INPUTS, LONG_SHIFT, TOLD } from '../../shared/priced-tokens.js';
import { NO_CALLS } from '../tables/run-tables.js';
import { rowMadeOf, type WholeSpan } from './effective-spans.js';

const LLM = SPAN_TYPES.indexOf('llm');
/** How details begin that have a usage, as `serializeCall` writes them. */
const PRINTED_USAGE = '{"usage":{';

/** A sum, which may be larger than a number holds exactly. */
type Sum = number | bigint;

/** The sums of the tokens that prices know, over calls of which the same is told. */
interface AddedTokens extends Readonly<Record<CostPart, Sum>> {
  /** `TOLD` of each of them, as `priced-tokens.ts` has it. */
  readonly told: number;
  /** The most tokens that one of them may have. */
  readonly most: Sum;
}

/** What the calls of a model within an hour, of which the same is told, add up to in one run. */
interface AddedStats {
  readonly hour: number;
  readonly model: string | null;
  readonly calls: number;
  readonly priced: number;
  readonly nanos: Sum;
  readonly input: Sum;
  readonly output: Sum;
  readonly total: Sum;
  readonly first: Micros;
  readonly last: Micros;
}

/** What some calls of a run add to the figures of models. */
export interface AddedCalls {
  readonly stats: AddedStats;
  readonly tokens: AddedTokens;
}

class CallSums {
  readonly #nanos = new ExactSum();
  readonly #input = new ExactSum();
  readonly #output = new ExactSum();
  readonly #total = new ExactSum();
  readonly #parts = COST_PARTS.map((part) => ({ part, sum: new ExactSum() }));
  #calls = 0;
  #priced = 0;
  #first: Micros = Infinity;
  #last: Micros = -Infinity;
  #most: Sum = 0;

  /** @param counted which of {@link COUNTS} */
  add(row: SpanRow, counted: number, tokens: Tokens): void {
    if ((counted & COUNTS.call) > 0) {
      this.#calls++;
      this.#input.add(row.input_tokens ?? 0);
      this.#output.add(row.output_tokens ?? 0);
      this.#total.add(row.total_tokens ?? 0);
    }
    if ((counted & COUNTS.cost) > 0 && row.cost_usd !== null) {
      this.#priced++;
      this.#nanos.add(row.cost_usd);
    }
    this.#first = Math.min(this.#first, row.started_at);
    this.#last = Math.max(this.#last, row.started_at);
    const parts = tokensByPart(tokens);
    for (const { part, sum } of this.#parts) sum.add(parts[part]);
    const all = new ExactSum();
    for (const some of [tokens.input, tokens.output, tokens.cachedRead, tokens.cachedWrite]) all.add(some);
    if (all.value > this.#most) this.#most = all.value;
  }

  of({ hour, model, told }: Pick<CallGroup, 'hour' | 'model' | 'told'>): AddedCalls {
    const parts = Object.fromEntries(this.#parts.map(({ part, sum }) => [part, sum.value]));
    return {
      stats: {
        hour,
        model,
        calls: this.#calls,
        priced: this.#priced,
        nanos: this.#nanos.value,
        input: this.#input.value,
        output: this.#output.value,
        total: this.#total.value,
        first: this.#first,
        last: this.#last,
      },
      tokens: { told, most: this.#most, ...(parts as Record<CostPart, Sum>) },
    };
  }
}

interface CallGroup {
  readonly hour: number;
  readonly model: string | null;
  readonly told: number;
  readonly sums: CallSums;
}

/** What a run adds to the figures of models. @param spans all of it */
export function addedCalls(spans: Iterable<WholeSpan>): AddedCalls[] {
  const groups = new Map<string, CallGroup>();
  for (const { made, told: counts } of spans) {
    const row = rowMadeOf(made);
    const counted = counts.counted ?? WHOLE;
    if (row.type !== LLM || counted === 0) continue;
    const { model } = row;
    const hour = hourOf(row.started_at);
    const tokens = tokensOfCall(row, usageOf(row));
    const told = toldOf(row, counted, tokens);
    const key = model === null ? `${hour} ${told}` : `${hour} ${told} ${model}`;
    const known = groups.get(key) ?? { hour, model, told, sums: new CallSums() };
    known.sums.add(row, counted, tokens);
    groups.set(key, known);
  }
  return [...groups.values()].map((group) => group.sums.of(group));
}

function usageOf({ call_details: details }: SpanRow): UsageParts | null {
  // Most have a cost alone, if anything.
  return details?.startsWith(PRINTED_USAGE) === true ? (storedCall(details)?.usage ?? null) : null;
}

/** What is told of a call, as `priced-tokens.ts` has it. */
function toldOf(row: SpanRow, counted: number, tokens: Tokens): number {
  const hasNoParts = row.input_tokens === null && row.output_tokens === null;
  let told = (counted & COUNTS.call) > 0 ? TOLD.call : 0;
  if ((counted & COUNTS.cost) > 0 && row.cost_usd !== null) told |= TOLD.priced;
  if (row.status === RUNNING) told |= TOLD.running;
  else if (hasNoParts) told |= row.total_tokens === null ? TOLD.no_tokens : TOLD.no_parts;
  const length = inputLength(tokens);
  return told + LONG_INPUTS.filter((over) => length > over).length * 2 ** LONG_SHIFT;
}

/** The hour of the last of them. */
export function callsUntil(calls: readonly AddedCalls[]): number {
  return calls.reduce((last, { stats }) => Math.max(last, stats.hour), NO_CALLS);
}
