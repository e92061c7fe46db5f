import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { FLOOD_ADDRESS, type Flood, type FloodTarget } from './flood.js';

const SOCKETS = 1000;
const TURN_MS = 1000;
const MANY_REQUESTS = 50;

/** What a socket sends when it is open, and then a byte of each second. */
const KINDS: readonly ((target: FloodTarget) => { readonly name: string; readonly head: string })[] = [
  () => ({ name: 'heads', head: 'GET /api/v1/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ' }),
  ({ key }) => ({
    name: 'bodies',
    head: `POST /api/v1/traces/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{`,
  }),
  // Answers that nobody takes; the kernel's buffers hold the first few.
  () => ({
    name: 'readers',
    head: 'GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n'.repeat(MANY_REQUESTS),
  }),
];

/** Sockets that are opened and hardly used, and opened again when they are closed. */
export const slowSockets: Flood = {
  title: `${SOCKETS} slow sockets`,
  async run(target, tally, stop) {
    const open = new Map<Socket, boolean>();
    let number = 0;
    while (!stop.aborted) {
      while (open.size < SOCKETS) {
        const kind = KINDS[number++ % KINDS.length]?.(target);
        if (kind === undefined) continue;
        const socket = slowSocket(target, kind.head);
        // Who reads sends nothing more.
        open.set(socket, kind.name !== 'readers');
        socket.once('connect', () => {
          tally.add(`${kind.name} opened`);
        });
        socket.once('close', () => {
          if (open.delete(socket)) tally.add(`${kind.name} closed`);
        });
      }
      await sleep(TURN_MS);
      for (const [socket, sends] of open) if (sends) socket.write('x');
    }
    for (const socket of open.keys()) {
      open.delete(socket);
      socket.destroy();
    }
  },
};

function slowSocket({ url }: FloodTarget, head: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: FLOOD_ADDRESS });
  socket.on('error', () => undefined);
  // Never resumed: what comes stays in the kernel.
  socket.pause();
  socket.write(head);
  return socket;
}
