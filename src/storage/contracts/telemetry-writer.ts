// Writes of telemetry, their change feed, and what counts for quotas and storage limits.

import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import type { LogsBatch, MetricsBatch, TracesBatch } from '../../signal/batch.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { Micros } from '../../signal/time.js';
import type { Accounts } from './accounts.js';
import type { SettingsBoard } from './coordination.js';

/**
 * Takes telemetry in. Each call resolves after the commit: what it accepted survives the end of the process, and is read by whoever asks
 * afterwards. What is new of a batch is counted and what depends on stored rows is settled in the same commit, so that no answer shows one
 * without the other. What is written is read before the call returns: the caller may change or drop the batch while it waits.
 *
 * The writes of a user take effect in the order of their calls. Only by quotas a store that other processes write to, too, judges what comes
 * at the same time in whichever order, and may tell some of it to wait for the rest (`overloaded`). Whoever did not get an answer sends the
 * same again: spans and runs of it that were stored change nothing and are counted once; points and log records are stored twice.
 *
 * Every method may throw a `ConsumeError`: `storage_unavailable` or `overloaded` (retryable; nothing of the batch was stored, or, where the
 * answer was lost, all of it), and `quota_exceeded` with how the quota stands (nothing of the batch was stored).
 */
export interface TelemetryWriter {
  /** Stores what is new of a batch, by the rules of `src/runs`. */
  traces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt>;
  /** Points of a new metric are refused, one by one, where the user has too many. */
  metrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt>;
  logs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt>;
}

/** Somebody who wants to know at once what a user's writes bring. Neither method may throw or take long: writes wait for them. */
export interface ArrivalListener {
  /** Runs that were written or judged, after the commit. @param traceIds in lower case */
  readonly traces?: (traceIds: ReadonlySet<string>) => void;
  /**
   * Log records before they are stored, which are gone afterwards: what is wanted of them has to be kept.
   *
   * @returns called after the commit; never where it fails
   */
  readonly logs?: (records: readonly LogRecord[]) => (() => void) | undefined;
}

/**
 * Tells of writes through this process as they come, and of nothing that came before or through another one: whoever must know
 * everything asks the contracts of what is stored. What was told is read by whoever asks afterwards. While nobody listens to a user,
 * that user's writes cost nothing more.
 */
export interface ChangeFeed {
  /** @returns a function that ends it */
  watch(userId: string, listener: ArrivalListener): () => void;
}

/** The items of a user that were counted in a month. */
export interface MonthlyCount {
  /** A UTC month, `2026-11`. */
  readonly period: string;
  readonly used: number;
  /** The first moment of the next month. */
  readonly resets_at: Micros;
}

/** The items of a user that were counted in a UTC day. */
export interface DailyCount {
  /** `2026-11-26` */
  readonly date: string;
  /** Null: the store did not count by day yet. */
  readonly events: number | null;
}

/**
 * What counts for users' quotas. A count is exact as soon as the write that it counts has been answered, and never sinks: repeats are not
 * counted, and what retention removes stays counted. May throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Usage {
  /** Of the month of `now`. */
  read(userId: string, now: Micros): Promise<MonthlyCount>;
  /** Of as many days as asked for, up to that of `now`, the oldest first. @param days at least 1 */
  days(userId: string, now: Micros, days: number): Promise<readonly DailyCount[]>;
}

const MICROS_PER_MS = 1000;
const MICROS_PER_DAY = 86_400_000 * MICROS_PER_MS;
const MONTHS = 12;

/** The UTC calendar month of a moment, as `year * 12 + month`, the month from 0. */
export function monthOf(at: Micros): number {
  const date = new Date(at / MICROS_PER_MS);
  return date.getUTCFullYear() * MONTHS + date.getUTCMonth();
}

/** The first moment of a month. */
export function startOfMonth(month: number): Micros {
  return Date.UTC(Math.floor(month / MONTHS), month % MONTHS, 1) * MICROS_PER_MS;
}

/** The UTC day of a moment, as days since 1970. */
export function dayOf(at: Micros): number {
  return Math.floor(at / MICROS_PER_DAY);
}

/** `2026-11-26`. @param day as {@link dayOf} gives it */
export function formatDay(day: number): string {
  return new Date((day * MICROS_PER_DAY) / MICROS_PER_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** `2026-11` */
export function formatMonth(month: number): string {
  return new Date(startOfMonth(month) / MICROS_PER_MS).toISOString().slice(0, 'YYYY-MM'.length);
}

/**
 * What a user may store in a month: its own limit, else the smallest that processes hold to which count in this store.
 *
 * @param store the identity of the telemetry store
 * @returns null for no limit
 * @throws ConsumeError `storage_unavailable`
 */
export async function monthlyLimit(
  {
    accounts,
    terms,
  }: { readonly accounts: Pick<Accounts, 'findUser'>; readonly terms: Pick<SettingsBoard, 'all'> },
  userId: string,
  store: string,
  now: Micros,
): Promise<number | null> {
  const [user, published] = await Promise.all([accounts.findUser(userId), terms.all(now)]);
  const own = user?.monthly_event_limit ?? null;
  const limits = published.flatMap(({ quota }) => (quota?.store === store ? quota.monthly_events : []));
  return smallest(own === null ? limits : [own]);
}

/** Of limits that all hold. 0 is none. @returns null where none holds */
export function smallest(limits: readonly number[]): number | null {
  const holding = limits.filter((limit) => limit > 0);
  return holding.length === 0 ? null : Math.min(...holding);
}

/** How much of its storage a user has used. */
export interface StorageUse {
  /** Null: not measured yet, because measuring failed. */
  readonly used: number | null;
  /** Null: no limit. */
  readonly limit: number | null;
}

/** What users store, in telemetry and control, and may store. Every method may throw a `ConsumeError` with `storage_unavailable`. */
export interface StoredBytes {
  read(userId: string): Promise<StorageUse>;
  /**
   * For whoever writes something else than signals. Counts it until the next measurement.
   *
   * @param bytes that are going to be written
   * @throws ConsumeError `storage_exceeded` where the user has reached the limit
   */
  take(userId: string, bytes: number): Promise<void>;
}

/** Bytes of a row beside its texts, about the same in every engine. */
export const ROW_BYTES = {
  span: 256,
  run: 256,
  point: 64,
  log: 128,
  link: 64,
  prompt: 256,
  view: 256,
  alert: 256,
} as const;
