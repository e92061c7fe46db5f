import { eventNameOf } from '../../signal/logged-event.js';
import type { LogRecord } from '../../signal/log-record.js';
import { attributeText, bodyText, searchedTexts, wordsOf, type SearchedTexts } from './log-text.js';
import { parseTextQuery, testsOf } from './text-query.js';
import type { LogFilter } from '../contracts/logs.js';

/** Predicts whether a search will find a record that is not stored yet. Both parts must match. */
export interface LogMatcher {
  /** All conditions except full text; cheap to evaluate. */
  readonly fields: (record: LogRecord) => boolean;
  /** The full-text condition; null if absent. */
  readonly text: ((texts: SearchedTexts) => boolean) | null;
}

export function logMatcher(filter: LogFilter): LogMatcher {
  const { service_name, severity, trace_id, span_id, event_name, attributes = {} } = filter;
  const { start_time = -Infinity, end_time = Infinity } = filter;
  const wanted = Object.entries(attributes);
  return {
    fields: (record) =>
      (service_name === undefined || record.origin.serviceName === service_name) &&
      (severity === undefined || record.severity === severity) &&
      (trace_id === undefined || record.trace_id === trace_id) &&
      (span_id === undefined || record.span_id === span_id) &&
      (event_name === undefined || eventNameOf(record) === event_name) &&
      wanted.every(([key, value]) => hasAttribute(record, key, value)) &&
      record.timestamp >= start_time &&
      record.timestamp <= end_time,
    text: textMatcher(filter.query ?? ''),
  };
}

/** The texts that a search matches against. */
export function textsOf({ body, event_name, attributes }: LogRecord): SearchedTexts {
  return searchedTexts(bodyText(body), event_name, attributes);
}

function textMatcher(query: string): LogMatcher['text'] {
  const parsed = parseTextQuery(query);
  if (parsed === null) return () => false;
  const [wanted, unwanted] = [testsOf(parsed), testsOf(parsed.without)];
  if (wanted.length === 0 && unwanted.length === 0) return null;
  return (texts) => {
    const words = wordsOf(texts);
    const searched = { words, texts: [texts.body ?? '', texts.other ?? ''] };
    return wanted.every((isMet) => isMet(searched)) && !unwanted.some((isMet) => isMet(searched));
  };
}

function hasAttribute({ attributes }: LogRecord, key: string, value: string): boolean {
  const found = Object.hasOwn(attributes, key) ? (attributes[key] ?? null) : null;
  return found !== null && attributeText(found) === value;
}
