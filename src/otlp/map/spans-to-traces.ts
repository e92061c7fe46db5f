import type { JsonObject } from '../../signal/attributes.js';
import type { TracesBatch } from '../../signal/batch.js';
import { CONVENTIONS } from './clients/index.js';
import { hasFailed } from '../../runs/rules/run-outcome.js';
import { dimensionsOf } from '../../runs/rules/context-of-spans.js';
import { headerOf, topmost } from '../../runs/rules/header-of-spans.js';
import type { Origin } from '../../signal/origin.js';
import { filledContext } from '../../signal/run-context.js';
import { isUnseen, noted, setMappedContext, sentOf } from '../../signal/sent-span.js';
import type { SpanRecord } from '../../signal/span.js';
import type { Micros } from '../../signal/time.js';
import type { TraceHeader, TraceRecord } from '../../signal/trace.js';
import { HEADER_ONLY, VERBATIM } from './conventions/jackdaw.js';
import { traceUuidAt } from '../wire/ids.js';
import { deploymentOf, type Deployment } from './deployment.js';
import { renewAllowance } from './json-text.js';
import { copyOf } from './any-value.js';
import { failWith, type FailedParts } from './failed-parts.js';
import { originOf } from './origin.js';
import { declaredHeader, ownSampleRate } from './own-attributes.js';
import { NO_VERDICT, sdkVersionOf } from './root-span.js';
import { SpanMapper, type MappedSpan, type Under } from './span-record.js';
import type { ReadSpan, ReadTraces } from '../wire/read-span.js';
import type { Mapped, TracesRequest } from '../wire/requests.js';
import { LenientReader } from '../wire/lenient-reader.js';
import { bigintToInt64 } from '../wire/int64.js';
import { requestTypes } from '../wire/messages.js';
import { decodeTraces } from '../decode/traces.js';

export interface SpanMapping {
  /** The user's UUID. */
  readonly tenant: string;
  /** Time without messages after which a running run is marked as timed out; null: never. */
  readonly idleTimeoutMs: number | null;
  /** Time without messages after which a run completes without a root, if all its spans have ended; null: none of its own. */
  readonly orphanWaitMs?: number | null;
  /** Time of arrival of the request; unknown if missing. */
  readonly receivedAt?: Micros;
}

/**
 * The runs of an OTLP request: a record for each trace, with the header derived from the spans of this request alone, unless
 * another Jackdaw sent a header. Spans without valid ids or a start are rejected individually. A duplicate span gets its own
 * record, so that the store can determine which is new.
 *
 * @param mapper reuse it, because it caches attribute shapes
 */
export function spansToTraces(
  request: ReadTraces | TracesRequest,
  options: SpanMapping,
  mapper = new SpanMapper(),
): Mapped<TracesBatch> {
  renewAllowance();
  const { receivedAt = Infinity } = options;
  const runs = new Map<string, Run>();
  const rejected: string[] = [];
  const { resources } = 'resources' in request ? request : readTraces(request);
  resources.forEach(({ resource, scopes }, r) => {
    let deployment: Deployment | undefined;
    scopes.forEach(({ scope, origin: sent, spans }, s) => {
      const origin = originOf(resource, scope);
      deployment ??= deploymentOf(origin.resource);
      const under = { origin, sent, deployment, receivedAt };
      sent.read = origin;
      spans.forEach((span, i) => {
        const problem = take(span, under);
        if (problem !== undefined) rejected.push(`/resourceSpans/${r}/scopeSpans/${s}/spans/${i}/${problem}`);
      });
    });
  });

  function take(span: ReadSpan, under: Under): string | undefined {
    const traceId = traceUuidAt(span.buffer, span.traceId);
    if (traceId === undefined) return 'traceId: must be 16 bytes that are not all zero';
    const known = runs.get(traceId);
    const run = known ?? new Run(traceId);
    const mapped = mapper.map(span, traceId, under);
    if (typeof mapped === 'string') return mapped;
    if (known === undefined) runs.set(traceId, run);
    const { own } = mapped;
    const header = own && declaredHeader(own, traceId);
    if (header) run.declare(header);
    if (own?.get(HEADER_ONLY) !== true || !header) run.add(mapped);
    return undefined;
  }

  const items = [...runs.values()].flatMap((run) => run.records(options, mapper.failedParts));
  return { batch: { tenant: options.tenant, items }, rejected };
}

