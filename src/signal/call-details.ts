import type { JsonObject, JsonValue } from './attributes.js';
import type { NanoUsd } from './money.js';

/** What the tokens of a model call consist of: caches and audio are parts of the input, reasoning and audio parts of the output. */
export const USAGE_PARTS = [
  'cached_read',
  'cached_write',
  'reasoning',
  'audio_input',
  'audio_output',
] as const;
export type UsagePart = (typeof USAGE_PARTS)[number];
/** Whole numbers of tokens; unreported parts are absent. */
export type UsageParts = { readonly [Part in UsagePart]?: number };

/**
 * What the cost of a model call consists of: each token is in one part, so they add up to the whole. Reasoning costs what output costs,
 * and is in it.
 */
export const COST_PARTS = [
  'input',
  'cached_read',
  'cached_write',
  'audio_input',
  'output',
  'audio_output',
] as const;
export type CostPart = (typeof COST_PARTS)[number];

/** `reported` by the span itself, or `priced` by a table. */
export const COST_SOURCES = ['reported', 'priced'] as const;
type CostSource = (typeof COST_SOURCES)[number];

/** The source of a cost, and its known parts. */
export type CostDetails = {
  readonly source: CostSource;
  /** The row of the price table, with its place and date; null for a cost that was reported. */
  readonly rule: string | null;
} & { readonly [Part in CostPart]?: NanoUsd };

/** Details of a model call in addition to tokens and cost. */
export type CallDetails = {
  /** The provider, as named by the client: `openai`, `aws.bedrock`. */
  readonly provider: string | null;
  readonly usage: UsageParts | null;
  /** Null: the cost, if there is one, was reported without its parts. */
  readonly cost: CostDetails | null;
  /** The call key: `call-key.ts`. Only if the client reported the call; not stored in JSON. */
  readonly key?: string;
};

/** The details that one Jackdaw sends to another, without the call key, which is derived from the span. */
export function sentCall({ provider, usage, cost }: CallDetails): CallDetails {
  return { provider, usage, cost };
}

/** Usage and cost as they are stored. @returns null if there are none */
export function serializeCall({ usage, cost }: Pick<CallDetails, 'usage' | 'cost'>): string | null {
  return usage === null && cost === null ? null : JSON.stringify({ usage, cost });
}

/** What {@link serializeCall} has printed. */
export function storedCall(text: string | null): Pick<CallDetails, 'usage' | 'cost'> | null {
  if (text === null) return null;
  const call = readCall(JSON.parse(text) as JsonObject);
  return call && { usage: call.usage, cost: call.cost };
}

/** Reads untrusted details from JSON and skips invalid values. @returns null if nothing is left */
export function readCall(printed: JsonObject): CallDetails | null {
  const provider = textOf(printed.provider);
  const usage = statsOf(printed.usage, USAGE_PARTS);
  const cost = costOf(printed.cost);
  return provider === null && usage === null && cost === null ? null : { provider, usage, cost };
}

/** A rule comes from a price table or from an untrusted sender. */
const LONGEST_RULE = 256;

function costOf(printed: JsonValue | undefined): CostDetails | null {
  const object = objectOf(printed);
  const source = COST_SOURCES.find((known) => known === object?.source);
  return source === undefined
    ? null
    : {
        source,
        rule: textOf(object?.rule)?.slice(0, LONGEST_RULE) ?? null,
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

function objectOf(value: JsonValue | undefined): JsonObject | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
}

function textOf(value: JsonValue | undefined): string | null {
  return typeof value === 'string' ? value : null;
}
