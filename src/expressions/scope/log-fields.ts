import { SEVERITIES, type LogRecord } from '../../signal/log-record.js';
import { anything, maybeCount, maybeObject, maybeText, maybeTime, time, word, type Fields } from './field.js';

/** Fields of a log record for expressions. */
export const LOG_FIELDS = {
  timestamp: time('', (log) => log.timestamp),
  observed_at: maybeTime('', (log) => log.observed_at),
  severity: word('', SEVERITIES, (log) => log.severity),
  severity_number: maybeCount('as sent', (log) => log.severity_number || null),
  severity_text: maybeText('as sent', (log) => log.severity_text || null),
  service_name: maybeText('', (log) => log.origin.serviceName || null),
  body: anything('a text, or any JSON value', (log) => log.body),
  trace_id: maybeText('UUID', (log) => log.trace_id),
  span_id: maybeText('UUID', (log) => log.span_id),
  event_name: maybeText('', (log) => log.event_name),
  attributes: maybeObject('', (log) => log.attributes),
} as const satisfies Fields<LogRecord>;
