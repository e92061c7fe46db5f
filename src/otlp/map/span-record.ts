import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { Origin } from '../../signal/origin.js';
import type { PromptReference, SpanRecord } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import { hintOf } from './agent-hint.js';
import { AgentNames } from './agent-names.js';
import { toJson } from './any-value.js';
import { AttributeShapes, type Shape } from './attribute-shapes.js';
import { spanHex, spanUuidIn } from '../wire/ids.js';
import { nanosBelowMicro, nanosToMicros } from '../wire/int64.js';
import { boundDepth } from './json-text.js';
import { storableName } from './names.js';
import { formatNanos } from '../wire/nano-time.js';
import { VERBATIM } from './conventions/jackdaw.js';
import { applyOwn, type OwnAttributes } from './own-attributes.js';
import { inputData, outputData } from './payloads.js';
import { responseUsage } from './response-usage.js';
import { readEvents, type ReadEvents } from './span-events.js';
import { mapHintOf } from './map-hint-of.js';
import { metadataOf } from './span-metadata.js';
import { nameOf, spokenName } from './span-name.js';
import { kindByName } from './span-names.js';
import { errorOf, statusOf } from './span-outcome.js';
import { SpanReading } from './span-reading.js';
import { tokensOf } from './span-tokens.js';
import { runKindOf } from './run-kind.js';
import { spanType } from './span-type.js';
import type { Kind } from './conventions/convention.js';
import type { Witness } from './witness.js';
import type { KeyValue, Span } from '../wire/requests.js';

const NO_EVENTS: ReadEvents = { events: [], exception: undefined };

/** The id of a trace in all its forms. */
export interface TraceId {
  /** As `traceUuid` gives it. */
  readonly id: string;
  readonly hex: string;
  readonly bytes: Uint8Array;
}

export interface MappedSpan {
  readonly record: SpanRecord;
  /** Jackdaw's own attributes, where the span has any. */
  readonly own: OwnAttributes | undefined;
}

interface Times {
  readonly started: Micros;
  readonly startNanos: number;
  readonly ended: Micros | null;
  readonly endNanos: number;
  readonly durationMs: number | null;
  /** The end as it was sent, where it lay before the start. */
  readonly skewedEnd: string | undefined;
}

/** Maps spans, one after the other: it keeps scratch memory, and what it learnt of their attributes. */
export class SpanMapper {
  readonly #reading: SpanReading;
  readonly #shapes = new AttributeShapes();
  /** Of the span's attributes. */
  readonly #values: JsonValue[] = [];
  readonly #names: AgentNames;

  /** @param witness of how spans are read */
  constructor(names = new AgentNames(), witness?: Witness) {
    this.#names = names;
    this.#reading = new SpanReading(witness);
  }

