import { DIMENSIONS } from '../../../signal/run-context.js';
import type { TraceRecord } from '../../../signal/trace.js';
import type { Redaction } from './redaction.js';
import { redactSpan } from './span.js';

/** Redacts a trace in place, with its spans. */
export function redactTrace(item: TraceRecord, redaction: Redaction): TraceRecord {
  const { trace, spans } = item;
  const { redactor, fields } = redaction;
  if (fields.has('name')) trace.agent = redactor.text(trace.agent);
  if (fields.has('error_message')) trace.error_message = redactor.nullableText(trace.error_message);
  if (fields.has('outcome')) trace.outcome = redactor.nullableText(trace.outcome);
  if (fields.has('metadata')) {
    trace.metadata = redactor.object(trace.metadata);
    for (const field of DIMENSIONS) trace[field] = redactor.nullableText(trace[field]);
  }
  for (const span of spans) redactSpan(span, redaction);
  return item;
}
