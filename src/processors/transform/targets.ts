import type { Targets } from '../../expressions/rules/rule.js';
import { labelsOf } from '../../otlp/map/point-labels.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { MetricPoint, MetricStream } from '../../signal/metric.js';
import { cutText, storableName } from '../../signal/names.js';
import type { SpanRecord } from '../../signal/span.js';
import type { TraceHeader } from '../../signal/trace.js';

/** Maximum characters of texts other than names: the default limit of processor `validation`. */
const MAX_TEXT = 65_536;

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
  kind: 'fields',
  fields: {
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
  },
};

export const TRACE_TARGETS: Targets<TraceHeader> = {
  kind: 'fields',
  fields: {
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
  },
};

export const LOG_TARGETS: Targets<LogRecord> = {
  kind: 'fields',
  fields: {
    body: { is: 'value', get: (log) => log.body, set: (log, value) => void (log.body = value) },
    event_name: { is: 'text', isOptional: true, set: (log, text) => void (log.event_name = message(text)) },
    attributes: {
      is: 'object',
      get: (log) => log.attributes,
      set: (log, object) => void (log.attributes = object ?? {}),
    },
  },
};

/** Points share streams, so a change copies the stream; {@link SharedStreams} merges the copies. */
export const POINT_TARGETS: Targets<MetricPoint> = {
  kind: 'fields',
  fields: {
    name: {
      is: 'text',
      isOptional: false,
      set: (point, text) => void (point.stream = { ...point.stream, name: name(text) }),
    },
    unit: {
      is: 'text',
      isOptional: true,
      set: (point, text) => void (point.stream = { ...point.stream, unit: message(text) ?? '' }),
    },
    description: {
      is: 'text',
      isOptional: true,
      set: (point, text) => void (point.stream = { ...point.stream, description: message(text) ?? '' }),
    },
    attributes: {
      is: 'object',
      get: (point) => point.attributes,
      set: (point, object) => {
        point.attributes = object ?? {};
        point.labels = labelsOf(point.attributes, point.stream.origin.serviceName);
      },
    },
  },
};

/** Gives the points of a batch one stream for each metric again, after rules copied the streams. */
export class SharedStreams {
  readonly #copies = new Map<MetricStream, Map<string, MetricStream>>();

  /** @param before the stream of the point before its rules */
  share(point: MetricPoint, before: MetricStream): void {
    const { stream } = point;
    if (stream === before) return;
    const { name, unit, description } = stream;
    if (name === before.name && unit === before.unit && description === before.description) {
      point.stream = before;
      return;
    }
    let copies = this.#copies.get(before);
    if (copies === undefined) this.#copies.set(before, (copies = new Map<string, MetricStream>()));
    const key = JSON.stringify([name, unit, description]);
    const known = copies.get(key);
    if (known === undefined) copies.set(key, stream);
    else point.stream = known;
  }
}
