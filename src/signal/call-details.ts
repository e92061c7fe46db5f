import type { JsonObject, JsonValue } from './attributes.js';
import type { NanoUsd } from './money.js';

/**
 * Parts of the tokens of a model call: caches and audio are parts of the input, reasoning and audio parts of the output. Writes with
 * a lifetime of five minutes or one hour are parts of `cached_write`.
 */
export const USAGE_PARTS = [
  'cached_read',
  'cached_write',
  'cached_write_5m',
  'cached_write_1h',
  'reasoning',
  'audio_input',
  'audio_output',
] as const;
export type UsagePart = (typeof USAGE_PARTS)[number];
/** Whole numbers of tokens; unreported parts are absent. */
export type UsageParts = { readonly [Part in UsagePart]?: number };

/** Parts of the tokens, summed by stores. Each token belongs to one part. Never rename these: they name stored columns. */
export const SUMMED_PARTS = [
  'input',
  'cached_read',
  'cached_write',
  'audio_input',
  'output',
  'audio_output',
] as const;
export type SummedPart = (typeof SUMMED_PARTS)[number];

/**
 * Parts of the cost of a model call. Each token belongs to one part, so the parts add up to the total: `cached_write` has the writes
 * of unknown lifetime. Reasoning is part of the output and has its price.
 */
export const COST_PARTS = [
  'input',
  'cached_read',
  'cached_write',
  'cached_write_5m',
  'cached_write_1h',
  'audio_input',
  'output',
  'audio_output',
] as const;
export type CostPart = (typeof COST_PARTS)[number];

/** Service tiers with prices of their own. */
export const SERVICE_TIERS = ['flex', 'batch', 'priority'] as const;
export type ServiceTier = (typeof SERVICE_TIERS)[number];

/** The tier under any provider's name; undefined for the standard tier and unknown ones. */
export function serviceTier(text: string): ServiceTier | undefined {
  const lower = text.trim().toLowerCase();
  return SERVICE_TIERS.find((tier) => tier === lower);
}

/** The tier of a priced cost: `unpriced` if the table has no price for the call's tier and the standard price was used. */
export const COST_TIERS = [...SERVICE_TIERS, 'unpriced'] as const;
type CostTier = (typeof COST_TIERS)[number];

/** `reported` by the span itself, or `priced` by a table. */
export const COST_SOURCES = ['reported', 'priced'] as const;
type CostSource = (typeof COST_SOURCES)[number];

/** The source of a cost, and its known parts. */
export type CostDetails = {
  readonly source: CostSource;
  /** The row of the price table, with its position and date; null for a reported cost. */
  readonly rule: string | null;
  /** Absent for the standard tier. */
  readonly tier?: CostTier;
} & { readonly [Part in CostPart]?: NanoUsd };

/** Details of a model call in addition to tokens and cost. */
export type CallDetails = {
  /** The provider, as named by the client: `openai`, `aws.bedrock`. */
  readonly provider: string | null;
  readonly usage: UsageParts | null;
  /** Null: no cost, or a cost reported without its parts. */
  readonly cost: CostDetails | null;
  /** From the start of the call to the first chunk of its answer. */
  readonly time_to_first_chunk_ms?: number;
  /** Absent for the standard tier. Only for pricing; not stored. */
  readonly tier?: ServiceTier;
  /** Whether the response came from a gateway's cache, so that a cost of 0 is right. Only for pricing; not stored. */
  readonly isCacheHit?: boolean;
  /** The call key: `call-key.ts`. Only if the client reported the call; not stored in this JSON. */
  readonly key?: string;
};

/** The details that one Jackdaw sends to another. The call key is omitted, because it is derived from the span. */
export function sentCall(call: CallDetails): CallDetails {
  const { provider, usage, cost, tier, isCacheHit, time_to_first_chunk_ms: first } = call;
  return {
    provider,
    usage,
    cost,
    ...(first === undefined ? {} : { time_to_first_chunk_ms: first }),
    ...(tier === undefined ? {} : { tier }),
    ...(isCacheHit === undefined ? {} : { isCacheHit }),
  };
}

/** The details that stores keep in one text. */
export type StoredCall = Pick<CallDetails, 'usage' | 'cost' | 'time_to_first_chunk_ms'>;

/**
 * Details in stored form, usage first.
 *
 * @returns null if there are none
 */
export function serializeCall({ usage, cost, time_to_first_chunk_ms }: StoredCall): string | null {
  return usage === null && cost === null && time_to_first_chunk_ms === undefined
    ? null
    : JSON.stringify({ usage, cost, time_to_first_chunk_ms });
}

/** Parses the output of {@link serializeCall}. */
export function storedCall(text: string | null): StoredCall | null {
  if (text === null) return null;
  const call = readCall(JSON.parse(text) as JsonObject);
  if (call === null) return null;
  const { usage, cost, time_to_first_chunk_ms: first } = call;
  return { usage, cost, ...(first === undefined ? {} : { time_to_first_chunk_ms: first }) };
}

/**
 * Reads untrusted details from JSON and skips invalid values.
 *
 * @returns null if nothing valid remains
 */
export function readCall(printed: JsonObject): CallDetails | null {
  const provider = textOf(printed.provider);
  const usage = statsOf(printed.usage, USAGE_PARTS);
  const cost = costOf(printed.cost);
  const tier = serviceTier(textOf(printed.tier) ?? '');
  const isCacheHit = printed.isCacheHit === true;
  const first = lengthOf(printed.time_to_first_chunk_ms);
  const isPlain = tier === undefined && !isCacheHit && first === undefined;
  if (provider === null && usage === null && cost === null && isPlain) return null;
  return {
    provider,
    usage,
    cost,
    ...(first === undefined ? {} : { time_to_first_chunk_ms: first }),
    ...(tier === undefined ? {} : { tier }),
    ...(isCacheHit ? { isCacheHit } : {}),
  };
}

/** Maximum length; rules come from price tables or untrusted senders. */
const LONGEST_RULE = 256;

function costOf(printed: JsonValue | undefined): CostDetails | null {
  const object = objectOf(printed);
  const source = COST_SOURCES.find((known) => known === object?.source);
  const tier = COST_TIERS.find((known) => known === object?.tier);
  return source === undefined
    ? null
    : {
        source,
        rule: textOf(object?.rule)?.slice(0, LONGEST_RULE) ?? null,
        ...(tier === undefined ? {} : { tier }),
        ...statsOf(printed, COST_PARTS),
      };
}

function statsOf<Part extends string>(
  printed: JsonValue | undefined,
  parts: readonly Part[],
): { [P in Part]?: number } | null {
  const object = objectOf(printed);
  const found: { [P in Part]?: number } = {};
  for (const part of parts) {
    const figure = object?.[part];
    if (typeof figure === 'number' && Number.isSafeInteger(figure) && figure >= 0) found[part] = figure;
  }
  return Object.keys(found).length === 0 ? null : found;
}

function lengthOf(value: JsonValue | undefined): number | undefined {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined;
}

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