/** One trace of a request. */
class Run {
  readonly #id: string;
  /** By the ids of the spans. */
  readonly #spans = new Map<string, MappedSpan>();
  readonly #repeats: MappedSpan[] = [];
  readonly #declared: TraceHeader[] = [];
  /** The value sent by another Jackdaw, the largest if there are several; 0: none. */
  #sampleRate = 0;

  constructor(id: string) {
    this.#id = id;
  }

  add(mapped: MappedSpan): void {
    const { span_id: id } = mapped.record;
    if (mapped.own !== undefined)
      this.#sampleRate = Math.max(this.#sampleRate, ownSampleRate(mapped.own) ?? 0);
    if (this.#spans.has(id)) this.#repeats.push(mapped);
    else this.#spans.set(id, mapped);
  }

  declare(header: TraceHeader): void {
    this.#declared.push(header);
  }

  records(options: SpanMapping, failedParts: FailedParts): TraceRecord[] {
    const mapped = [...this.#spans.values()];
    for (const span of mapped) {
      this.#deploy(span);
      const names = PARTS.get(span.origin.scope?.name);
      if (names === undefined) continue;
      const { record } = span;
      if (hasFailed(record.status) && names.includes(record.name))
        this.#failParent(record, options, failedParts);
      else failedParts.apply(options.tenant, record);
    }
    for (const repeat of this.#repeats) this.#deploy(repeat);
    const [declared, ...later] = this.#declared;
    const recordWith = (all: readonly MappedSpan[]): TraceRecord => {
      const spans = all.map(({ record }) => record);
      return { trace: declared ?? this.#header(all, spans, options), spans };
    };
    return [
      recordWith(mapped),
      ...later.map((trace) => ({ trace, spans: [] })),
      ...this.#repeats.map((repeat) => recordWith([repeat])),
    ];
  }

  #failParent(part: SpanRecord, { tenant }: SpanMapping, failedParts: FailedParts): void {
    if (part.parent_span_id === null) return;
    const parent = this.#spans.get(part.parent_span_id)?.record;
    if (parent === undefined) failedParts.add(tenant, part.parent_span_id, part);
    else failWith(parent, part);
  }

  /**
   * The topmost spans of a resource take the dimensions that it gives and that they lack. A run takes them from its
   * topmost span, so they would only take space on others.
   */
  #deploy({ record, own, deployment }: MappedSpan): void {
    if (deployment.context === null || own?.get(VERBATIM) === true) return;
    const { parent_span_id: parent, context } = record;
    if (parent !== null && this.#spans.get(parent)?.deployment === deployment) return;
    setMappedContext(record, filledContext(context, deployment.context) ?? deployment.context);
  }

  #header(
    all: readonly MappedSpan[],
    spans: readonly SpanRecord[],
    { idleTimeoutMs, orphanWaitMs = null }: SpanMapping,
  ): TraceHeader {
    const first = topmost(spans);
    const { agent, kind, status, started_at, ended_at, duration_ms, error_message } = headerOf(
      spans,
      false,
      first,
    );
    const mapped = all.find(({ record }) => record === first);
    const verdict = mapped?.verdict ?? NO_VERDICT;
    // A span forwarded by another Jackdaw has no origin of its own.
    const origin = mapped && isUnseen(mapped.record) ? mapped.origin : NO_ORIGIN;
    return {
      trace_id: this.#id,
      agent,
      kind,
      status,
      started_at,
      ended_at,
      duration_ms,
      success: verdict.success,
      outcome: verdict.outcome,
      error_message,
      total_tokens: null,
      total_cost_usd: null,
      metadata: first === undefined ? {} : headerMetadata(first, origin),
      sdk_version: sdkVersionOf(origin),
      ...dimensionsOf(spans),
      sample_rate: this.#sampleRate || sampleRateOf(first),
      follows_spans: true,
      idle_timeout_ms: idleTimeoutMs,
      orphan_wait_ms: orphanWaitMs,
    };
  }
}

/** Names of spans by their scope. */
const PARTS: ReadonlyMap<unknown, readonly string[]> = new Map(
  CONVENTIONS.flatMap(({ failedParts }) =>
    failedParts === undefined ? [] : [[failedParts.scope, failedParts.names]],
  ),
);

const NO_ORIGIN: Origin = { resource: {}, scope: null, serviceName: '' };

function headerMetadata(first: SpanRecord, origin: Origin): JsonObject {
  const isSent = isUnseen(first);
  const kept: JsonObject = {};
  for (const name of ['resource', 'session_id', 'user_id', 'tags']) {
    const value = isSent && name === 'resource' ? copyOf(origin.resource) : noted(first, name);
    if (value !== undefined) kept[name] = value;
  }
  return kept;
}

/** Tag of `Span.trace_state`, a length-delimited field. */
const TRACE_STATE = (3 << 3) | 2;
/** The digits of a threshold: 56 bits. */
const DIGITS = 14;
/** `ot=` of a trace state, and its rejection threshold, without trailing zeros. */
const OTEL = /(?:^|,)[ \t]*ot=([^,]*)/;
const THRESHOLD = /(?:^|;)th:([\da-f]{1,14})(?:;|$)/;

/**
 * The share of runs that the client kept: the threshold of OpenTelemetry's consistent probability sampling in the span's trace state
 * (https://opentelemetry.io/docs/specs/otel/trace/tracestate-probability-sampling/).
 *
 * @param span the one that carries the run's sampling
 * @returns above 0; null if the client does not send it
 */
function sampleRateOf(span: SpanRecord | undefined): number | null {
  const sent = span && sentOf(span);
  return sent === undefined ? null : sampleRateIn(traceStateOf(sent.bytes));
}

/** The same for a trace state, such as `ot=th:c,vendor=1`. */
export function sampleRateIn(traceState: string): number | null {
  const digits = THRESHOLD.exec(OTEL.exec(traceState)?.[1] ?? '')?.[1];
  if (digits === undefined) return null;
  // Even the greatest threshold keeps one run in 2 ** 56.
  return 1 - parseInt(digits.padEnd(DIGITS, '0'), 16) / 2 ** 56 || 2 ** -56;
}

/** The trace state of a valid `Span` in protobuf; skips all other fields. */
function traceStateOf(bytes: Uint8Array): string {
  const reader = new LenientReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  let found = '';
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag === TRACE_STATE) found = reader.string();
    else reader.skipType(tag & 7);
  }
  return found;
}

