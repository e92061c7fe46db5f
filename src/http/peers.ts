import type { Server, Socket } from 'node:net';
import type { Connection, Connections } from './connections.js';

/** `::ffff:127.0.0.1` is an IPv4 client on a socket for both. */
export function plainRemoteAddress({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string {
  return remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? '';
}

/**
 * Lets the table of connections know of each from its first moment, the handshake of TLS included, which has a socket of its own.
 *
 * @returns what gives the place of a connection in the table, by its plain socket or the one of TLS or HTTP/2; undefined where it
 * is closed already
 */
export function countConnections(
  server: Server,
  table: Connections,
): (socket: Pick<Socket, 'remoteAddress' | 'remotePort'>) => Connection | undefined {
  const places = new Map<string, Connection>();
  const peerOf = ({ remoteAddress = '', remotePort = 0 }: Pick<Socket, 'remoteAddress' | 'remotePort'>) =>
    `${remoteAddress} ${remotePort}`;
  server.on('connection', (socket: Socket) => {
    const place: Connection = {
      remoteAddress: plainRemoteAddress(socket),
      destroy: () => {
        socket.destroy();
      },
    };
    if (!table.enter(place)) return;
    const peer = peerOf(socket);
    places.set(peer, place);
    socket.once('close', () => {
      if (places.get(peer) === place) places.delete(peer);
      table.leave(place);
    });
  });
  return (socket) => places.get(peerOf(socket));
}
