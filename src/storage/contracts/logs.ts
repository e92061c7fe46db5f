import type { LogRecord, Severity } from '../../signal/log-record.js';
import type { Origin } from '../../signal/origin.js';
import type { Micros } from '../../signal/time.js';
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

/** A place in the order of a search: newest first by `timestamp`, then `id` descending. */
export type LogCursor = Pick<LogRecord, 'timestamp' | 'id'>;

export interface LogPage extends PageRange {
  /** Only records behind this place are found, counted, and skipped by `offset`. */
  readonly after?: LogCursor;
  /** Whether to add what was sent with a record beside what the API shows by default. */
  readonly details?: boolean;
}

/** A log record as searches show it. */
export interface StoredLog extends Readonly<
  Pick<LogRecord, 'id' | 'timestamp' | 'severity' | 'body' | 'trace_id' | 'span_id' | 'attributes'>
> {
  /** Empty if not sent. */
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
  /** The place of the page's last record; null where none follows. */
  readonly next: LogCursor | null;
}

/** Most services that facets tell apart. */
export const MOST_LOG_SERVICES = 100;

/** The buckets by time that facets have. */
export interface LogBuckets {
  /** Width in microseconds; buckets begin at multiples of it since 1970. */
  readonly interval: Micros;
  readonly start_time: Micros;
  readonly end_time: Micros;
}

/** How many records of a search have what. */
export interface LogFacets {
  readonly count: number;
  /** Under all conditions but the one on the severity itself. */
  readonly severities: ReadonlyMap<Severity, number>;
  /** Likewise but the one on the service: those with the most records, of {@link MOST_LOG_SERVICES} at most, the largest first. */
  readonly services: readonly { readonly name: string; readonly count: number }[];
  /** Records of all other services. */
  readonly of_other_services: number;
  /** Those that have records, in their order. `errors`: of severity `error` or `fatal`. */
  readonly buckets: readonly { readonly start: Micros; readonly count: number; readonly errors: number }[];
  /** Null: everything is counted. Otherwise there is more than is looked through at a time, and before this moment something may be missing. */
  readonly counted_after: Micros | null;
}

/**
 * The log records of users. A record that a write has answered for is found at once, by its text as well; counts are exact, and with the
 * page as of one moment. Every method may throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Logs {
  /** Newest first by `timestamp`, then `id` descending. */
  search(userId: string, filter: LogFilter, page: LogPage, abort?: AbortSignal): Promise<FoundLogs>;
  /**
   * Counts what a search finds, by severity, service and time. Of more than 10 000 services a count may be too low.
   *
   * @param filter its times are those of `buckets`
   */
  facets(
    userId: string,
    filter: Omit<LogFilter, 'start_time' | 'end_time'>,
    buckets: LogBuckets,
    abort?: AbortSignal,
  ): Promise<LogFacets>;
  /** @returns the trace that a log record belongs to; null for an unknown record and for one without a trace */
  findTrace(userId: string, logId: string, abort?: AbortSignal): Promise<string | null>;
}
