import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { count } from './conventions/readers.js';
import { isObject } from './json-text.js';

/** The tokens of a model call. */
export interface ResponseUsage {
  readonly input: number | null;
  readonly output: number | null;
  readonly total: number | null;
  /** In the words of `metadata.usage`. */
  readonly parts: JsonObject;
}

/**
 * The tokens that a provider's answer itself reports (`usage` of OpenAI's and Anthropic's APIs): the last resort for model
 * calls whose instrumentation, as Agno's, puts the answer into the span and the tokens nowhere else.
 */
export function responseUsage(response: JsonObject | null): ResponseUsage | undefined {
  const usage = response?.usage;
  if (!isObject(usage)) return undefined;
  const input = first(usage, ['prompt_tokens', 'input_tokens']);
  const output = first(usage, ['completion_tokens', 'output_tokens']);
  const total = first(usage, ['total_tokens']);
  if (input === null && output === null && total === null) return undefined;
  const inputDetails = detailsOf(usage, ['prompt_tokens_details', 'input_tokens_details']);
  const outputDetails = detailsOf(usage, ['completion_tokens_details', 'output_tokens_details']);
  // Anthropic counts what went through the cache beside the input, everybody else within it.
  const beside = {
    read: first(usage, ['cache_read_input_tokens']),
    creation: first(usage, ['cache_creation_input_tokens']),
  };
  return {
    input: input === null ? null : input + (beside.read ?? 0) + (beside.creation ?? 0),
    output,
    total,
    parts: partsOf({
      cache_read: beside.read ?? first(inputDetails, ['cached_tokens']),
      cache_creation: beside.creation,
      reasoning: first(outputDetails, ['reasoning_tokens']),
    }),
  };
}

function first(object: JsonObject, names: readonly string[]): number | null {
  for (const name of names) {
    const value: JsonValue | undefined = object[name];
    const number = value === undefined ? undefined : count(value);
    if (typeof number === 'number') return number;
  }
  return null;
}

function detailsOf(usage: JsonObject, names: readonly string[]): JsonObject {
  return names.map((name) => usage[name]).find(isObject) ?? {};
}

function partsOf(parts: Readonly<Record<string, number | null>>): JsonObject {
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== null));
}
