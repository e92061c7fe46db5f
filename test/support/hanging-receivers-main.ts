import type { AddressInfo, Socket } from 'node:net';
import { createServer } from 'node:tls';
import { RECEIVER_KEY, VALID } from './webhook-certificates.js';

/**
 * A process with receivers on 127.0.0.1 that hang in different ways by path. It prints its port and the number of requests.
 */
export type Message = { readonly port: number } | { readonly requests: number };

const send = (message: Message): void => {
  process.send?.(message);
};

/** Writes endlessly, as fast as the client reads. */
function pour(socket: Socket, piece: string): void {
  const more = (): void => {
    while (socket.writable && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}

let requests = 0;
const server = createServer({ cert: VALID, key: RECEIVER_KEY }, (socket) => {
  socket.on('error', () => undefined);
  socket.once('data', (request: Buffer) => {
    const way = request.toString('latin1', 0, 20).split(' ')[1];
    if (way === '/hints') pour(socket, 'HTTP/1.1 102 Processing\r\nX-Much: 1234567890\r\n\r\n');
    if (way === '/headers') socket.write('HTTP/1.1 200 OK\r\nX-Half: ');
    if (way === '/body')
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 20000\r\n\r\n${'x'.repeat(16_000)}`);
    send({ requests: ++requests });
  });
});
server.on('tlsClientError', () => undefined);
server.listen(0, '127.0.0.1', 4096, () => {
  send({ port: (server.address() as AddressInfo).port });
});
process.on('disconnect', () => {
  process.exit();
});
