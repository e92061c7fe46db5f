import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import type { Tables } from './tables.js';

/** The rows of a table, in pages, in no order. */
export type RowsOf = (table: keyof Tables) => AsyncIterable<readonly Readonly<Record<string, unknown>>[]>;

/** The differences between the databases. */
export interface Dialect {
  /** The type of a text column: compared and sorted by code points, independent of the database's locale. */
  readonly text: string;
  /** Microseconds since 1970, on the clock that decides about leases. */
  now(): RawBuilder<number>;
  /** Locks the selected rows until the end of the transaction: other writers wait. */
  lock<DB, TB extends keyof DB, Row>(query: SelectQueryBuilder<DB, TB, Row>): SelectQueryBuilder<DB, TB, Row>;
  /**
   * The same, but skips rows locked by others, so that several can claim concurrently. With a single writer, no row is skipped.
   */
  lockSkipping<DB, TB extends keyof DB, Row>(
    query: SelectQueryBuilder<DB, TB, Row>,
  ): SelectQueryBuilder<DB, TB, Row>;
  /**
   * Reads all tables from one snapshot while writes continue.
   *
   * @param directory may hold a temporary copy
   */
  snapshot<T>(database: Kysely<Tables>, directory: string, work: (rowsOf: RowsOf) => Promise<T>): Promise<T>;
  /** Copies the database into a new file. @returns rows by table @throws Error if it is not in a file */
  copy(database: Kysely<Tables>, path: string): Promise<Readonly<Record<string, number>>>;
  /** Bytes of its files. */
  size(database: Kysely<Tables>): Promise<number>;
}

/** This many milliseconds from now, on the clock that decides about leases; negative for the past. */
export function fromNow(dialect: Dialect, ms: number): RawBuilder<number> {
  return sql<number>`${dialect.now()} + ${ms * MICROS_PER_MS}`;
}
