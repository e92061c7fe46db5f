import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { UsageParts } from '../../signal/call-details.js';
import { usageFigure, usagePartsOf } from '../../signal/usage-object.js';
import { count } from './conventions/readers.js';
import { isObject } from './json-text.js';

/** The tokens of a model call. */
export interface ResponseUsage {
  readonly input: number | null;
  readonly output: number | null;
  readonly total: number | null;
  readonly parts: UsageParts | null;
}

/**
 * The tokens that a provider's answer itself reports (`usage` of OpenAI's and Anthropic's APIs): the last resort for model
 * calls whose instrumentation, as Agno's, puts the answer into the span and the tokens nowhere else.
 */
export function responseUsage(response: JsonObject | null): ResponseUsage | undefined {
  const usage = response?.usage;
  if (!isObject(usage)) return undefined;
  const input = usageFigure(usage, 'input', wholeNumber) ?? null;
  const output = usageFigure(usage, 'output', wholeNumber) ?? null;
  const total = usageFigure(usage, 'total', wholeNumber) ?? null;
  if (input === null && output === null && total === null) return undefined;
  // Anthropic counts what went through the cache beside the input, everybody else within it.
  const beside = BESIDE.reduce((sum, name) => sum + (wholeNumber(usage[name]) ?? 0), 0);
  return {
    input: input === null ? null : input + beside,
    output,
    total,
    parts: usagePartsOf(usage, wholeNumber),
  };
}

const BESIDE = ['cache_read_input_tokens', 'cache_creation_input_tokens'];

function wholeNumber(value: JsonValue | undefined): number | undefined {
  const number = value === undefined ? undefined : count(value);
  return typeof number === 'number' ? number : undefined;
}
