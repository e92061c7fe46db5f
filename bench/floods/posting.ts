import { Pool } from 'undici';
import { post } from '../post.js';
import { FLOOD_ADDRESS, type FloodTarget, type Tally } from './flood.js';

const TIMEOUT_MS = 60_000;
/** After an answer that asks to come again later: a client of a kind that minds it a little. */
const REST_MS = 20;

/**
 * Posts bodies over several connections, each as soon as the one before is answered, until there are no more or it is told
 * to stop.
 *
 * @param next the next request; null where there are no more
 */
export async function postAll(
  { url, key }: FloodTarget,
  connections: number,
  next: () => { readonly path: string; readonly body: Buffer } | null,
  { tally, stop }: { readonly tally: Tally; readonly stop: AbortSignal },
): Promise<void> {
  const pool = new Pool(url, {
    connections,
    pipelining: 1,
    headersTimeout: TIMEOUT_MS,
    bodyTimeout: TIMEOUT_MS,
    localAddress: FLOOD_ADDRESS,
  });
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const send = async (): Promise<void> => {
    for (let request = next(); request !== null && !stop.aborted; request = next()) {
      const { status, failure } = await post(pool, request.path, headers, request.body);
      tally.add(failure ?? `answered ${status}`);
      if (status !== 200) await new Promise((resolve) => setTimeout(resolve, REST_MS));
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
  await pool.destroy();
}
