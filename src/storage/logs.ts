import type { LogRecord, Severity } from '../signal/log-record.js';
import type { Origin } from '../signal/origin.js';
import type { Micros } from '../signal/time.js';
import type { PageRange, Pages } from './paging.js';

/** Which log records a search finds. Absent: no restriction. */
export interface LogFilter {
  /** Full text, as `log-text.ts` reads it. */
  readonly query?: string;
  readonly service_name?: string;
  readonly severity?: Severity;
  /** A UUID in lower case. */
  readonly trace_id?: string;
  /** A UUID in lower case. */
  readonly span_id?: string;
  /** At or after. */
  readonly start_time?: Micros;
  /** At or before. */
  readonly end_time?: Micros;
}

export interface LogPage extends PageRange {
  /** Whether to add what was sent with a record beside what the API shows by default. */
  readonly details?: boolean;
}

/** A log record as searches show it. */
export interface StoredLog extends Readonly<
  Pick<LogRecord, 'id' | 'timestamp' | 'severity' | 'body' | 'trace_id' | 'span_id' | 'attributes'>
> {
  /** Empty where the sender did not say. */
  readonly service_name: string;
  /** Where they were asked for. */
  readonly details?: Readonly<
    Pick<LogRecord, 'observed_at' | 'severity_number' | 'severity_text' | 'flags' | 'event_name'>
  > &
    Pick<Origin, 'resource' | 'scope'>;
}

/** A page of the log records that a search found. */
export interface FoundLogs {
  /** All that were found, on any page. */
  readonly count: number;
  /** The page's records, newest first. */
  readonly items: Pages<StoredLog>;
}

/**
 * The log records of users. A record that a write has answered for is found at once, by its text as well; counts are exact, and with the
 * page as of one moment. Every method may throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Logs {
  /** Newest first by `timestamp`, then `id` descending. */
  search(userId: string, filter: LogFilter, page: LogPage, abort?: AbortSignal): Promise<FoundLogs>;
  /** @returns the trace that a log record belongs to; null for an unknown record and for one without a trace */
  findTrace(userId: string, logId: string, abort?: AbortSignal): Promise<string | null>;
}
