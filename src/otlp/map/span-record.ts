import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { Origin } from '../../signal/origin.js';
import { runContext } from '../../signal/run-context.js';
import type { PromptReference, SpanRecord } from '../../signal/span.js';
import { carry, type SentOrigin } from '../../signal/sent-span.js';
import { hintOf } from './agent-hint.js';
import { callIdentityOf } from './call-identity.js';
import { callOf, costOf } from './call-details.js';
import { AgentNames } from './agent-names.js';
import { toJson } from './any-value.js';
import { AttributeShapes, type Shape } from './attribute-shapes.js';
import { spanUuidAt } from '../wire/ids.js';
import { boundDepth } from './json-text.js';
import { storableName } from './names.js';
import { VERBATIM } from './conventions/jackdaw.js';
import { notesOf } from './span-notes.js';
import { timesOf } from './span-times.js';
import { applyOwn, type OwnAttributes } from './own-attributes.js';
import { inputData, outputData } from './payloads.js';
import { responseUsage } from './response-usage.js';
import { readEvents, type ReadEvents } from './span-events.js';
import { mapHintOf } from './map-hint-of.js';
import { NO_VERDICT, verdictOf, type Verdict } from './root-span.js';
import { deriveMetadata } from './span-metadata.js';
import { nameOf, spokenName } from './span-name.js';
import { kindByName } from './span-names.js';
import { errorOf, statusOf } from './span-outcome.js';
import { SpanReading } from './span-reading.js';
import { tokensOf } from './span-tokens.js';
import { runKindOf } from './run-kind.js';
import { spanType } from './span-type.js';
import type { Kind } from './conventions/convention.js';
import type { Witness } from './witness.js';
import type { ReadAttributes, ReadSpan } from '../wire/read-span.js';
import type { AnyValue } from '../wire/requests.js';

const NO_EVENTS: ReadEvents = { evaluations: [], exception: undefined };

export interface MappedSpan {
  readonly record: SpanRecord;
  /** Jackdaw's own attributes, where the span has any. */
  readonly own: OwnAttributes | undefined;
  readonly origin: Origin;
  /** How its run went, where it is a root and says so. */
  readonly verdict: Verdict;
}

/** What spans of a request came under. */
export interface Under {
  readonly origin: Origin;
  readonly sent: SentOrigin;
}

/** Maps spans, one after the other: it keeps scratch memory, and what it learnt of their attributes. */
export class SpanMapper {
  readonly #reading: SpanReading;
  readonly #shapes = new AttributeShapes();
  readonly #names: AgentNames;

  /** @param witness of how spans are read */
  constructor(names = new AgentNames(), witness?: Witness) {
    this.#names = names;
    this.#reading = new SpanReading(witness);
  }

