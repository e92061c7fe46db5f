import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { LogRecord } from '../../signal/log-record.js';
import { cutText, storableName } from '../../signal/names.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceHeader } from '../../signal/trace.js';

/** Maximum characters of texts other than names: the default limit of processor `validation`. */
const MAX_TEXT = 65_536;

/** A field of a record that rules may change. */
export type Target<Record> =
  | {
      readonly is: 'text';
      /** Whether the value may be missing. */
      readonly isOptional: boolean;
      readonly set: (record: Record, text: string | null) => void;
    }
  | {
      /** A JSON object whose keys are changed. */
      readonly is: 'object';
      readonly get: (record: Record) => JsonObject | null;
      readonly set: (record: Record, object: JsonObject | null) => void;
    }
  | {
      /** Any JSON value. */
      readonly is: 'value';
      readonly get: (record: Record) => JsonValue;
      readonly set: (record: Record, value: JsonValue) => void;
    };

export type Targets<Record> = Readonly<{ [Name in string]: Target<Record> }>;

/** @throws Error for a blank text */
function name(text: string | null): string {
  const kept = storableName(text ?? '');
  if (kept === '') throw new Error('A name must not be empty.');
  return kept;
}

function message(text: string | null): string | null {
  return text === null ? null : cutText(text.toWellFormed().replaceAll('\0', '\uFFFD'), MAX_TEXT);
}

export const SPAN_TARGETS: Targets<SpanRecord> = {
  name: { is: 'text', isOptional: false, set: (span, text) => void (span.name = name(text)) },
  error_message: {
    is: 'text',
    isOptional: true,
    set: (span, text) => void (span.error_message = message(text)),
  },
  input_data: {
    is: 'object',
    get: (span) => span.input_data,
    set: (span, object) => void (span.input_data = object),
  },
  output_data: {
    is: 'object',
    get: (span) => span.output_data,
    set: (span, object) => void (span.output_data = object),
  },
  metadata: {
    is: 'object',
    get: (span) => span.metadata,
    set: (span, object) => void (span.metadata = object),
  },
};

export const TRACE_TARGETS: Targets<TraceHeader> = {
  agent: { is: 'text', isOptional: false, set: (trace, text) => void (trace.agent = name(text)) },
  outcome: { is: 'text', isOptional: true, set: (trace, text) => void (trace.outcome = message(text)) },
  error_message: {
    is: 'text',
    isOptional: true,
    set: (trace, text) => void (trace.error_message = message(text)),
  },
  metadata: {
    is: 'object',
    get: (trace) => trace.metadata,
    set: (trace, object) => void (trace.metadata = object),
  },
};

export const LOG_TARGETS: Targets<LogRecord> = {
  body: { is: 'value', get: (log) => log.body, set: (log, value) => void (log.body = value) },
  event_name: { is: 'text', isOptional: true, set: (log, text) => void (log.event_name = message(text)) },
  attributes: {
    is: 'object',
    get: (log) => log.attributes,
    set: (log, object) => void (log.attributes = object ?? {}),
  },
};
