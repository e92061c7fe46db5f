/** Who sends what a store queues. Two senders would each keep their own limits, and remove by their own retention. */
const OWNERS = new WeakMap<object, string>();

/**
 * Makes an exporter the only sender of a store's deliveries.
 *
 * @param store its deliveries
 * @param storeId for the error
 * @returns what ends it
 * @throws Error that names the exporter which sends them already
 */
export function ownQueue(store: object, storeId: string, exporter: string): () => void {
  const owner = OWNERS.get(store);
  if (owner !== undefined)
    throw new Error(
      `The deliveries in "${storeId}" are sent by exporter "${owner}" already: use that one in all pipelines, or name another store`,
    );
  OWNERS.set(store, exporter);
  return () => {
    OWNERS.delete(store);
  };
}
