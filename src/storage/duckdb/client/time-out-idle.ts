import type { EventType } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';
import type { ControlStore } from '../../contracts/control-store.js';
import type { KnownUsers } from '../../shared/store-user-limits.js';
import type { LocalChangeFeed } from '../../shared/local-change-feed.js';
import type { StoreHandle } from './store-handle.js';

/** A page of idle runs may name new tenants; after this many rounds the next run of the task continues. */
const MOST_ROUNDS = 20;

/** Ends idle runs: `timedOut`. The store thread first returns the tenants whose wanted events it lacks. */
export async function timeOutIdle(
  reach: Pick<StoreHandle, 'call'>,
  {
    users,
    control,
    arrivals,
  }: {
    readonly users: KnownUsers;
    readonly control: Pick<ControlStore, 'accounts'>;
    /** Receives the ended runs. */
    readonly arrivals: Pick<LocalChangeFeed, 'traceChanged'>;
  },
  now: Micros,
): Promise<void> {
  const ids = new Map<number, string>();
  const wanted = new Map<number, readonly EventType[]>();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const { unknown, ended } = await reach.call('timeOutIdle', now, wanted);
    for (const { tenant, traceId } of ended) {
      const id = ids.get(tenant);
      if (id !== undefined) arrivals.traceChanged(id, traceId);
    }
    if (unknown.length === 0) return;
    const found = await control.accounts.findTenants(unknown);
    for (const tenant of unknown) {
      const id = found.get(tenant);
      if (id !== undefined) ids.set(tenant, id);
      wanted.set(tenant, id === undefined ? [] : (await users.find(id)).wanted);
    }
  }
}
