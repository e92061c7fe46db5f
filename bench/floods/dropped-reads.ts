import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { FLOOD_ADDRESS, type Flood } from './flood.js';

const AT_ONCE = 50;
const DROPPED_AFTER_MS = 200;
const PAUSE_MS = 800;
/** Each looks at everything that the user has. */
const PATHS = [
  '/api/v1/dashboard/logs/search?query=%22nothing%20is%20left%22',
  '/api/v1/dashboard/logs/search?query=%22is%20left%22&offset=100000',
  '/api/v1/dashboard/traces?query=nowhere%20to%20be%20found',
  '/api/v1/dashboard/models',
];

/** A dashboard with fifty panels that is closed before any has an answer, and opened again. */
export const droppedReads: Flood = {
  title: `${AT_ONCE} expensive reads dropped at once`,
  async run({ url, key }, tally, stop) {
    while (!stop.aborted) {
      const requests = Array.from({ length: AT_ONCE }, (_, number) => {
        const sent = request(new URL(PATHS[number % PATHS.length] ?? '', url), {
          agent: false,
          localAddress: FLOOD_ADDRESS,
          headers: { authorization: `Bearer ${key}` },
        });
        sent.on('response', (response) => {
          tally.add(`answered ${response.statusCode ?? 0}`);
          response.on('error', () => undefined).resume();
        });
        sent.on('error', () => {
          tally.add('dropped');
        });
        return sent.end();
      });
      await sleep(DROPPED_AFTER_MS);
      for (const sent of requests) sent.destroy();
      await sleep(PAUSE_MS);
    }
  },
};
