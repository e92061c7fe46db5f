import type { JsonObject } from '../../../signal/attributes.js';
import { DIMENSIONS } from '../../../signal/run-context.js';
import type { TraceRecord } from '../../../signal/trace.js';
import type { Redactor } from '../values/redactor.js';
import type { Redaction } from './redaction.js';
import { redactSpan, textOf } from './span.js';

/** Redacts a trace in place, with its spans. */
export function redactTrace(item: TraceRecord, redaction: Redaction): TraceRecord {
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
