import type { Micros } from '../../../signal/time.js';
import {
  type DailyCount,
  dayOf,
  type MonthlyCount,
  monthOf,
  formatDay,
  formatMonth,
  startOfMonth,
  type Usage,
} from '../../contracts/telemetry-writer.js';
import { USAGE } from '../../schema/sum-tables.js';
import type { ItemCounts } from '../write/item-counts.js';
import type { ReadContext, Served } from '../segments/read-context.js';
import { relation } from '../segments/relation.js';

/** The contract `Usage` in the store thread. */
export class UsageReads implements Served<Usage> {
  readonly #counts: ItemCounts;

  constructor(counts: ItemCounts) {
    this.#counts = counts;
  }

  read({ tenant }: ReadContext, now: Micros): MonthlyCount {
    const month = monthOf(now);
    return {
      period: formatMonth(month),
      used: this.#counts.used(tenant, month),
      resets_at: startOfMonth(month + 1),
    };
  }

  async days({ tenant, short }: ReadContext, now: Micros, days: number): Promise<readonly DailyCount[]> {
    const last = dayOf(now);
    const first = last - days + 1;
    // The column `month` holds days as negative numbers. Reads the requested days and the first day that was counted.
    const [ofDays, [began]] = await short(async (connection, capture) => [
      await connection.rows(
        `SELECT -month AS day, sum(events)::BIGINT AS events
         FROM ${relation(capture, USAGE, `tenant = ${tenant} AND month BETWEEN ${-last} AND ${-first}`)} GROUP BY month`,
      ),
      await connection.rows(`SELECT min(-month) AS day FROM ${relation(capture, USAGE, 'month < 0')}`),
    ]);
    const events = new Map(ofDays.map(({ day, events }) => [Number(day), Number(events)]));
    const start = began?.day === undefined || began.day === null ? Infinity : Number(began.day);
    return Array.from({ length: days }, (_, at) => {
      const day = first + at;
      return { date: formatDay(day), events: day < start ? null : (events.get(day) ?? 0) };
    });
  }
}
