// Writes of telemetry, their change feed, and usage for quotas and storage limits.

import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import type { Batch, LogsBatch, MetricsBatch, TelemetrySignal, TracesBatch } from '../../signal/batch.js';
import type { LogRecord } from '../../signal/log-record.js';
import type { Micros } from '../../signal/time.js';
import type { Accounts } from './accounts.js';
import type { SettingsBoard } from './coordination.js';

/**
 * Writes telemetry. Each call resolves after the commit: accepted items are durable and visible to later reads. New items are counted,
 * and state derived from stored rows is updated, in the same commit, so no read sees one without the other. The batch is read before the
 * call returns: the caller may change or drop it afterwards.
 *
 * The writes of a user take effect in the order of their calls. For quotas only, a store shared with other processes applies concurrent
 * writes in any order, and may reject some of them as `overloaded` until others finish. A client without a response repeats the request:
 * spans and runs already stored change nothing and are counted once; points and log records are stored twice.
 *
 * Every method may throw a `ConsumeError`: `storage_unavailable` or `overloaded` (retryable; nothing of the batch was stored or, if the
 * response was lost, all of it), and `quota_exceeded` with the state of the quota (nothing of the batch was stored).
 */
export interface TelemetryWriter {
  /** Stores the new items of a batch, by the rules of `src/runs`. */
  traces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt>;
  /** Rejects each point of a new metric if the user's metric limit is reached. */
  metrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt>;
  logs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt>;
}

/** A batch that another thread has encoded into columns, with the buffers to transfer. */
export interface EncodedBatch {
  readonly tenant: string;
  readonly quota?: NonNullable<Batch<unknown>['quota']>;
  /** Number of items. */
  readonly items: number;
  /** What the {@link WriteEncoder} of the store returns for the signal. */
  readonly columns: object;
  readonly buffers: readonly ArrayBuffer[];
  /** For listeners of log records: the first ones, and the number of further ones. */
  readonly logs?: { readonly records: LogRecord[]; readonly unseen: number };
}

/** Encodes batches in an intake thread. */
export interface WriteEncoder {
  traces(batch: TracesBatch, context: ConsumeContext): EncodedBatch;
  metrics(batch: MetricsBatch, context: ConsumeContext): EncodedBatch;
  logs(batch: LogsBatch, context: ConsumeContext): EncodedBatch;
}

/** Writes of batches that intake threads have encoded, otherwise as `TelemetryWriter`. Buffers are taken over. */
export interface EncodedWrites extends Readonly<
  Partial<Record<TelemetrySignal, (batch: EncodedBatch, context: ConsumeContext) => Promise<Receipt>>>
> {
  /** The encoder of its batches. */
  readonly engine: 'duckdb' | 'clickhouse';
  /**
   * Calls back with the users whose log records have listeners, now and after each change.
   *
   * @returns a function that ends it
   */
  watchLogListeners(changed: (userIds: readonly string[]) => void): () => void;
}

/** Whether a store takes batches that intake threads have encoded. */
export function takesEncoded(store: object): store is { readonly encodedWrites: EncodedWrites } {
  return 'encodedWrites' in store;
}

/** A listener for a user's writes. Neither method may throw or take long: writes wait for them. */
export interface ArrivalListener {
  /** Called after the commit, with the runs that were written or classified. @param traceIds in lower case */
  readonly traces?: (traceIds: ReadonlySet<string>) => void;
  /**
   * Called with log records before they are stored; they are dropped afterwards, so the listener must copy what it needs.
   *
   * @param unseen number of further records, which the thread that encoded a large batch left out
   * @returns called after the commit; not called if it fails
   */
  readonly logs?: (records: readonly LogRecord[], unseen: number) => (() => void) | undefined;
}

/**
 * Change feed of writes through this process; it excludes earlier writes and those of other processes, so callers that need everything
 * must read the stored data. Reported data is visible to later reads. Users without listeners cause no cost.
 */
export interface ChangeFeed {
  /** @returns a function that stops watching */
  watch(userId: string, listener: ArrivalListener): () => void;
}

