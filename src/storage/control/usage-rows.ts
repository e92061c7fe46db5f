import type { Kysely, Transaction } from 'kysely';
import type { Micros } from '../../signal/time.js';
import { dayOf, monthOf } from '../contracts/telemetry-writer.js';
import type { ChargedItems } from '../contracts/coordination.js';
import type { Tables } from './tables.js';

/** Each takes five of SQLite's 32,766 parameters per statement. */
const ROWS_A_STATEMENT = 5000;

/** A change of a user's usage. */
export interface Gain {
  readonly tenant: number;
  readonly at: Micros;
  /** Items counted. */
  readonly settled: number;
  /** Items charged for a write; negative when refunded. */
  readonly charged: number;
}

/** A user's usage in a month. */
export interface Standing {
  readonly settled: number;
  readonly charged: number;
}

/** A user's period, with the sum of its changes. */
interface PeriodGain {
  readonly tenant: number;
  readonly period: number;
  settled: number;
  charged: number;
}

/**
 * Adds to months of users, and locks their rows until the end of the transaction, in a fixed order to avoid deadlocks.
 *
 * @returns their usage now, by {@link monthKey}
 */
export async function addToMonths(
  tx: Transaction<Tables>,
  store: string,
  gains: readonly Gain[],
): Promise<ReadonlyMap<string, Standing>> {
  const standings = new Map<string, Standing>();
  for (const some of statements(byPeriod(gains, monthOf))) {
    const rows = await tx
      .insertInto('usage_months')
      .values(
        some.map(({ tenant, period, settled, charged }) => ({
          store,
          tenant,
          month: period,
          settled,
          charged,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['store', 'tenant', 'month']).doUpdateSet((row) => ({
          settled: row('usage_months.settled', '+', row.ref('excluded.settled')),
          charged: row('usage_months.charged', '+', row.ref('excluded.charged')),
        })),
      )
      .returning(['tenant', 'month', 'settled', 'charged'])
      .execute();
    for (const { tenant, month, settled, charged } of rows)
      standings.set(keyOf(tenant, month), { settled, charged });
  }
  return standings;
}

/** Adds counted items to days of users, in the same way. */
export async function addToDays(
  tx: Transaction<Tables>,
  store: string,
  gains: readonly Gain[],
): Promise<void> {
  const counted = byPeriod(gains, dayOf).filter(({ settled }) => settled > 0);
  for (const some of statements(counted))
    await tx
      .insertInto('usage_days')
      .values(some.map(({ tenant, period, settled }) => ({ store, tenant, day: period, settled })))
      .onConflict((conflict) =>
        conflict.columns(['store', 'tenant', 'day']).doUpdateSet((row) => ({
          settled: row('usage_days.settled', '+', row.ref('excluded.settled')),
        })),
      )
      .execute();
}

/** The key of the results of {@link addToMonths}. */
export function monthKey({ tenant, at }: { readonly tenant: number; readonly at: Micros }): string {
  return keyOf(tenant, monthOf(at));
}

function keyOf(tenant: number, period: number): string {
  return `${String(tenant)} ${String(period)}`;
}

/** The sums by period, in the order of locking. */
function byPeriod(gains: readonly Gain[], periodOf: (at: Micros) => number): readonly PeriodGain[] {
  const sums = new Map<string, PeriodGain>();
  for (const { tenant, at, settled, charged } of gains) {
    const period = periodOf(at);
    const key = keyOf(tenant, period);
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { tenant, period, settled, charged });
    else {
      sum.settled += settled;
      sum.charged += charged;
    }
  }
  return [...sums.values()].sort((a, b) => a.tenant - b.tenant || a.period - b.period);
}

function* statements(gains: readonly PeriodGain[]): Iterable<readonly PeriodGain[]> {
  for (let start = 0; start < gains.length; start += ROWS_A_STATEMENT)
    yield gains.slice(start, start + ROWS_A_STATEMENT);
}

/** Counted items by month, in order. */
export async function readMonths(
  db: Kysely<Tables>,
  store: string,
  tenant: number,
  months: readonly number[],
): Promise<readonly ChargedItems[]> {
  const rows = await db
    .selectFrom('usage_months')
    .select(['month', 'settled'])
    .where('store', '=', store)
    .where('tenant', '=', tenant)
    .where('month', 'in', months)
    .where('settled', '>', 0)
    .orderBy('month')
    .execute();
  return rows.map(({ month, settled }) => ({ period: month, items: settled }));
}

/** Counted items by day, both ends included, in order. */
export async function readDays(
  db: Kysely<Tables>,
  store: string,
  tenant: number,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<readonly ChargedItems[]> {
  const rows = await db
    .selectFrom('usage_days')
    .select(['day', 'settled'])
    .where('store', '=', store)
    .where('tenant', '=', tenant)
    .where('day', '>=', from)
    .where('day', '<=', to)
    .orderBy('day')
    .execute();
  return rows.map(({ day, settled }) => ({ period: day, items: settled }));
}

/** The first day with counted items, of any user; null if absent. */
export async function readFirstDay(db: Kysely<Tables>, store: string): Promise<number | null> {
  const row = await db
    .selectFrom('usage_days')
    .select('day')
    .where('store', '=', store)
    .where('settled', '>', 0)
    .orderBy('day')
    .limit(1)
    .executeTakeFirst();
  return row?.day ?? null;
}
