import type { EventType } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';
import type { ControlStore } from '../../contracts/control-store.js';
import type { KnownUsers } from '../../shared/store-user-limits.js';
import type { StoreHandle } from './store-handle.js';

/** A page of idle runs may name new tenants; after this many rounds the next run of the task continues. */
const MOST_ROUNDS = 20;

/** Marks idle runs as timed out. The store thread first returns the tenants whose wanted events it lacks. */
export async function timeOutIdle(
  handle: Pick<StoreHandle, 'call'>,
  { users, control }: { readonly users: KnownUsers; readonly control: Pick<ControlStore, 'accounts'> },
  now: Micros,
): Promise<void> {
  const wanted = new Map<number, readonly EventType[]>();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const unknown = await handle.call('timeOutIdle', now, wanted);
    if (unknown.length === 0) return;
    const ids = await control.accounts.findTenants(unknown);
    for (const tenant of unknown) {
      const id = ids.get(tenant);
      wanted.set(tenant, id === undefined ? [] : (await users.find(id)).wanted);
    }
  }
}