/** A user's counted items in a month. */
export interface MonthlyCount {
  /** A UTC month, `2026-11`. */
  readonly period: string;
  readonly used: number;
  /** The start of the next month. */
  readonly resets_at: Micros;
}

/** A user's counted items in a UTC day. */
export interface DailyCount {
  /** `2026-11-26` */
  readonly date: string;
  /** Null: the store did not yet count by day. */
  readonly events: number | null;
}

/**
 * Usage for users' quotas. A count is exact once the write has been acknowledged, and never decreases: repeats are not counted, and
 * items removed by retention stay counted. May throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Usage {
  /** For the month of `now`. */
  read(userId: string, now: Micros): Promise<MonthlyCount>;
  /** For this many days, up to the day of `now`, oldest first. @param days at least 1 */
  days(userId: string, now: Micros, days: number): Promise<readonly DailyCount[]>;
}

const MICROS_PER_MS = 1000;
const MICROS_PER_DAY = 86_400_000 * MICROS_PER_MS;
const MONTHS = 12;

/** The UTC calendar month of a time, as `year * 12 + month`, with January as month 0. */
export function monthOf(at: Micros): number {
  const date = new Date(at / MICROS_PER_MS);
  return date.getUTCFullYear() * MONTHS + date.getUTCMonth();
}

/** The start of a month. */
export function startOfMonth(month: number): Micros {
  return Date.UTC(Math.floor(month / MONTHS), month % MONTHS, 1) * MICROS_PER_MS;
}

/** The UTC day of a time, as days since 1970. */
export function dayOf(at: Micros): number {
  return Math.floor(at / MICROS_PER_DAY);
}

/** `2026-11-26`. @param day as returned by {@link dayOf} */
export function formatDay(day: number): string {
  return new Date((day * MICROS_PER_DAY) / MICROS_PER_MS).toISOString().slice(0, 'YYYY-MM-DD'.length);
}

/** `2026-11` */
export function formatMonth(month: number): string {
  return new Date(startOfMonth(month) / MICROS_PER_MS).toISOString().slice(0, 'YYYY-MM'.length);
}

/**
 * A user's monthly limit: its own, or else the smallest default of the processes that count in this store.
 *
 * @param store the identity of the telemetry store
 * @returns null for no limit
 * @throws ConsumeError `storage_unavailable`
 */
export async function monthlyLimit(
  {
    accounts,
    settings,
  }: { readonly accounts: Pick<Accounts, 'findUser'>; readonly settings: Pick<SettingsBoard, 'all'> },
  userId: string,
  store: string,
  now: Micros,
): Promise<number | null> {
  const [user, published] = await Promise.all([accounts.findUser(userId), settings.all(now)]);
  const own = user?.monthly_event_limit ?? null;
  const limits = published.flatMap(({ quota }) => (quota?.store === store ? quota.monthly_events : []));
  return smallest(own === null ? limits : [own]);
}

/** The smallest limit; 0 means no limit. @returns null if there is no limit */
export function smallest(limits: readonly number[]): number | null {
  const positive = limits.filter((limit) => limit > 0);
  return positive.length === 0 ? null : Math.min(...positive);
}

/** A user's storage usage. */
export interface StorageUse {
  /** Null: unknown, because measuring failed. */
  readonly used: number | null;
  /** Null: no limit. */
  readonly limit: number | null;
}

/**
 * Storage usage and limits of users, for telemetry and control data. Every method may throw a `ConsumeError` with `storage_unavailable`.
 */
export interface StoredBytes {
  read(userId: string): Promise<StorageUse>;
  /**
   * For writers of data other than signals. Adds the bytes to the user's usage until the next measurement.
   *
   * @param bytes about to be written
   * @throws ConsumeError `storage_exceeded` if the user has reached the limit
   */
  take(userId: string, bytes: number): Promise<void>;
}

/** Bytes of a row without its texts, about the same in every engine. */
export const ROW_BYTES = {
  span: 256,
  run: 256,
  point: 64,
  log: 128,
  link: 64,
  score: 128,
  prompt: 256,
  view: 256,
  alert: 256,
} as const;
