import type { Micros } from '../../../signal/time.js';
import { MICROS_PER_DAY } from '../../../signal/time-units.js';
import type { ClickHouseColumn } from './table.js';

/**
  * The UTC day of a row in days since 1970, by which tables are partitioned and retention removes rows: the day of its time, clamped to
  * {@link EARLIEST} days before and {@link LATEST} days after its arrival, to bound the number of parts that a sender can create.
 */
export const DAY: ClickHouseColumn = { name: 'day', type: 'Int32 CODEC(Delta, ZSTD(1))' };

/** The time of a row, for people and dashboards that query ClickHouse directly; not used by Jackdaw. */
export const TIME_COLUMN: ClickHouseColumn = {
  name: 'time',
  type: "DateTime64(6, 'UTC') ALIAS fromUnixTimestamp64Micro(timestamp, 'UTC')",
};

const EARLIEST = 1100;
const LATEST = 2;

/** ClickHouse refuses an insert into more than 100 partitions. */
export const MOST_DAYS_OF_AN_INSERT = 100;

/** @param arrived arrival time of the row */
export function dayOf(time: Micros, arrived: Micros): number {
  const today = Math.floor(arrived / MICROS_PER_DAY);
  return Math.min(Math.max(Math.floor(time / MICROS_PER_DAY), today - EARLIEST), today + LATEST);
}