  /**
   * One span as a record, as `src/otlp/README.md` says.
   *
   * @param traceId as `traceUuidAt` gives it
   * @returns what is wrong, beginning with the name of the field, where the span cannot be taken
   */
  map(span: ReadSpan, traceId: string, { origin, sent: sentOrigin }: Under): MappedSpan | string {
    const { buffer, attributes } = span;
    const spanId = spanUuidAt(buffer, span.traceId.start, span.spanId);
    if (spanId === undefined) return 'spanId: must be 8 bytes that are not all zero';
    const parentId = parentOf(span);
    if (parentId === undefined) return 'parentSpanId: must be 8 bytes, or nothing for a root span';
    const times = timesOf(span);
    if (typeof times === 'string') return times;

    const reading = this.#reading;
    reading.begin();
    const shape = this.#shapes.of(attributes);
    const { own, picked } = readAttributes(attributes, shape, reading);
    const { evaluations, exception } = span.events?.length ? readEvents(span.events, reading) : NO_EVENTS;
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
    const cost = costOf(reading, origin);
    const tokens = tokensOf(reading, origin);
    const named = { type, kind, spanName, name, isRoot };
    const hint = hintOf(named, reading, origin, this.#names);
    const started = times.started;
    const ended = isRunning ? null : times.ended;
    const notes = notesOf(reading);
    const fields = {
      span_id: spanId,
      trace_id: traceId,
      parent_span_id: parentId,
      type,
      name,
      status,
      started_at: started,
      ended_at: ended,
      duration_ms: isRunning ? null : times.durationMs,
      model: type === 'llm' ? storableName(reading.text('model') ?? '') || null : null,
      input_tokens: tokens.input,
      output_tokens: tokens.output,
      total_tokens: tokens.total,
      cost_usd: cost,
      error_message: errorMessage,
      input_data: inputData(type, reading),
      output_data: output,
      agent_hint: hint,
      run_kind: runKindOf(
        { kind, otlpKind: span.kind ?? 0, hint, isWrapper: isRoot && this.#names.isWrapper(spanName) },
        reading,
      ),
      context: runContext(reading.value('session_id'), reading.value('user_id'), reading.value('tags')),
      map_hint: null,
      prompt: promptOf(reading),
      call: callOf(reading, cost),
    };
    if (type === 'llm') takeResponseUsage(fields, reading);
    const { input_data, output_data, context } = fields;
    const mapped = {
      name,
      status,
      error_message: errorMessage,
      started_at: started,
      ended_at: ended,
      input_data,
      output_data,
      context,
    };
    const bytes = buffer.subarray(span.start, span.end);
    const record = carry(fields, { bytes, origin: sentOrigin, notes, mapped }, deriveMetadata);
    if (own !== undefined) applyOwn(own, record);
    if (own?.get(VERBATIM) !== true)
      record.map_hint = mapHintOf(
        record.type === type ? named : { ...named, type: record.type },
        span.kind ?? 0,
        reading,
        origin,
        this.#names,
      );
    if (record.type === 'llm' && own?.get(VERBATIM) !== true) {
      const key = callIdentityOf(record, reading, origin);
      record.call = { provider: null, usage: null, cost: null, ...record.call, key };
    }
    if (record.parent_span_id === record.span_id) return 'parentSpanId: must not be the span itself';
    reading.witness?.read(record, reading, own);
    const verdict = isRoot ? verdictOf(picked ?? {}, evaluations) : NO_VERDICT;
    return { record, own, origin, verdict };
  }
}

/** @returns Jackdaw's own attributes, and those that say how a run went */
function readAttributes(
  attributes: ReadAttributes,
  { asked }: Shape,
  reading: SpanReading,
): { readonly own: OwnAttributes | undefined; readonly picked: JsonObject | null } {
  let own: Map<string, JsonValue> | undefined;
  let picked: JsonObject | null = null;
  for (const { at, key, role, isPicked } of asked) {
    const value = attributes.value(at, jsonOf);
    if (role?.is === 'own') (own ??= new Map()).set(key, value);
    else if (role !== undefined) reading.attribute(role, value);
    if (isPicked) (picked ??= {})[key] = value;
  }
  return { own, picked };
}

function jsonOf(value: AnyValue | null | undefined): JsonValue {
  return boundDepth(toJson(value));
}

/** Undefined for what is no id. Zeros are how some say that there is none. */
function parentOf({ buffer, traceId, parentSpanId: id }: ReadSpan): string | null | undefined {
  if (id.end === id.start) return null;
  return spanUuidAt(buffer, traceId.start, id) ?? (id.end - id.start === 8 ? null : undefined);
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
function takeResponseUsage(span: Omit<SpanRecord, 'metadata'>, { witness }: SpanReading): void {
  if (span.input_tokens !== null || span.output_tokens !== null || span.total_tokens !== null) return;
  const usage = responseUsage(span.output_data);
  if (usage === undefined) return;
  for (const field of ['input_tokens', 'output_tokens', 'total_tokens'] as const)
    witness?.told(field, 'usage in the answer');
  span.input_tokens = usage.input;
  span.output_tokens = usage.output;
  span.total_tokens = usage.total;
  if (usage.parts === null) return;
  span.call = {
    provider: null,
    cost: null,
    ...span.call,
    usage: { ...usage.parts, ...span.call?.usage },
  };
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
