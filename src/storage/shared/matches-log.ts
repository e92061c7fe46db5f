import type { LogRecord } from '../../signal/log-record.js';
import { bodyText, phrasesOf, tokensOf } from './log-text.js';
import type { LogFilter } from '../contracts/logs.js';

/** Predicts whether a search will find a record that is not stored yet. Both parts must match. */
export interface LogMatcher {
  /** All conditions except full text; cheap to evaluate. */
  readonly fields: (record: LogRecord) => boolean;
  /** The full-text condition; null if absent. */
  readonly text: ((body: string) => boolean) | null;
}

export function logMatcher(filter: LogFilter): LogMatcher {
  const phrases = phrasesOf(filter.query ?? '').map((tokens) => ` ${tokens.join(' ')} `);
  const { service_name, severity, trace_id, span_id } = filter;
  const { start_time = -Infinity, end_time = Infinity } = filter;
  return {
    fields: (record) =>
      (service_name === undefined || record.origin.serviceName === service_name) &&
      (severity === undefined || record.severity === severity) &&
      (trace_id === undefined || record.trace_id === trace_id) &&
      (span_id === undefined || record.span_id === span_id) &&
      record.timestamp >= start_time &&
      record.timestamp <= end_time,
    text: phrases.length === 0 ? null : (body) => hasAll(body, phrases),
  };
}

/** The text that a search matches against; may be empty. */
export function searchedText({ body }: LogRecord): string {
  return bodyText(body) ?? '';
}

function hasAll(text: string, phrases: readonly string[]): boolean {
  const tokens = ` ${tokensOf(text).join(' ')} `;
  return phrases.every((phrase) => tokens.includes(phrase));
}
