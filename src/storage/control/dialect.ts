import { sql, type Kysely, type RawBuilder, type SelectQueryBuilder } from 'kysely';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import type { Tables } from './tables.js';

/** The rows of a table, in pages, in no order. */
export type RowsOf = (table: keyof Tables) => AsyncIterable<readonly Readonly<Record<string, unknown>>[]>;

/** What differs between the databases. */
export interface Dialect {
  /** The type of a text column: compared and sorted by code points, whatever language the database has. */
  readonly text: string;
  /** Microseconds since 1970, on the clock by which leases are judged. */
  now(): RawBuilder<number>;
  /** Locks the rows that are read until the end of the transaction: whoever wants to change them waits. */
  lock<DB, TB extends keyof DB, Row>(query: SelectQueryBuilder<DB, TB, Row>): SelectQueryBuilder<DB, TB, Row>;
  /**
   * The same, but rows that somebody else has locked are left out, so that several can claim side by side. Where there is only
   * one writer, no row is.
   */
  lockSkipping<DB, TB extends keyof DB, Row>(
    query: SelectQueryBuilder<DB, TB, Row>,
  ): SelectQueryBuilder<DB, TB, Row>;
  /**
   * Reads all tables as they are at one moment, while others go on to write.
   *
   * @param directory where a copy may lie until the work is done
   */
  snapshot<T>(database: Kysely<Tables>, directory: string, work: (rowsOf: RowsOf) => Promise<T>): Promise<T>;
  /** Bytes of its files. */
  size(database: Kysely<Tables>): Promise<number>;
}

/** So many milliseconds from now, on the clock by which leases are judged; before now where they are negative. */
export function fromNow(dialect: Dialect, ms: number): RawBuilder<number> {
  return sql<number>`${dialect.now()} + ${ms * MICROS_PER_MS}`;
}
