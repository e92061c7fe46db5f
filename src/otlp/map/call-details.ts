import {
  COST_PARTS,
  serviceTier,
  USAGE_PARTS,
  type CostDetails,
  type CostPart,
  type CallDetails,
  type UsagePart,
  type UsageParts,
} from '../../signal/call-details.js';
import type { NanoUsd } from '../../signal/money.js';
import type { Origin } from '../../signal/origin.js';
import { CONVENTIONS } from './clients/index.js';
import { writesOf } from '../../signal/usage-object.js';
import { NamePatterns } from './name-patterns.js';
import type { SpanReading } from './span-reading.js';

/** Scopes whose cost of 0 means unknown. */
const ZERO_COSTS = new NamePatterns(CONVENTIONS.flatMap(({ zeroCosts }) => zeroCosts ?? []));

/** The cost of a span from its attributes: the total, or the sum of input and output. */
export function costOf(reading: SpanReading, { scope }: Origin): NanoUsd | null {
  const cost = reading.has('repeats_usage') ? null : reportedTotal(reading);
  const isNone =
    cost === 0 &&
    !reading.has('is_cache_hit') &&
    typeof scope?.name === 'string' &&
    ZERO_COSTS.has(scope.name);
  return isNone ? null : cost;
}

function reportedTotal(reading: SpanReading): NanoUsd | null {
  const total = reading.count('cost');
  if (total !== null) return total;
  const input = reading.count('cost_input');
  const output = reading.count('cost_output');
  if (input === null && output === null) return null;
  reading.provenance?.decided('cost_usd', input === null ? 'cost_output' : 'cost_input');
  return (input ?? 0) + (output ?? 0);
}

/**
 * Call details from attributes, other than tokens and cost.
 *
 * @param hasUsage whether the span's usage is its own
 * @param firstChunkMs time to the first chunk of the answer; null if unknown
 * @returns null if there are none
 */
export function callOf(
  reading: SpanReading,
  cost: NanoUsd | null,
  { hasUsage, firstChunkMs }: { readonly hasUsage: boolean; readonly firstChunkMs: number | null },
): CallDetails | null {
  const provider = reading.text('provider');
  const usage = hasUsage ? usagePartsOf(reading) : null;
  const costs = cost === null ? null : reportedCost(reading);
  const tier = serviceTier(reading.text('service_tier') ?? '');
  const isCacheHit = reading.has('is_cache_hit');
  const isPlain = tier === undefined && !isCacheHit && firstChunkMs === null;
  if (provider === null && usage === null && costs === null && isPlain) return null;
  const details = { provider, usage, cost: costs };
  if (isPlain) return details;
  return {
    ...details,
    ...(firstChunkMs === null ? {} : { time_to_first_chunk_ms: firstChunkMs }),
    ...(tier === undefined ? {} : { tier }),
    ...(isCacheHit ? { isCacheHit } : {}),
  };
}

/** All cache writes, even if a client reports them by lifetime only. */
export function cachedWrites(reading: SpanReading): number | null {
  const short = reading.count('cached_write_5m') ?? undefined;
  const long = reading.count('cached_write_1h') ?? undefined;
  return writesOf(reading.count('cached_write') ?? undefined, short, long) ?? null;
}

function usagePartsOf(reading: SpanReading): UsageParts | null {
  let parts: { [Part in UsagePart]?: number } | null = null;
  for (const part of USAGE_PARTS) {
    const tokens = part === 'cached_write' ? cachedWrites(reading) : reading.count(part);
    if (tokens !== null) (parts ??= {})[part] = tokens;
  }
  return parts;
}

/** Clients include the cost of parts in those of input and output; here each dollar is in one part. */
function reportedCost(reading: SpanReading): CostDetails | null {
  const parts: { [Part in CostPart]?: NanoUsd } = {};
  const cachedRead = reading.count('cost_cached_read');
  const cachedWrite = reading.count('cost_cached_write');
  const write5m = reading.count('cost_cached_write_5m');
  const write1h = reading.count('cost_cached_write_1h');
  const audioInput = reading.count('cost_audio_input');
  const audioOutput = reading.count('cost_audio_output');
  const input = reading.count('cost_input');
  const output = reading.count('cost_output');
  if (cachedRead !== null) parts.cached_read = cachedRead;
  const otherWrites = Math.max(0, (cachedWrite ?? 0) - (write5m ?? 0) - (write1h ?? 0));
  if (otherWrites > 0 || (cachedWrite !== null && write5m === null && write1h === null))
    parts.cached_write = otherWrites;
  if (write5m !== null) parts.cached_write_5m = write5m;
  if (write1h !== null) parts.cached_write_1h = write1h;
  if (audioInput !== null) parts.audio_input = audioInput;
  if (audioOutput !== null) parts.audio_output = audioOutput;
  if (input !== null)
    parts.input = Math.max(0, input - (cachedRead ?? 0) - (cachedWrite ?? 0) - (audioInput ?? 0));
  if (output !== null) parts.output = Math.max(0, output - (audioOutput ?? 0));
  return COST_PARTS.some((part) => parts[part] !== undefined)
    ? { source: 'reported', rule: null, ...parts }
    : null;
}
