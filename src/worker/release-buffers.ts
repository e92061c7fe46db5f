import { MessageChannel, type MessagePort } from 'node:worker_threads';

/** A port whose other end is closed, so messages are dropped. */
const NOWHERE = ((): MessagePort => {
  const { port1, port2 } = new MessageChannel();
  port2.close();
  port1.unref();
  return port1;
})();

/**
 * Frees the memory of buffers immediately; they are empty afterwards. If transferred buffers are left to the garbage collector,
 * they count as growing memory and V8 runs full collections in the receiving thread: three times a second in the store thread
 * during `bench ingest`.
 *
 * `ArrayBuffer.prototype.transfer` would have the same effect, but Node 20 does not have it.
 *
 * @param buffers buffers that are no longer read; repeated or released ones are allowed
 */
export function releaseBuffers(buffers: Iterable<ArrayBuffer>): void {
  const held = new Set<ArrayBuffer>();
  for (const buffer of buffers) if (buffer.byteLength > 0) held.add(buffer);
  if (held.size > 0) NOWHERE.postMessage(null, [...held]);
}
