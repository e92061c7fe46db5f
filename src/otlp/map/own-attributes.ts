import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import { isUuid } from '../../signal/ids.js';
import { RUN_STATUSES, SPAN_TYPES, UNSET_FIELDS, type SpanRecord } from '../../signal/span.js';
import { readCall, type CallDetails } from '../../signal/call-details.js';
import { parseTime } from '../../signal/time.js';
import type { TraceHeader } from '../../signal/trace.js';
import { HEADER_ONLY, SPAN_ATTRIBUTES, TRACE_ATTRIBUTES, VERBATIM } from './conventions/jackdaw.js';
import { cost, count } from './conventions/readers.js';
import { isObject, parseStructure } from './json-text.js';
import { storableName, storableText } from './names.js';

/** The maximum nesting of payloads that processor `validation` may be configured to allow. */
const MAX_LEVELS = 500;

/** The values of Jackdaw's own attributes (`conventions/jackdaw.ts`) on a span, by key. */
export type OwnAttributes = ReadonlyMap<string, JsonValue>;

type SpanField = keyof typeof SPAN_ATTRIBUTES;
type TraceField = keyof typeof TRACE_ATTRIBUTES;

/** Converts a value to a field; undefined if the field cannot hold it. */
type Readers<Record, Field extends keyof Record> = {
  readonly [F in Field]: (value: JsonValue) => Record[F] | undefined;
};

const SPAN_READERS: Readers<SpanRecord, SpanField> = {
  span_id: uuid,
  parent_span_id: orNull(uuid),
  type: (value) => SPAN_TYPES.find((type) => type === value),
  name,
  status: (value) => RUN_STATUSES.find((status) => status === value),
  duration_ms: orNull(amount),
  model: orNull(name),
  input_tokens: orNull(number(count)),
  output_tokens: orNull(number(count)),
  total_tokens: orNull(number(count)),
  cost_usd: orNull(number(cost)),
  error_message: orNull(text),
  input_data: orNull(object),
  output_data: orNull(object),
  metadata: orNull(object),
  call: orNull(call),
};

const TRACE_READERS: Readers<TraceHeader, TraceField> = {
  agent: name,
  status: (value) => RUN_STATUSES.find((status) => status === value),
  started_at: time,
  ended_at: orNull(time),
  duration_ms: orNull(amount),
  success: orNull((value) => (typeof value === 'boolean' ? value : undefined)),
  outcome: orNull(text),
  error_message: orNull(text),
  total_tokens: orNull(number(count)),
  total_cost_usd: orNull(number(cost)),
  metadata: orNull(object),
  sdk_version: orNull(name),
  environment: orNull(name),
  release: orNull(name),
  agent_version: orNull(name),
  repository: orNull(name),
  sample_rate: orNull(share),
};

const SPAN_FIELDS = Object.keys(SPAN_ATTRIBUTES) as readonly SpanField[];
const TRACE_FIELDS = Object.keys(TRACE_ATTRIBUTES) as readonly TraceField[];

const OWN_KEYS: ReadonlySet<string> = new Set([
  VERBATIM,
  HEADER_ONLY,
  ...Object.values(SPAN_ATTRIBUTES).map(({ key }) => key),
  ...Object.values(TRACE_ATTRIBUTES).map(({ key }) => key),
]);

export function isOwnKey(key: string): boolean {
  return OWN_KEYS.has(key);
}

/** Overrides values of the conventions with those of the own attributes. */
export function applyOwn(own: OwnAttributes, span: SpanRecord): void {
  if (own.get(VERBATIM) === true) forgetConventions(span);
  for (const field of SPAN_FIELDS) {
    const value = own.get(SPAN_ATTRIBUTES[field].key);
    if (value !== undefined) assign(span, SPAN_READERS, field, value);
  }
}

/** The header that own attributes declare, if any. */
export function declaredHeader(own: OwnAttributes, traceId: string): TraceHeader | undefined {
  const header: TraceHeader = {
    trace_id: traceId,
    agent: '',
    kind: 'agent',
    status: 'completed',
    started_at: NaN,
    ended_at: null,
    duration_ms: null,
    success: null,
    outcome: null,
    error_message: null,
    total_tokens: null,
    total_cost_usd: null,
    metadata: null,
    sdk_version: null,
    environment: null,
    release: null,
    agent_version: null,
    repository: null,
    sample_rate: null,
    follows_spans: false,
    idle_timeout_ms: null,
    orphan_wait_ms: null,
  };
  for (const field of TRACE_FIELDS) {
    const value = own.get(TRACE_ATTRIBUTES[field].key);
    if (value !== undefined) assign(header, TRACE_READERS, field, value);
  }
  return header.agent === '' || Number.isNaN(header.started_at) ? undefined : header;
}

/** The sample rate of the run as sent by another Jackdaw. */
export function ownSampleRate(own: OwnAttributes): number | null {
  const value = own.get(TRACE_ATTRIBUTES.sample_rate.key);
  return (value === undefined ? undefined : TRACE_READERS.sample_rate(value)) ?? null;
}

/** Leaves what OTLP itself says: ids, name and times. */
function forgetConventions(span: SpanRecord): void {
  const { ended_at } = span;
  Object.assign(span, UNSET_FIELDS, { type: 'custom', status: 'completed', ended_at });
}

function assign<Record, Field extends keyof Record>(
  record: Record,
  readers: Readers<Record, Field>,
  field: Field,
  value: JsonValue,
): void {
  const read = readers[field](value);
  if (read !== undefined) record[field] = read;
}

function orNull<Value>(read: (value: JsonValue) => Value | undefined) {
  return (value: JsonValue): Value | null | undefined => (value === null ? null : read(value));
}

function uuid(value: JsonValue): string | undefined {
  return typeof value === 'string' && isUuid(value) ? value.toLowerCase() : undefined;
}

function name(value: JsonValue): string | undefined {
  return typeof value === 'string' ? storableName(value) || undefined : undefined;
}

function text(value: JsonValue): string | undefined {
  return typeof value === 'string' ? storableText(value) : undefined;
}

function time(value: JsonValue): number | undefined {
  return typeof value === 'string' ? parseTime(value) : undefined;
}

function amount(value: JsonValue): number | undefined {
  return typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? value : undefined;
}

function share(value: JsonValue): number | undefined {
  return typeof value === 'number' && value > 0 && value <= 1 ? value : undefined;
}

function number(read: (value: JsonValue) => JsonValue | undefined) {
  return (value: JsonValue): number | undefined => {
    const found = read(value);
    return typeof found === 'number' ? found : undefined;
  };
}

function call(value: JsonValue): CallDetails | undefined {
  const printed = object(value);
  return printed === undefined ? undefined : (readCall(printed) ?? undefined);
}

function object(value: JsonValue): JsonObject | undefined {
  const parsed = typeof value === 'string' ? parseStructure(value, MAX_LEVELS) : value;
  return isObject(parsed) ? parsed : undefined;
}
