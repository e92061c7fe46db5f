import type { ProcessorFactory, Settings } from '../../component/factory.js';
import { redactConfig, type RedactConfig } from './config.js';
import { problemsOf, countedNames, redactionOf } from './redaction-of.js';
import type { Component } from '../../component/component.js';
import type { Consumer } from '../../component/consumer.js';
import type { Batch } from '../../signal/batch.js';
import { type Redaction, redactOrigin, redactTexts } from './records/redaction.js';
import type { Counter, Meter } from '../../component/telemetry.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { JsonObject } from '../../signal/attributes.js';
import type { MetricPoint } from '../../signal/metric.js';
import type { Redactor } from './values/redactor.js';
import { DIMENSIONS } from '../../signal/run-context.js';
import type { TraceRecord } from '../../signal/trace.js';
import { redactSpan, textOf } from './records/span.js';

export const redactProcessor: ProcessorFactory<typeof redactConfig> = {
  kind: 'processor',
  type: 'redact',
  description: 'Removes personal data and secrets from spans, log records and metric points.',
  stability: 'beta',
  configSchema: redactConfig,
  mutatesBatch: true,
  placement: () => 'any',
  check: problemsOf,
  create: {
    traces: ({ next, ...settings }) => createRedact(redactTrace, settings, next),
    logs: ({ next, ...settings }) => createRedact(redactLog, settings, next),
    metrics: ({ next, ...settings }) => createRedact(redactPoint, settings, next),
  },
};

/** Processor `redact`: see README.md. @param redact redacts an item, in place or as a copy */
function createRedact<Item, B extends Batch<Item>>(
  redact: (item: Item, redaction: Redaction) => Item,
  settings: Settings<RedactConfig>,
  next: Consumer<B>,
): Component & Consumer<B> {
  const { config } = settings;
  const tally = new Tally(settings, countedNames(config));
  const redaction = redactionOf(config, (pattern) => {
    tally.add(pattern);
  });
  return {
    async consume(batch, context) {
      const items = batch.items.map((item) => redact(item, redaction));
      tally.report();
      return next.consume({ ...batch, items }, context);
    },
  };
}

/** Counts replacements by pattern name. */
class Tally {
  readonly #counter: Counter;
  readonly #processor: string;
  readonly #counts = new Map<string, number>();

  /** @param names all possible names */
  constructor({ id, meter }: { readonly id: string; readonly meter: Meter }, names: readonly string[]) {
    this.#processor = id;
    this.#counter = meter.counter('redact_replacements_total', {
      description: 'Text parts and values replaced by a redact processor.',
      labelNames: ['processor', 'pattern'],
    });
    for (const pattern of names) this.#counter.add(0, { processor: id, pattern });
  }

  add(pattern: string): void {
    this.#counts.set(pattern, (this.#counts.get(pattern) ?? 0) + 1);
  }

  /** Adds the pending counts to the metric and resets them. */
  report(): void {
    for (const [pattern, count] of this.#counts)
      this.#counter.add(count, { processor: this.#processor, pattern });
    this.#counts.clear();
  }
}

/** Redacts a log record in place. */
function redactLog(log: LogRecord, redaction: Redaction): LogRecord {
  const { redactor, fields } = redaction;
  if (fields.has('body')) log.body = redactor.value(log.body);
  if (!fields.has('attributes')) return log;
  log.attributes = redactor.object(log.attributes);
  log.event_name = redactor.nullableText(log.event_name);
  log.severity_text = redactor.text(log.severity_text);
  log.origin = redactOrigin(log.origin, redaction);
  return log;
}

/** A metric point, redacted: its metric and attributes, not its values. */
function redactPoint(point: MetricPoint, redaction: Redaction): MetricPoint {
  const { redactor, fields } = redaction;
  if (!fields.has('attributes')) return point;
  const origin = redactOrigin(point.stream.origin, redaction);
  const stream = origin === point.stream.origin ? point.stream : { ...point.stream, origin };
  return {
    ...point,
    stream,
    labels: redactTexts(point.labels, redactor),
    attributes: redactor.object(point.attributes),
    exemplars: point.exemplars?.map((exemplar) => redactExemplar(exemplar, redactor)) ?? null,
  };
}

function redactExemplar(exemplar: JsonObject, redactor: Redactor): JsonObject {
  const attributes = exemplar['filtered_attributes'];
  if (typeof attributes !== 'object' || attributes === null || Array.isArray(attributes)) return exemplar;
  return { ...exemplar, filtered_attributes: redactor.object(attributes) };
}

/** Redacts a trace in place, with its spans. */
function redactTrace(item: TraceRecord, redaction: Redaction): TraceRecord {
  const { trace, spans } = item;
  const { redactor, fields } = redaction;
  if (fields.has('name')) trace.agent = redactor.text(trace.agent);
  if (fields.has('error_message')) trace.error_message = redactor.nullableText(trace.error_message);
  if (fields.has('outcome')) trace.outcome = redactor.nullableText(trace.outcome);
  if (fields.has('metadata')) {
    trace.metadata = redactor.object(trace.metadata);
    redactDimensions(trace, redactor);
  }
  for (const span of spans) redactSpan(span, redaction);
  return item;
}

/** As an object, in which rules about keys find them. */
function redactDimensions(trace: TraceRecord['trace'], redactor: Redactor): void {
  const given: JsonObject = {};
  for (const field of DIMENSIONS) if (trace[field] !== null) given[field] = trace[field];
  const redacted = redactor.object(given);
  if (redacted === given) return;
  for (const field of DIMENSIONS) trace[field] = textOf(redacted[field]);
}
