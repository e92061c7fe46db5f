import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { ItemProblems } from '../../component/item-problems.js';
import { isUuid } from '../../signal/ids.js';
import { parseMoney, type NanoUsd } from '../../signal/money.js';
import { isInFuture } from '../../signal/future.js';
import { identityOf } from '../../signal/run-context.js';
import { parseTime, type Micros } from '../../signal/time.js';
import type { TraceRecord, TraceHeader } from '../../signal/trace.js';
import { SpanSchema, TraceHeaderSchema, TraceItemSchema, type TraceItem } from './wire-format.js';
import { formatError } from './format-error.js';
import type { JsonObject } from '../../signal/attributes.js';
import { rootOwnParent, type SpanRecord } from '../../signal/span.js';
import { serviceTier, type CallDetails } from '../../signal/call-details.js';
import { outputWithThoughts } from '../../signal/call-tokens.js';
import { isHit, usagePartsOf } from '../../signal/usage-object.js';

const DEFAULT_SDK_VERSION = '0.2.0';
/** Tests check that the schema is a JSON Schema: checking it here takes longer than compiling it. */
const OPTIONS = { allowUnionTypes: true, validateSchema: false } as const;

/**
 * @param receivedAt when the item arrived; without it, no time is in the future
 * @returns the record, or why the item is invalid
 */
export type ItemReader = (item: unknown, receivedAt?: Micros) => TraceRecord | string;

let reader: ItemReader | undefined;

/**
 * The reader of items. The first call compiles the schema of an item twice: one check that stops at the first error, for the
 * valid items that nearly all are, and one that finds all errors, to explain invalid ones.
 */
export function itemReader(): ItemReader {
  return (reader ??= compileReader());
}

function compileReader(): ItemReader {
  const isItem = compile(new Ajv(OPTIONS));
  const explain = compile(new Ajv({ ...OPTIONS, allErrors: true, verbose: true }));
  return (item, receivedAt = Infinity) => {
    if (isItem(item)) return toRecord(item, receivedAt);
    return explain(item) ? 'is not valid' : reasonOf(explain.errors ?? []);
  };
}

/** Errors in the order of the schema's fields, except that missing fields come first. */
function reasonOf(errors: readonly ErrorObject[]): string {
  // One value may break several rules; the sender counts fields to correct.
  const messages = new Map<string, string>();
  for (const error of errors) {
    const { pointer, message } = formatError(error);
    if (!messages.has(pointer)) messages.set(pointer, message);
  }
  const problems = new ItemProblems();
  for (const [pointer, message] of [...messages].sort(([a], [b]) => rank(a) - rank(b)))
    problems.add(pointer, message);
  return problems.reason ?? 'is not valid';
}

const HEADER_FIELDS = Object.keys(TraceHeaderSchema.properties);
const SPAN_FIELDS = Object.keys(SpanSchema.properties);

/** Sorts pointers in the order of the documentation: the header, then span by span. */
function rank(pointer: string): number {
  const [, part, first, second] = pointer.split('/');
  if (part === 'trace') return HEADER_FIELDS.indexOf(first ?? '');
  return (Number(first ?? 0) + 1) * 100 + SPAN_FIELDS.indexOf(second ?? '');
}

function compile(ajv: Ajv): ValidateFunction<TraceItem> {
  ajv.addFormat('uuid', isUuid);
  ajv.addFormat('date-time', (text) => parseTime(text) !== undefined);
  ajv.addFormat('decimal', (text) => parseMoney(text) !== undefined);
  return ajv.compile<TraceItem>(TraceItemSchema);
}

type WireSpan = TraceItem['spans'][number];

/**
 * Converts an item that passed the schema to a record: times in microseconds, money in nano-USD, ids in lower case, null for missing
 * fields. Objects of the item (`metadata`, …) become part of the record.
 *
 * Each record is one literal with every field in the same order: the engine then gives all records one hidden class, which speeds up
 * the whole pipeline.
 *
 * @throws RangeError for an item that did not pass the schema.
 */
