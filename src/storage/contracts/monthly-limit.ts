import type { Micros } from '../../signal/time.js';
import type { ControlPlane } from './control-plane.js';

/**
 * What a user may store in a month: its own limit, else the smallest that processes hold to which count in this store.
 *
 * @param store the identity of the telemetry store
 * @returns null for no limit
 * @throws ConsumeError `storage_unavailable`
 */
export async function monthlyLimit(
  { accounts, terms }: Pick<ControlPlane, 'accounts' | 'terms'>,
  userId: string,
  store: string,
  now: Micros,
): Promise<number | null> {
  const [user, published] = await Promise.all([accounts.findUser(userId), terms.all(now)]);
  const own = user?.monthly_event_limit ?? null;
  const limits = published.flatMap(({ quota }) => (quota?.store === store ? quota.monthly_events : []));
  return smallest(own === null ? limits : [own]);
}

/** Of limits that all hold. 0 is none. @returns null where none holds */
export function smallest(limits: readonly number[]): number | null {
  const holding = limits.filter((limit) => limit > 0);
  return holding.length === 0 ? null : Math.min(...holding);
}
