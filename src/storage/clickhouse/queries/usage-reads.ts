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
import type { WriteIntentLog } from '../../contracts/coordination.js';

export interface UsageReadParts {
  readonly book: Pick<WriteIntentLog, 'months' | 'days' | 'firstDay'>;
  /** The identity of the store. */
  readonly store: string;
  readonly tenantOf: (userId: string) => Promise<number>;
}

/** The contract `Usage`, from the counts of the write-intent log. */
export class UsageReads implements Usage {
  readonly #parts: () => UsageReadParts;

  /** @param parts called on each read */
  constructor(parts: () => UsageReadParts) {
    this.#parts = parts;
  }

  async read(userId: string, now: Micros): Promise<MonthlyCount> {
    const { book, store, tenantOf } = this.#parts();
    const month = monthOf(now);
    const [counted] = await book.months(store, await tenantOf(userId), [month]);
    return { period: formatMonth(month), used: counted?.items ?? 0, resets_at: startOfMonth(month + 1) };
  }

  async days(userId: string, now: Micros, days: number): Promise<readonly DailyCount[]> {
    const { book, store, tenantOf } = this.#parts();
    const last = dayOf(now);
    const first = last - days + 1;
    const counted = await book.days(store, await tenantOf(userId), first, last);
    const began = (await book.firstDay(store)) ?? Infinity;
    const items = new Map(counted.map((day) => [day.period, day.items]));
    return Array.from({ length: days }, (_, at) => {
      const day = first + at;
      return { date: formatDay(day), events: day < began ? null : (items.get(day) ?? 0) };
    });
  }
}
