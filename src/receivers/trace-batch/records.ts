import type { JsonObject } from '../../signal/attributes.js';
import type { SpanRecord } from '../../signal/span.js';
import type { CallDetails } from '../../signal/call-details.js';
import { usagePartsOf } from '../../signal/usage-object.js';
import { parseMoney, type NanoUsd } from '../../signal/money.js';
import { parseTime, type Micros } from '../../signal/time.js';
import type { TraceHeader, TraceRecord } from '../../signal/trace.js';
import type { TraceItem } from './wire-format.js';

const DEFAULT_SDK_VERSION = '0.2.0';

type WireSpan = TraceItem['spans'][number];

/**
 * Turns an item that the schema has accepted into a record: times in microseconds, money in nano-USD, ids in lower
 * case, null for what is absent. Objects of the item (`metadata`, …) become part of the record.
 *
 * Each record is one literal with every field in the same order: the engine then gives all of them one hidden class,
 * which the whole pipeline behind profits from.
 *
 * @throws RangeError for an item that the schema has not accepted.
 */
export function toRecord(item: TraceItem): TraceRecord {
  return { trace: toHeader(item.trace), spans: item.spans.map(toSpan) };
}

function toHeader(wire: TraceItem['trace']): TraceHeader {
  return {
    trace_id: wire.trace_id.toLowerCase(),
    agent: wire.agent,
    status: wire.status ?? 'completed',
    started_at: toMicros(wire.started_at),
    ended_at: toMicrosOrNull(wire.ended_at),
    duration_ms: toNumber(wire.duration_ms),
    success: wire.success ?? null,
    outcome: wire.outcome ?? null,
    error_message: wire.error_message ?? null,
    total_tokens: toNumber(wire.total_tokens),
    total_cost_usd: toNanoUsd(wire.total_cost_usd),
    metadata: wire.metadata ?? null,
    sdk_version: wire.sdk_version ?? DEFAULT_SDK_VERSION,
    kind: 'agent',
    follows_spans: false,
    idle_timeout_ms: null,
    sample_rate: null,
  };
}

function toSpan(wire: WireSpan): SpanRecord {
  return {
    span_id: wire.span_id.toLowerCase(),
    trace_id: wire.trace_id.toLowerCase(),
    parent_span_id: wire.parent_span_id?.toLowerCase() ?? null,
    type: wire.type,
    name: wire.name,
    status: wire.status ?? 'completed',
    started_at: toMicros(wire.started_at),
    ended_at: toMicrosOrNull(wire.ended_at),
    duration_ms: toNumber(wire.duration_ms),
    model: wire.model ?? null,
    input_tokens: toNumber(wire.input_tokens),
    output_tokens: toNumber(wire.output_tokens),
    total_tokens: toNumber(wire.total_tokens),
    cost_usd: toNanoUsd(wire.cost_usd),
    error_message: wire.error_message ?? null,
    input_data: wire.input_data ?? null,
    output_data: wire.output_data ?? null,
    metadata: wire.metadata ?? null,
    agent_hint: null,
    map_hint: null,
    run_kind: null,
    context: null,
    prompt: null,
    call: wire.metadata ? callIn(wire.metadata) : null,
  };
}

/** What `metadata` tells of a model call in the words of providers, or in Jackdaw's own: `provider`, and an object `usage`. */
function callIn({ provider, usage }: JsonObject): CallDetails | null {
  const name = typeof provider === 'string' && provider !== '' ? provider : null;
  const isObject = typeof usage === 'object' && usage !== null && !Array.isArray(usage);
  const parts = isObject ? usagePartsOf(usage) : null;
  return name === null && parts === null ? null : { provider: name, usage: parts, cost: null };
}

function toMicros(text: string): Micros {
  const micros = parseTime(text);
  if (micros === undefined) throw new RangeError('a time was not checked by the schema');
  return micros;
}

function toMicrosOrNull(text: string | null | undefined): Micros | null {
  return text === null || text === undefined ? null : toMicros(text);
}

function toNanoUsd(value: string | number | null | undefined): NanoUsd | null {
  if (value === null || value === undefined) return null;
  const nanos = parseMoney(value);
  if (nanos === undefined) throw new RangeError('an amount was not checked by the schema');
  return nanos;
}

/** Adding zero turns -0, which JSON can say, into 0. */
function toNumber(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : value + 0;
}