function toRecord(item: TraceItem, receivedAt: Micros): TraceRecord {
  const record = { trace: toHeader(item.trace), spans: item.spans.map(toSpan) };
  replaceFuture(record.trace, item.trace, receivedAt);
  record.spans.forEach((span, i) => {
    const wire = item.spans[i];
    if (wire !== undefined) replaceFuture(span, wire, receivedAt);
    rootOwnParent(span);
  });
  return record;
}

/** Replaces times too far in the future by that of arrival, notes them in `metadata`, and drops the duration, which depends on them. */
function replaceFuture(
  record: Pick<SpanRecord, 'started_at' | 'ended_at' | 'duration_ms' | 'metadata'>,
  wire: Pick<WireSpan, 'started_at' | 'ended_at'>,
  receivedAt: Micros,
): void {
  const { started_at, ended_at } = record;
  // The later of the two; an end before the start is refused.
  if (!isInFuture(ended_at ?? started_at, receivedAt) || started_at > (ended_at ?? Infinity)) return;
  const skew: JsonObject = {};
  if (isInFuture(started_at, receivedAt)) {
    skew.started_at = wire.started_at;
    record.started_at = receivedAt;
  }
  if (ended_at !== null) {
    skew.ended_at = wire.ended_at ?? null;
    record.ended_at = Math.max(receivedAt, record.started_at);
  }
  record.duration_ms = null;
  record.metadata = { ...record.metadata, clock_skew: skew };
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
    // SDKs without these fields send them in the metadata.
    environment: identityOf(wire.environment ?? wire.metadata?.environment),
    release: identityOf(wire.release ?? wire.metadata?.release),
    agent_version: identityOf(wire.agent_version ?? wire.metadata?.agent_version),
    repository: identityOf(wire.repository ?? wire.metadata?.repository),
    kind: 'agent',
    follows_spans: false,
    idle_timeout_ms: null,
    orphan_wait_ms: null,
    sample_rate: null,
  };
}

function toSpan(wire: WireSpan): SpanRecord {
  const call = wire.metadata ? callIn(wire.metadata) : null;
  const tokens = {
    input_tokens: toNumber(wire.input_tokens),
    output_tokens: toNumber(wire.output_tokens),
    total_tokens: toNumber(wire.total_tokens),
  };
  return {
    span_id: wire.span_id.toLowerCase(),
    trace_id: wire.trace_id.toLowerCase(),
    parent_span_id: wire.parent_span_id?.toLowerCase() ?? null,
    parent_is_remote: null,
    type: wire.type,
    name: wire.name,
    status: wire.status ?? 'completed',
    started_at: toMicros(wire.started_at),
    ended_at: toMicrosOrNull(wire.ended_at),
    duration_ms: toNumber(wire.duration_ms),
    model: wire.model ?? null,
    ...tokens,
    output_tokens: outputWithThoughts(tokens, call?.usage?.reasoning),
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
    call,
    scores: null,
  };
}

/**
 * Details of a model call in `metadata`, under providers' names or Jackdaw's own: `provider`, an object `usage`, `service_tier` (also
 * in `usage`) and `cache_hit`.
 */
function callIn({ provider, usage, service_tier, cache_hit }: JsonObject): CallDetails | null {
  const name = typeof provider === 'string' && provider !== '' ? provider : null;
  const object = typeof usage === 'object' && usage !== null && !Array.isArray(usage) ? usage : null;
  const parts = object && usagePartsOf(object);
  const reportedTier = service_tier ?? object?.service_tier;
  const tier = typeof reportedTier === 'string' ? serviceTier(reportedTier) : undefined;
  const isCacheHit = cache_hit !== undefined && isHit(cache_hit);
  if (name === null && parts === null && tier === undefined && !isCacheHit) return null;
  return {
    provider: name,
    usage: parts,
    cost: null,
    ...(tier === undefined ? {} : { tier }),
    ...(isCacheHit ? { isCacheHit } : {}),
  };
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

/** Adding zero turns -0, which JSON can express, into 0. */
function toNumber(value: number | null | undefined): number | null {
  return value === null || value === undefined ? null : value + 0;
}
