import type { Component } from '../../component/component.js';
import type { Consumer, Passthrough, Refusal } from '../../component/consumer.js';
import { consumeUnrefused } from '../../component/keep-items.js';
import { recordsOf } from '../../signal/raw-batch.js';
import type { Batch, LogsBatch, MetricsBatch, TracesBatch } from '../../signal/batch.js';
import type { ValidationConfig } from './config.js';
import { PointRules } from './point-rules.js';
import { checkTrace, isMappedWithin, type Limits } from './rules.js';
import { ItemProblems } from '../../component/item-problems.js';
import type { JsonValue } from '../../signal/attributes.js';
import type { LogRecord } from '../../signal/log-record.js';
import { findUnstorable, HALF_SURROGATE } from './payload.js';
import { isLonger } from './text-length.js';

/** Processor `validation` for traces: see README.md. */
export function createTraceValidation(
  config: ValidationConfig,
  next: Consumer<TracesBatch>,
): Component & Consumer<TracesBatch> {
  const limits = limitsOf(config);
  const consume: Consumer<TracesBatch>['consume'] = async (batch, context) => {
    const refused = refusals(
      batch,
      (item) => checkTrace(item, limits),
      (item) => item.trace.trace_id,
    );
    return consumeUnrefused(batch, refused, next, context);
  };
  // Mapped spans are within these limits, so only the number of spans of a raw request must be checked.
  if (!isMappedWithin(limits)) return { consume };
  return {
    consume,
    // A reload may change what follows.
    get passthrough(): Passthrough | undefined {
      const behind = next.passthrough;
      return (
        behind && {
          form: behind.form,
          consume: async (batch, context) =>
            batch.request.mostSpans <= limits.maxSpansPerTrace
              ? behind.consume(batch, context)
              : consume(recordsOf(batch), context),
        }
      );
    },
  };
}

/** Processor `validation` for metrics. */
export function createPointValidation(
  config: ValidationConfig,
  next: Consumer<MetricsBatch>,
): Component & Consumer<MetricsBatch> {
  const limits = limitsOf(config);
  return {
    async consume(batch, context) {
      const rules = new PointRules(limits);
      const refused = refusals(batch, (point) => rules.check(point));
      return consumeUnrefused(batch, refused, next, context);
    },
  };
}

/** Processor `validation` for logs. */
export function createLogValidation(
  config: ValidationConfig,
  next: Consumer<LogsBatch>,
): Component & Consumer<LogsBatch> {
  const limits = limitsOf(config);
  return {
    async consume(batch, context) {
      return consumeUnrefused(
        batch,
        refusals(batch, (log) => checkLog(log, limits)),
        next,
        context,
      );
    },
  };
}

/** @param check returns the problem of an item, or undefined */
function refusals<Item>(
  batch: Batch<Item>,
  check: (item: Item) => string | undefined,
  idOf?: (item: Item) => string,
): Refusal[] {
  return batch.items.flatMap((item, index) => {
    const reason = check(item);
    if (reason === undefined) return [];
    return idOf === undefined ? { index, reason } : { index, id: idOf(item), reason };
  });
}

export function limitsOf(config: ValidationConfig): Limits {
  return {
    maxNameLength: config.max_name_length,
    maxTextLength: config.max_text_length,
    maxLogBodyLength: config.max_log_body_length,
    maxPayloadDepth: config.max_payload_depth,
    maxSpansPerTrace: config.max_spans_per_trace,
    maxLabels: config.max_labels,
    maxBuckets: config.max_buckets,
  };
}

/** @returns the first problem of a log record, with the number of further ones; undefined if it is valid */
function checkLog(log: LogRecord, limits: Limits): string | undefined {
  const problems = new ItemProblems();
  checkText(problems, '/severity_text', log.severity_text, limits.maxNameLength);
  if (log.event_name !== null) checkText(problems, '/event_name', log.event_name, limits.maxNameLength);
  checkText(problems, '/origin/resource/service.name', log.origin.serviceName, limits.maxNameLength);
  if (typeof log.body === 'string') checkText(problems, '/body', log.body, limits.maxLogBodyLength);
  else checkPayload(problems, '/body', log.body, limits.maxPayloadDepth);
  checkPayload(problems, '/attributes', log.attributes, limits.maxPayloadDepth);
  return problems.reason;
}

function checkText(problems: ItemProblems, pointer: string, text: string, max: number): void {
  if (isLonger(text, max)) problems.add(pointer, `must not be longer than ${max} characters`);
  else if (!text.isWellFormed()) problems.add(pointer, HALF_SURROGATE);
}

function checkPayload(problems: ItemProblems, pointer: string, payload: JsonValue, maxDepth: number): void {
  const found = findUnstorable(payload, maxDepth);
  if (found !== undefined) problems.add(pointer, found);
}
