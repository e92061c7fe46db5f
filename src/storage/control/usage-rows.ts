import type { Kysely, Transaction } from 'kysely';
import type { Micros } from '../../signal/time.js';
import { dayOf, monthOf } from '../contracts/telemetry-writer.js';
import type { ChargedItems } from '../contracts/coordination.js';
import type { Tables } from './tables.js';

/** Each takes five of the 32,766 parameters that SQLite allows in a statement. */
const ROWS_A_STATEMENT = 5000;

/** What a user gains at a moment. */
export interface Gain {
  readonly tenant: number;
  readonly at: Micros;
  /** Items that are settled. */
  readonly settled: number;
  /** Items that a write may add; fewer than 0 where they are given back. */
  readonly charged: number;
}

/** How a month of a user stands. */
export interface Standing {
  readonly settled: number;
  readonly charged: number;
}

/** A period of a user, with all that it gains. */
interface PeriodGain {
  readonly tenant: number;
  readonly period: number;
  settled: number;
  charged: number;
}

/**
 * Adds to months of users, whose rows are locked from then on until the end of the transaction: in one order, so that two that change
 * the same ones wait for each other and do not deadlock.
 *
 * @returns how they stand now, by {@link monthKey}
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

/** Adds what is settled to days of users, in the same way. */
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

/** By which {@link addToMonths} answers. */
export function monthKey({ tenant, at }: { readonly tenant: number; readonly at: Micros }): string {
  return keyOf(tenant, monthOf(at));
}

function keyOf(tenant: number, period: number): string {
  return `${String(tenant)} ${String(period)}`;
}

/** The sums of periods, in the order in which rows are locked. */
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

/** What is settled of months, in their order. */
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

/** What is settled of days, both ends included, in their order. */
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

/** The first day of which anything was counted, of any user; null: of none. */
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
