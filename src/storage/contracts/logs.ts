import type { LogRecord, Severity } from '../../signal/log-record.js';
import type { Origin } from '../../signal/origin.js';
import type { Micros } from '../../signal/time.js';
import type { PageRange, Pages } from './paging.js';

/** Filter of a log search. Absent: no restriction. */
export interface LogFilter {
  /** Full text, as `parseTextQuery` reads it. */
  readonly query?: string;
  readonly service_name?: string;
  readonly severity?: Severity;
  /** A UUID in lower case. */
  readonly trace_id?: string;
  /** A UUID in lower case. */
  readonly span_id?: string;
  /** The complete event name. */
  readonly event_name?: string;
  /** Values by key, as text. A record must have all of them. */
  readonly attributes?: Readonly<Record<string, string>>;
  /** At or after. */
  readonly start_time?: Micros;
  /** At or before. */
  readonly end_time?: Micros;
}

/** A position in a search: newest first by `timestamp`, then `id` descending. */
export type LogCursor = Pick<LogRecord, 'timestamp' | 'id'>;

export interface LogPage extends PageRange {
  /** Only records after this position are found, counted, and skipped by `offset`. */
  readonly after?: LogCursor;
  /** Whether to include the fields that the API omits by default. */
  readonly details?: boolean;
}

/** A log record as searches show it. */
export interface StoredLog extends Readonly<
  Pick<
    LogRecord,
    'id' | 'timestamp' | 'severity' | 'event_name' | 'body' | 'trace_id' | 'span_id' | 'attributes'
  >
> {
  /** Empty if not sent. */
  readonly service_name: string;
  /** Present if requested. */
  readonly details?: Readonly<
    Pick<LogRecord, 'observed_at' | 'severity_number' | 'severity_text' | 'flags'>
  > &
    Pick<Origin, 'resource' | 'scope'>;
}

/** A page of the log records that a search found. */
export interface FoundLogs {
  /** Number of matches on all pages. */
  readonly count: number;
  /** The page's records, newest first. */
  readonly items: Pages<StoredLog>;
  /** The position of the page's last record; null on the last page. */
  readonly next: LogCursor | null;
}

/** Maximum number of services listed by facets. */
export const MOST_LOG_SERVICES = 100;

/** Time buckets of facets. */
export interface LogBuckets {
  /** Width in microseconds; buckets begin at multiples of it since 1970. */
  readonly interval: Micros;
  readonly start_time: Micros;
  readonly end_time: Micros;
}

/** Counts of a search's records by severity, service and time. */
export interface LogFacets {
  readonly count: number;
  /** Ignores the filter on severity. */
  readonly severities: ReadonlyMap<Severity, number>;
  /** Ignores the filter on the service: the services with the most records, {@link MOST_LOG_SERVICES} at most, largest first. */
  readonly services: readonly { readonly name: string; readonly count: number }[];
  /** Records of all other services. */
  readonly of_other_services: number;
  /** Non-empty buckets in order. `errors`: records of severity `error` or `fatal`. */
  readonly buckets: readonly { readonly start: Micros; readonly count: number; readonly errors: number }[];
  /**
   * Null: all records are counted. Otherwise the search exceeds the scan limit, and counts before this time may be incomplete.
   */
  readonly counted_after: Micros | null;
}

/** Maximum number of groups and of attributes of {@link Logs.groups}, and of characters of a value. */
export const MOST_LOG_GROUPS = 10_000;
export const MOST_GROUP_VALUE = 256;

/** How many records of a search have the same values of some attributes. */
export interface LogGroups {
  /** The largest groups, {@link MOST_LOG_GROUPS} at most, in no order. Values are texts, or JSON of other values; null if missing. */
  readonly groups: readonly { readonly values: readonly (string | null)[]; readonly count: number }[];
  /** As in {@link LogFacets}. */
  readonly counted_after: Micros | null;
}

/**
 * Log records of users. A record is searchable, also by text, as soon as its write is acknowledged; counts are exact and consistent with
 * the page. Every method may throw a `ConsumeError` with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Logs {
  /** Newest first by `timestamp`, then `id` descending. */
  search(userId: string, filter: LogFilter, page: LogPage, abort?: AbortSignal): Promise<FoundLogs>;
  /**
   * Counts the records of a search by severity, service and time. With more than 10 000 services a count may be too low.
   *
   * @param filter its times are those of `buckets`
   */
  facets(
    userId: string,
    filter: Omit<LogFilter, 'start_time' | 'end_time'>,
    buckets: LogBuckets,
    abort?: AbortSignal,
  ): Promise<LogFacets>;
  /** Counts the records of a search by the values of some attributes. */
  groups(
    userId: string,
    filter: LogFilter,
    attributes: readonly string[],
    abort?: AbortSignal,
  ): Promise<LogGroups>;
  /** @returns the trace of a log record; null for an unknown record and for one without a trace */
  findTrace(userId: string, logId: string, abort?: AbortSignal): Promise<string | null>;
}
