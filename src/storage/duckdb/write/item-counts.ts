import type { QuotaUsage } from '../../../component/consumer.js';
import { dayOf, monthOf, startOfMonth } from '../../contracts/telemetry-writer.js';
import { quotaExceeded } from '../../contracts/errors.js';
import { USAGE } from '../../schema/sum-tables.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { weightOf, type Change } from './change.js';
import type { Charge } from '../../incoming/encode-traces.js';
import { objectRows, type Rows } from './rows.js';

/**
 * The number of items of every user and month that count towards a quota: kept in memory, and written in the transaction of the
 * counted rows.
 */
export class ItemCounts {
  readonly #used = new Map<string, number>();
  /** Items added by the current commit. */
  readonly #added = new Map<string, { readonly tenant: number; readonly month: number; items: number }>();
  /** The same by day; only written, not kept in memory. */
  readonly #addedDays = new Map<string, { readonly tenant: number; readonly day: number; items: number }>();

  async load(connection: Connection, capture: Capture): Promise<void> {
    const rows = await connection.rows(
      `SELECT tenant, month, sum(events)::BIGINT AS events FROM ${relation(capture, USAGE, 'month >= 0')} GROUP BY tenant, month`,
    );
    for (const { tenant, month, events } of rows) {
      this.#used.set(keyOf(Number(tenant), Number(month)), Number(events));
    }
  }

  /** Items of a month, without those of the current commit. */
  used(tenant: number, month: number): number {
    return this.#used.get(keyOf(tenant, month)) ?? 0;
  }

  /**
   * Adds items to the current commit.
   *
   * @throws ConsumeError `quota_exceeded` if they exceed the limit; the commit must then be rolled back
   */
  add(counted: Charge, items: number): void {
    if (items === 0) return;
    const { tenant, limit } = counted;
    const month = monthOf(counted.at);
    const key = keyOf(tenant, month);
    const added = this.#added.get(key);
    const before = this.used(tenant, month) + (added?.items ?? 0);
    if (before + items > limit) throw quotaExceeded(standing(counted, before), items, counted.at);
    if (added === undefined) this.#added.set(key, { tenant, month, items });
    else added.items += items;
    const day = dayOf(counted.at);
    const addedThen = this.#addedDays.get(keyOf(tenant, day));
    if (addedThen === undefined) this.#addedDays.set(keyOf(tenant, day), { tenant, day, items });
    else addedThen.items += items;
  }

  rows(seq: number): Rows[] {
    const added = [
      ...this.#added.values(),
      ...[...this.#addedDays.values()].map(({ tenant, day, items }) => ({ tenant, month: -day, items })),
    ];
    return objectRows(
      USAGE,
      added.map(({ tenant, month, items }) => ({ seq, tenant, month, events: items })),
    );
  }

  committed(): void {
    for (const [key, { items }] of this.#added) this.#used.set(key, (this.#used.get(key) ?? 0) + items);
    this.rollback();
  }

  rollback(): void {
    this.#added.clear();
    this.#addedDays.clear();
  }
}

/**
 * Ensures that a group of changes does not exceed a limit together: a change that might is committed alone, so that only that
 * change is refused.
 */
export class Allowances {
  readonly #counts: ItemCounts;
  readonly #most = new Map<string, number>();

  constructor(counts: ItemCounts) {
    this.#counts = counts;
  }

  /** Adds a change to the group. @returns false if it may exceed its limit together with earlier changes */
  take(change: Change): boolean {
    const counted = countedIn(change);
    if (counted === null || counted.limit === Infinity) return true;
    const month = monthOf(counted.at);
    const key = keyOf(counted.tenant, month);
    // A trace without spans counts as one item.
    const most = (this.#most.get(key) ?? 0) + weightOf(change);
    this.#most.set(key, most);
    return this.#counts.used(counted.tenant, month) + most <= counted.limit;
  }
}

export function countedIn(change: Change): Charge | null {
  if (change.kind === 'batch') return change.batch.counted;
  return change.kind === 'append' ? change.append.counted : null;
}

/** The usage of a quota; undefined if there is no limit. */
export function quotaUsage(counted: Charge, used: number): QuotaUsage | undefined {
  return counted.limit === Infinity ? undefined : standing(counted, used);
}

function standing({ at, limit }: Charge, used: number): QuotaUsage {
  return { limit, used, resets_at: startOfMonth(monthOf(at) + 1) };
}

function keyOf(tenant: number, month: number): string {
  return `${tenant}/${month}`;
}
