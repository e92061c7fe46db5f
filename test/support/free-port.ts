import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ephemeral ports of systems and above common service ports. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

/** A port of 127.0.0.1 that a daemon can reuse after a kill: no other connection gets it in between. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => {
        resolve(false);
      });
      server.listen(port, '127.0.0.1', () => {
        server.close(() => {
          resolve(true);
        });
      });
    });
    if (isFree) return port;
  }
}
