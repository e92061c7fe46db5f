import { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import type { DeliveryStore } from '../../storage/delivery-store.js';

/**
 * Where requests to webhook endpoints may go: wherever those who send them may. They say so when they start, which may be
 * later than the API does: the answer holds for the moment.
 */
export function targetPolicy(deliveries: Pick<DeliveryStore, 'allowedTargets'>): () => AddressPolicy {
  let known: readonly string[] = [];
  let policy = new AddressPolicy(known);
  return () => {
    const current = deliveries.allowedTargets;
    if (current.join() !== known.join()) {
      policy = new AddressPolicy(current);
      known = [...current];
    }
    return policy;
  };
}
