/** The form of server-sent events (HTML Living Standard, section 9.2). */

/** Reconnect delay of an `EventSource`. */
const RETRY_MS = 3000;

/** An event. @param data JSON, which has no line breaks */
export function sseEvent(name: string, data: string | Uint8Array, id?: string): Uint8Array {
  const head = Buffer.from(`${id === undefined ? '' : `id: ${id}\n`}event: ${name}\ndata: `);
  return Buffer.concat([head, Buffer.from(data), END]);
}

/** Reports missing events of a topic. @param count number of missing items; null if unknown */
export function lostEvent(topic: string, count: number | null): Uint8Array {
  return sseEvent('lost', JSON.stringify({ topic, count }));
}

const END = Buffer.from('\n\n');

/** Keep-alive comment for proxies and listeners; clients ignore it. */
export const SSE_COMMENT: Uint8Array = Buffer.from(':\n\n');

export const SSE_RETRY: Uint8Array = Buffer.from(`retry: ${RETRY_MS}\n\n`);
