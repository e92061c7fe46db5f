import { countCalled, hourOf } from '../../../signal/trace-map.js';
import type { IncomingBatch } from '../../incoming/incoming-batch.js';
import { calledSpansAt, startedAt } from '../../incoming/incoming-rows.js';
import type { Rows } from '../changes/rows.js';
import type { HourSums } from '../../../signal/hour-sums.js';
import type { Services } from './services.js';
import { sumRows, TenantHours } from './tenant-hours.js';

/** What the commit under way changes in the sums of the service map. */
export class MapChanges {
  readonly #services: Services;
  readonly #hours = new TenantHours();

  constructor(services: Services) {
    this.#services = services;
  }

  /** Adds what a whole trace contributes, or takes it away. */
  add(tenant: number, hour: number, sums: HourSums, sign: 1 | -1): void {
    this.#hours.sums(tenant, hour).add(sums, sign);
  }

  /**
   * Adds what a trace of a batch contributes that is new as a whole.
   *
   * @param agent the name of its agent
   */
  addWhole(batch: IncomingBatch, trace: number, agent: string): void {
    const { tenant } = batch;
    const sums = this.#hours.sums(tenant, hourOf(startedAt(batch, trace)));
    countCalled(this.#services.number(tenant, agent), calledSpansAt(batch, trace), sums);
  }

  rows(seq: number): Rows[] {
    return sumRows(seq, this.#hours.parts());
  }

  clear(): void {
    this.#hours.clear();
  }
}