/** 64-bit integer fields of a traces request. */
const INT64_FIELDS: ReadonlySet<string> = new Set([
  'intValue',
  'startTimeUnixNano',
  'endTimeUnixNano',
  'timeUnixNano',
]);

/**
 * Converts a request in any other format to the form of a decoded protobuf request, so that the rest of the code handles one form.
 *
 * @throws Error for values that nest deeper than messages may
 */
function readTraces(request: TracesRequest): ReadTraces {
  return decodeTraces(requestTypes.traces.encode(exact(request) as TracesRequest).finish(), Infinity);
}

/** Replaces invalid integers; as a time it is rejected. */
const NO_INTEGER = 2n ** 64n - 1n;

/** Converts 64-bit integers to a form that the encoder writes without loss, and makes texts valid UTF-8. */
function exact(value: unknown, field = ''): unknown {
  if (INT64_FIELDS.has(field) && (typeof value === 'string' || typeof value === 'number'))
    return bigintToInt64(integerOf(value));
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return value;
  if ('low' in value && 'high' in value) return value;
  if (Array.isArray(value)) return value.map((item) => exact(item, field));
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, exact(child, key)]));
}

function integerOf(value: string | number): bigint {
  try {
    return BigInt(value);
  } catch {
    return NO_INTEGER;
  }
}
