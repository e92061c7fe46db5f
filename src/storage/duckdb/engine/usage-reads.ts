import type { Micros } from '../../../signal/time.js';
import { monthOf, printMonth, startOfMonth } from '../../month.js';
import type { MonthlyCount, Usage } from '../../usage.js';
import type { ItemCounts } from '../changes/item-counts.js';
import type { Asker, Served } from '../reads/asker.js';

/** The contract `Usage` in the store thread. */
export class UsageReads implements Served<Usage> {
  readonly #counts: ItemCounts;

  constructor(counts: ItemCounts) {
    this.#counts = counts;
  }

  read({ tenant }: Asker, now: Micros): MonthlyCount {
    const month = monthOf(now);
    return {
      period: printMonth(month),
      used: this.#counts.used(tenant, month),
      resets_at: startOfMonth(month + 1),
    };
  }
}
