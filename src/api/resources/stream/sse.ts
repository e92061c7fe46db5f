/** The form of server-sent events (HTML Living Standard, section 9.2). */

/** What an `EventSource` waits before it connects again. */
const RETRY_MS = 3000;

/** An event. @param data JSON, which has no line breaks */
export function sseEvent(name: string, data: string | Uint8Array, id?: string): Uint8Array {
  const head = Buffer.from(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: `);
  return Buffer.concat([head, Buffer.from(data), END]);
}

/** Tells that something of a topic is missing. @param count of what; null where nobody knows */
export function lostEvent(topic: string, count: number | null): Uint8Array {
  return sseEvent('lost', JSON.stringify({ topic, count }));
}

const END = Buffer.from('\n\n');

/** Keeps proxies and listeners from taking a quiet stream for a dead one; clients hear nothing of it. */
export const SSE_COMMENT: Uint8Array = Buffer.from(':\n\n');

export const SSE_RETRY: Uint8Array = Buffer.from(`retry: ${RETRY_MS}\n\n`);
