import type { LogRecord } from '../../../signal/log-record.js';
import { redactOrigin, type Redaction } from './redaction.js';

/** Redacts a log record in place. */
export function redactLog(log: LogRecord, redaction: Redaction): LogRecord {
  const { redactor, fields } = redaction;
  if (fields.has('body')) log.body = redactor.value(log.body);
  if (!fields.has('attributes')) return log;
  log.attributes = redactor.object(log.attributes);
  log.event_name = redactor.nullableText(log.event_name);
  log.severity_text = redactor.text(log.severity_text);
  log.origin = redactOrigin(log.origin, redaction);
  return log;
}
