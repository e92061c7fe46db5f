/**
 * Does work for every item, so many at a time, taking items only as fast as they are dealt with.
 *
 * @throws the first failure, once nothing is under way any more
 */
export async function sendAll<T>(
  items: Iterable<T>,
  concurrency: number,
  send: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let hasFailed = false;
  const worker = async () => {
    for (;;) {
      if (hasFailed) return;
      const next = iterator.next();
      if (next.done === true) return;
      try {
        await send(next.value);
      } catch (error) {
        hasFailed = true;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
