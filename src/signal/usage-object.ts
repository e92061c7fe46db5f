import type { JsonObject, JsonValue } from './attributes.js';
import { USAGE_PARTS, type UsagePart, type UsageParts } from './call-details.js';

const CANDIDATES = ['candidates_token_count', 'candidatesTokenCount'];
const THOUGHTS = ['thoughts_token_count', 'thoughtsTokenCount', 'thoughtsTokens'];

/** The figures in a usage object. */
export type UsageFigure = 'input' | 'output' | 'total' | UsagePart;

/** Names of the figures in the object itself. */
const NAMES: Readonly<Record<UsageFigure, readonly string[]>> = {
  input: [
    'input_tokens',
    'prompt_tokens',
    'input',
    'inputTokens',
    'promptTokens',
    'prompt_token_count',
    'promptTokenCount',
  ],
  output: ['output_tokens', 'completion_tokens', 'output', 'outputTokens', 'completionTokens'],
  total: ['total_tokens', 'total', 'totalTokens', 'total_token_count', 'totalTokenCount', 'tokens'],
  cached_read: [
    'cache_read_input_tokens',
    'cached_read',
    'cache_read',
    'cache_read_tokens',
    'input_cached_tokens',
    'input_cache_read',
    'cached_tokens',
    'cached_input_tokens',
    'cachedInputTokens',
    'cacheReadInputTokens',
    'cacheReadInputTokenCount',
    'cachedPromptTokens',
    'cached_content_token_count',
    'cachedContentTokenCount',
    'prompt_cache_hit_tokens',
    'promptCacheHitTokens',
    'prompt_cached_tokens',
    'cachedContentTokens',
  ],
  cached_write: [
    'cache_creation_input_tokens',
    'cached_write',
    'cache_creation',
    'cache_write',
    'cache_write_tokens',
    'cache_write_input_tokens',
    'input_cache_creation',
    'input_cache_write',
    'cacheCreationInputTokens',
    'cacheWriteInputTokens',
    'cacheWriteInputTokenCount',
    'prompt_cache_creation_tokens',
  ],
  cached_write_5m: [
    'cached_write_5m',
    'cache_write_5m',
    'cache_creation_5m',
    'input_cache_creation_5m',
    'input_cache_write_5m',
    'ephemeral_5m_input_tokens',
    'cacheCreation5mInputTokens',
  ],
  cached_write_1h: [
    'cached_write_1h',
    'cache_write_1h',
    'cache_creation_1h',
    'input_cache_creation_1h',
    'input_cache_write_1h',
    'ephemeral_1h_input_tokens',
    'cacheCreation1hInputTokens',
  ],
  reasoning: [
    'reasoning_tokens',
    'reasoning',
    'output_reasoning_tokens',
    'output_reasoning',
    'reasoningTokens',
    ...THOUGHTS,
    'thinking_tokens',
    'completion_reasoning_tokens',
  ],
  audio_input: ['audio_input', 'input_audio_tokens', 'input_audio', 'prompt_audio_tokens'],
  audio_output: ['audio_output', 'output_audio_tokens', 'output_audio', 'completion_audio_tokens'],
};

/** Nested objects with the parts of input or output, and their key names. */
const INPUT_DETAILS = [
  'prompt_tokens_details',
  'input_tokens_details',
  'input_token_details',
  'promptTokensDetails',
  'inputTokensDetails',
  'inputTokenDetails',
];
const OUTPUT_DETAILS = [
  'completion_tokens_details',
  'output_tokens_details',
  'output_token_details',
  'completionTokensDetails',
  'outputTokensDetails',
  'outputTokenDetails',
];
/** Anthropic's object with cache writes by lifetime. */
const CACHE_CREATION = ['cache_creation', 'cacheCreation'];
const WITHIN: Readonly<Record<UsagePart, readonly [within: readonly string[], names: readonly string[]]>> = {
  cached_read: [
    INPUT_DETAILS,
    ['cached_tokens', 'cachedTokens', 'cache_read', 'cache_read_tokens', 'cacheReadTokens'],
  ],
  cached_write: [
    INPUT_DETAILS,
    ['cache_creation_tokens', 'cache_creation', 'cache_write_tokens', 'cache_write', 'cacheWriteTokens'],
  ],
  cached_write_5m: [
    [...INPUT_DETAILS, ...CACHE_CREATION],
    ['ephemeral_5m_input_tokens', 'ephemeral5mInputTokens', 'cache_creation_5m', 'cache_write_5m'],
  ],
  cached_write_1h: [
    [...INPUT_DETAILS, ...CACHE_CREATION],
    ['ephemeral_1h_input_tokens', 'ephemeral1hInputTokens', 'cache_creation_1h', 'cache_write_1h'],
  ],
  reasoning: [OUTPUT_DETAILS, ['reasoning_tokens', 'reasoning', 'reasoningTokens']],
  audio_input: [INPUT_DETAILS, ['audio_tokens', 'audio', 'audioTokens']],
  audio_output: [OUTPUT_DETAILS, ['audio_tokens', 'audio', 'audioTokens']],
};

/**
 * A figure in a usage object: that of OpenAI, Anthropic, Gemini, Bedrock, LangChain, the Vercel AI SDK or Jackdaw (`cached_read`,
 * `reasoning` …). `cached_write` includes the writes of each lifetime, which some clients report alone or next to a 0.
 *
 * @param read returns a non-negative integer, or undefined
 */
