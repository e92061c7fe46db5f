import { MICROS_PER_DAY, MICROS_PER_HOUR } from '../../../signal/time-units.js';
import type { Connection } from '../client/connection.js';
import type { BinaryRow } from '../client/row-binary.js';
import { MOST_DAYS_OF_AN_INSERT } from '../tables/days.js';
import { HOUR } from '../tables/run-tables.js';
import type { ClickHouseTable } from '../tables/table.js';
import type { Inserts } from './write-runs.js';

const HOURS_A_DAY = MICROS_PER_DAY / MICROS_PER_HOUR;

/**
 * Inserts rows in one or more statements, because ClickHouse limits the partitions of an insert. For tables whose rows replace those of the
 * same key.
 */
export function insertsBy(connection: Pick<Connection, 'insert'>): Inserts {
  return {
    async insert(table, rows) {
      for (const part of partsOf(table, rows)) await connection.insert(table.name, table.columns, part, null);
    },
  };
}

function partsOf(table: ClickHouseTable, rows: readonly BinaryRow[]): (readonly BinaryRow[])[] {
  if (!table.columns.includes(HOUR)) return [rows];
  const byDay = new Map<number, BinaryRow[]>();
  for (const row of rows) {
    const day = Math.floor(Number(row.fields[HOUR.name]) / HOURS_A_DAY);
    const others = byDay.get(day);
    if (others === undefined) byDay.set(day, [row]);
    else others.push(row);
  }
  if (byDay.size <= MOST_DAYS_OF_AN_INSERT) return [rows];
  const parts: BinaryRow[][] = [];
  let days = MOST_DAYS_OF_AN_INSERT;
  for (const [, ofDay] of [...byDay].sort(([a], [b]) => a - b)) {
    const last = parts.at(-1);
    if (last === undefined || days === MOST_DAYS_OF_AN_INSERT) {
      parts.push([...ofDay]);
      days = 1;
    } else {
      last.push(...ofDay);
      days++;
    }
  }
  return parts;
}
