import { RUNNING, type SpanRow } from '../../../runs/rules/rows.js';
import { COUNTS, WHOLE } from '../../../runs/rules/duplicate-calls.js';
import { countedUsage, shareOf, type Usage } from '../../../runs/rules/usage.js';
import { SUMMED_PARTS, storedCall, type SummedPart, type UsageParts } from '../../../signal/call-details.js';
import { inputLength, summedTokens, tokensOfCall, type Tokens } from '../../../signal/call-tokens.js';
import { ExactSum } from '../../../signal/exact-sum.js';
import type { Micros } from '../../../signal/time.js';
import { hourOf, TYPE_CODES } from '../../../signal/trace-map.js';
import { LONG_INPUTS, LONG_SHIFT, CALL_FLAGS } from '../../shared/priced-tokens.js';
import { NO_CALLS } from '../tables/run-tables.js';
import { rowMadeOf, type WholeSpan } from './effective-spans.js';

/** The prefix of details with a usage, as `serializeCall` writes them. */
const PRINTED_USAGE = '{"usage":{';

/** A sum, which may exceed the safe integers. */
type Sum = number | bigint;

/** Sums of tokens by price part, over calls with the same `told`. */
interface AddedTokens extends Readonly<Record<SummedPart, Sum>> {
  /** The bits of `CALL_FLAGS` that all these calls have in common: `priced-tokens.ts`. */
  readonly told: number;
  /** Maximum of tokens of one call. */
  readonly most: Sum;
}

/** Sums of a run's calls with the same model, hour and `told`. */
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

/** Sums of a run's calls with the same model and hour. */
export interface AddedCalls {
  readonly stats: AddedStats;
  readonly tokens: AddedTokens;
}

class CallSums {
  readonly #nanos = new ExactSum();
  readonly #input = new ExactSum();
  readonly #output = new ExactSum();
  readonly #total = new ExactSum();
  readonly #parts = SUMMED_PARTS.map((part) => ({ part, sum: new ExactSum() }));
  #calls = 0;
  #priced = 0;
  #first: Micros = Infinity;
  #last: Micros = -Infinity;
  #most: Sum = 0;

  /** @param usage the counted amounts of the span @param told its flags, from {@link flagsOf} */
  add(row: SpanRow, { total_tokens, total_cost_usd }: Usage, told: number, tokens: Tokens): void {
    if ((told & CALL_FLAGS.call) > 0) this.#calls++;
    if ((told & CALL_FLAGS.priced) > 0) this.#priced++;
    this.#input.add(shareOf(row.input_tokens, total_tokens, row.total_tokens));
    this.#output.add(shareOf(row.output_tokens, total_tokens, row.total_tokens));
    this.#total.add(total_tokens ?? 0);
    this.#nanos.add(total_cost_usd ?? 0);
    this.#first = Math.min(this.#first, row.started_at);
    this.#last = Math.max(this.#last, row.started_at);
    const parts = summedTokens(tokens);
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
      tokens: { told, most: this.#most, ...(parts as Record<SummedPart, Sum>) },
    };
  }
}

interface CallGroup {
  readonly hour: number;
  readonly model: string | null;
  readonly told: number;
  readonly sums: CallSums;
}

/** Adds a run to the stats of models: its calls, and usage that other spans report beyond them. @param spans all spans of the run */
export function addedCalls(spans: Iterable<WholeSpan>): AddedCalls[] {
  const groups = new Map<string, CallGroup>();
  for (const { made, counts } of spans) {
    const row = rowMadeOf(made);
    const isLlm = row.type === TYPE_CODES.llm;
    const counted = counts.counted ?? WHOLE;
    const usage = countedUsage({ ...row, ...counts, counted });
    const hasUsage = (usage.total_tokens ?? 0) > 0 || (usage.total_cost_usd ?? 0) > 0;
    if (!hasUsage && !(isLlm && counted !== 0)) continue;
    const { model } = row;
    const hour = hourOf(row.started_at);
    const tokens = tokensOfCall(row, usageOf(row));
    const told = flagsOf(row, isLlm ? counted : 0, tokens);
    const key = model === null ? `${hour} ${told}` : `${hour} ${told} ${model}`;
    const known = groups.get(key) ?? { hour, model, told, sums: new CallSums() };
    known.sums.add(row, usage, told, tokens);
    groups.set(key, known);
  }
  return [...groups.values()].map((group) => group.sums.of(group));
}

function usageOf({ call_details: details }: SpanRow): UsageParts | null {
  // Most calls have only a cost or no details.
  return details?.startsWith(PRINTED_USAGE) === true ? (storedCall(details)?.usage ?? null) : null;
}

/** The bits of `CALL_FLAGS` for a call: `priced-tokens.ts`. */
function flagsOf(row: SpanRow, counted: number, tokens: Tokens): number {
  const hasNoParts = row.input_tokens === null && row.output_tokens === null;
  let told = (counted & COUNTS.call) > 0 ? CALL_FLAGS.call : 0;
  if ((counted & COUNTS.cost) > 0 && row.cost_usd !== null) told |= CALL_FLAGS.priced;
  if (row.status === RUNNING) told |= CALL_FLAGS.running;
  else if (hasNoParts) told |= row.total_tokens === null ? CALL_FLAGS.no_tokens : CALL_FLAGS.no_parts;
  const length = inputLength(tokens);
  return told + LONG_INPUTS.filter((over) => length > over).length * 2 ** LONG_SHIFT;
}

/** The hour of the last call. */
export function callsUntil(calls: readonly AddedCalls[]): number {
  return calls.reduce((last, { stats }) => Math.max(last, stats.hour), NO_CALLS);
}