  /**
   * One span as a record, as `src/otlp/README.md` says.
   *
   * @returns what is wrong, beginning with the name of the field, where the span cannot be taken
   */
  map(span: Span, { id: traceId, hex: hexTraceId, bytes }: TraceId, origin: Origin): MappedSpan | string {
    const spanId = spanUuidIn(bytes, span.spanId);
    if (spanId === undefined) return 'spanId: must be 8 bytes that are not all zero';
    const parentId = parentOf(span, bytes);
    if (parentId === undefined) return 'parentSpanId: must be 8 bytes, or nothing for a root span';
    const times = timesOf(span);
    if (typeof times === 'string') return times;

    const reading = this.#reading;
    reading.begin();
    const attributes = span.attributes ?? [];
    const shape = this.#shapes.of(attributes);
    const values = this.#values;
    const own = readAttributes(attributes, shape, values, reading);
    const { events, exception } = span.events?.length ? readEvents(span.events, reading) : NO_EVENTS;
    reading.end();

    const isRoot = parentId === null;
    const spanName = spokenName(span.name ?? '', reading);
    const kind = kindOf(spanName, origin, reading);
    const type = spanType(reading, kind, span.kind ?? 0, isRoot, shape.hasDb);
    const status = statusOf(span, times.ended, reading, exception);
    const isRunning = status === 'running';
    const name = nameOf(spanName, type, reading);
    const output = outputData(type, reading);
    const errorMessage = errorOf(span, status, reading, exception, output);
    const cost = reading.count('cost');
    const tokens = tokensOf(reading, origin);
    const metadata = metadataOf(shape, values, span, origin, reading, {
      hexTraceId,
      hexSpanId: spanHex(spanId),
      hexParentId: parentId === null ? null : spanHex(parentId),
      name,
      errorMessage,
      startNanos: times.startNanos,
      endNanos: isRunning ? 0 : times.endNanos,
      skewedEnd: times.skewedEnd,
      events,
      hasReportedCost: cost !== null,
    });
    const named = { type, kind, spanName, name, isRoot };
    const hint = hintOf(named, reading, origin, this.#names);
    const record: SpanRecord = {
      span_id: spanId,
      trace_id: traceId,
      parent_span_id: parentId,
      type,
      name,
      status,
      started_at: times.started,
      ended_at: isRunning ? null : times.ended,
      duration_ms: isRunning ? null : times.durationMs,
      model: type === 'llm' ? storableName(reading.text('model') ?? '') || null : null,
      input_tokens: tokens.input,
      output_tokens: tokens.output,
      total_tokens: tokens.total,
      cost_usd: cost,
      error_message: errorMessage,
      input_data: inputData(type, reading),
      output_data: output,
      metadata,
      agent_hint: hint,
      run_kind: runKindOf({ kind, otlpKind: span.kind ?? 0, hint }, reading),
      map_hint: null,
      prompt: promptOf(reading),
    };
    if (type === 'llm') takeResponseUsage(record, metadata, reading);
    if (own !== undefined) applyOwn(own, record);
    if (own?.get(VERBATIM) !== true)
      record.map_hint = mapHintOf(
        record.type === type ? named : { ...named, type: record.type },
        span.kind ?? 0,
        reading,
        origin,
        this.#names,
      );
    if (record.parent_span_id === record.span_id) return 'parentSpanId: must not be the span itself';
    reading.witness?.read(record, reading, own);
    return { record, own };
  }
}

/**
 * Reads the values of the attributes into `values` and what they say into `reading`.
 *
 * @returns Jackdaw's own attributes
 */
function readAttributes(
  attributes: readonly KeyValue[],
  shape: Shape,
  values: JsonValue[],
  reading: SpanReading,
): OwnAttributes | undefined {
  let own: Map<string, JsonValue> | undefined;
  for (let i = 0; i < attributes.length; i++) {
    const value = boundDepth(toJson(attributes[i]?.value));
    values[i] = value;
    const role = shape.roles[i];
    if (role?.is === 'own') (own ??= new Map()).set(shape.keys[i] ?? '', value);
    else if (role !== undefined) reading.attribute(role, value);
  }
  return own;
}

/** Undefined for what is no id. Zeros are how some say that there is none. */
function parentOf(span: Span, traceId: Uint8Array): string | null | undefined {
  const id = span.parentSpanId;
  if (id === null || id === undefined || id.length === 0) return null;
  return spanUuidIn(traceId, id) ?? (id.length === 8 ? null : undefined);
}

function timesOf(span: Span): Times | string {
  const start = span.startTimeUnixNano ?? 0;
  const started = nanosToMicros(start);
  if (started === undefined) return 'startTimeUnixNano: must be nanoseconds since 1970, before the year 2255';
  if (started <= 0) return 'startTimeUnixNano: is required';
  const end = span.endTimeUnixNano ?? 0;
  const ended = nanosToMicros(end);
  if (ended === undefined) return 'endTimeUnixNano: must be nanoseconds since 1970, before the year 2255';
  const startNanos = nanosBelowMicro(start);
  if (ended <= 0)
    return { started, startNanos, ended: null, endNanos: 0, durationMs: null, skewedEnd: undefined };
  const endNanos = nanosBelowMicro(end);
  if (ended < started)
    return { started, startNanos, ended: started, endNanos, durationMs: 0, skewedEnd: formatNanos(end) };
  const durationMs = Math.max(0, (ended - started) * 1000 + endNanos - startNanos) / 1e6;
  return { started, startNanos, ended, endNanos, durationMs, skewedEnd: undefined };
}

/** What attributes or the name of the span call it. */
function kindOf(spanName: string, { scope }: Origin, reading: SpanReading): Kind | null {
  const said = reading.value('kind') as Kind | null;
  if (said !== null) {
    reading.witness?.told('type', 'kind');
    return said;
  }
  const kind = kindByName(scope?.name, spanName);
  if (kind !== null) reading.witness?.told('type', 'name of the span, as its scope gives names');
  return kind;
}

/** Where no attribute tells the tokens. */
function takeResponseUsage(span: SpanRecord, metadata: JsonObject, { witness }: SpanReading): void {
  if (span.input_tokens !== null || span.output_tokens !== null || span.total_tokens !== null) return;
  const usage = responseUsage(span.output_data);
  if (usage === undefined) return;
  for (const field of ['input_tokens', 'output_tokens', 'total_tokens'] as const)
    witness?.told(field, 'usage in the answer');
  span.input_tokens = usage.input;
  span.output_tokens = usage.output;
  span.total_tokens = usage.total;
  if (metadata.usage === undefined && Object.keys(usage.parts).length > 0) metadata.usage = usage.parts;
}

/** The prompt version that a span names, name and version by one convention. */
function promptOf(reading: SpanReading): PromptReference | null {
  for (const [nameField, versionField] of PROMPT_FIELDS) {
    const name = reading.text(nameField);
    const version = reading.count(versionField);
    if (name !== null && version !== null) return { name, version };
  }
  return null;
}

const PROMPT_FIELDS = [
  ['langfuse_prompt_name', 'langfuse_prompt_version'],
  ['traceloop_prompt_name', 'traceloop_prompt_version'],
  ['gen_ai_prompt_name', 'gen_ai_prompt_version'],
] as const;