export function usageFigure(
  usage: JsonObject,
  figure: UsageFigure,
  read: (value: JsonValue) => number | undefined = wholeNumber,
): number | undefined {
  const found = figureIn(usage, figure, read);
  if (figure === 'output') return found ?? geminiOutput(usage, read);
  if (figure !== 'cached_write') return found;
  const short = figureIn(usage, 'cached_write_5m', read);
  const long = figureIn(usage, 'cached_write_1h', read);
  return writesOf(found, short, long);
}

/** Gemini counts thoughts in addition to the answer, and charges both as output. */
function geminiOutput(usage: JsonObject, read: (value: JsonValue) => number | undefined): number | undefined {
  const answer = firstOf(usage, CANDIDATES, read);
  const thoughts = firstOf(usage, THOUGHTS, read);
  return answer === undefined && thoughts === undefined ? undefined : (answer ?? 0) + (thoughts ?? 0);
}

/** All cache writes of a call, including writes for five minutes and one hour. */
export function writesOf(
  all: number | undefined,
  short: number | undefined,
  long: number | undefined,
): number | undefined {
  if (short === undefined && long === undefined) return all;
  return Math.max(all ?? 0, (short ?? 0) + (long ?? 0));
}

/** Whether a client reports a cache hit: `true`, `True`, `hit`. */
export function isHit(value: JsonValue): boolean {
  return value === true || value === 1 || (typeof value === 'string' && HITS.has(value.trim().toLowerCase()));
}

const HITS: ReadonlySet<string> = new Set(['true', 'hit', '1', 'yes']);

function figureIn(
  usage: JsonObject,
  figure: UsageFigure,
  read: (value: JsonValue) => number | undefined,
): number | undefined {
  const found = firstOf(usage, NAMES[figure], read);
  if (found !== undefined || figure === 'input' || figure === 'output' || figure === 'total') return found;
  const [within, names] = WITHIN[figure];
  for (const name of within) {
    const inner = usage[name];
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) continue;
    const part = firstOf(inner, names, read);
    if (part !== undefined) return part;
  }
  return undefined;
}

/** Parts whose names end like those of the whole: `cache_read.input_tokens`, as in OpenTelemetry's conventions. */
const PARTS_OF_WHOLE: readonly (readonly [string, UsagePart])[] = [
  ['cache_read.input_tokens', 'cached_read'],
  ['cached.input_tokens', 'cached_read'],
  ['cache_creation.input_tokens', 'cached_write'],
  ['cache_write.input_tokens', 'cached_write'],
  ['reasoning.output_tokens', 'reasoning'],
  ['thinking.output_tokens', 'reasoning'],
  ['audio.input_tokens', 'audio_input'],
  ['audio.output_tokens', 'audio_output'],
];

/** Names of figures, also in nested objects, in lower case with underscores. */
const FIGURES: ReadonlyMap<string, UsageFigure> = new Map([
  ...PARTS_OF_WHOLE,
  ...Object.entries(NAMES).flatMap(([figure, names]) =>
    names.map((name) => [snakeCase(name), figure as UsageFigure] as const),
  ),
  ...Object.entries(WITHIN).flatMap(([part, [within, names]]) =>
    within.flatMap((object) =>
      names.map((name) => [`${snakeCase(object)}.${snakeCase(name)}`, part as UsagePart] as const),
    ),
  ),
]);

/**
 * The figure that a name stands for outside of a usage object, as in keys of attributes.
 *
 * @param name in lower case with underscores, like `object`, the name before it
 * @param isUsage whether names before it say usage; otherwise only names of tokens count
 */
export function figureOfName(name: string, object: string, isUsage: boolean): UsageFigure | undefined {
  const figure = FIGURES.get(`${object}.${name}`) ?? FIGURES.get(name) ?? OF_ATTRIBUTES.get(name);
  return isUsage || /_token|tokens_/.test(name) ? figure : undefined;
}

/** Names that occur in attributes only. */
const OF_ATTRIBUTES: ReadonlyMap<string, UsageFigure> = new Map([
  ['input_token_count', 'input'],
  ['tokens_in', 'input'],
  ['tokens_input', 'input'],
  ['tokens_prompt', 'input'],
  ['prompt', 'input'],
  ['output_token_count', 'output'],
  ['completion_token_count', 'output'],
  ['tokens_out', 'output'],
  ['tokens_output', 'output'],
  ['tokens_completion', 'output'],
  ['completion', 'output'],
  ['tokens_total', 'total'],
  ['cached', 'cached_read'],
]);

function snakeCase(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toLowerCase();
}

/**
 * All parts in a usage object; see {@link usageFigure}.
 *
 * @returns null if it has none
 */
export function usagePartsOf(
  usage: JsonObject,
  read?: (value: JsonValue) => number | undefined,
): UsageParts | null {
  const parts: { [Part in UsagePart]?: number } = {};
  let isAny = false;
  for (const part of USAGE_PARTS) {
    const figure = usageFigure(usage, part, read);
    if (figure === undefined) continue;
    parts[part] = figure;
    isAny = true;
  }
  return isAny ? parts : null;
}

function firstOf(
  object: JsonObject,
  names: readonly string[],
  read: (value: JsonValue) => number | undefined,
): number | undefined {
  for (const name of names) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    const found = value === undefined ? undefined : read(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function wholeNumber(value: JsonValue): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
