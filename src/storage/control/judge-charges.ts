import { must } from '../../signal/checked.js';
import type { BegunWrite, Charge, Charged } from '../write-book.js';
import { monthKey, type Standing } from './usage-rows.js';

/**
 * What becomes of charges, one after the other: one that is taken is in the way of those behind it, one that is not is not.
 *
 * @param standings how their months stand without any of them, by `monthKey`
 */
export function judgeCharges(
  charges: readonly Charge[],
  standings: ReadonlyMap<string, Standing>,
): BegunWrite['charged'] {
  const open = new Map<string, number>();
  return charges.map((charge) => {
    const key = monthKey(charge);
    const { settled, charged } = must(standings.get(key), 'row of a month');
    const before = open.get(key) ?? charged;
    const as = judge(charge, settled, before);
    open.set(key, as === 'taken' ? before + charge.items : before);
    return { as, used: settled };
  });
}

function judge({ items, isExact, limit }: Charge, settled: number, charged: number): Charged {
  if (items === 0 || limit === null || settled + charged + items <= limit) return 'taken';
  if (!isExact) return 'inexact';
  return settled + items > limit ? 'exceeds' : 'waits';
}
