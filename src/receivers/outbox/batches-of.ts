import type { EventsBatch } from '../../signal/batch.js';
import type { EventRecord } from '../../signal/event.js';
import type { StoredEvent } from '../../storage/event-log.js';

/** Events by whose they are, each in the order they had. Whose come first goes first. */
export function batchesOf(events: readonly StoredEvent[]): readonly EventsBatch[] {
  const byTenant = new Map<string, EventRecord[]>();
  for (const { tenant, event } of events) {
    const items = byTenant.get(tenant);
    if (items) items.push(event);
    else byTenant.set(tenant, [event]);
  }
  return [...byTenant].map(([tenant, items]) => ({ tenant, items }));
}
