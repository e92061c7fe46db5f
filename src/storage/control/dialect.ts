import type { RawBuilder, SelectQueryBuilder } from 'kysely';

/** What differs between the databases. */
export interface Dialect {
  /** The type of a column of texts: compared and sorted by code points, whatever language the database has. */
  readonly text: string;
  /** Microseconds since 1970, by the clock that leases are judged by. */
  now(): RawBuilder<number>;
  /** Nobody else changes the rows that are read, until the end of the transaction: who tries waits. */
  lock<DB, TB extends keyof DB, Row>(query: SelectQueryBuilder<DB, TB, Row>): SelectQueryBuilder<DB, TB, Row>;
  /** Likewise, leaving out rows that somebody else has locked: several claim side by side. Where there is one writer, none are. */
  lockSkipping<DB, TB extends keyof DB, Row>(
    query: SelectQueryBuilder<DB, TB, Row>,
  ): SelectQueryBuilder<DB, TB, Row>;
}
