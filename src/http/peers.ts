import type { Server, Socket } from 'node:net';
import type { Connection, Connections } from './connections.js';

/** `::ffff:127.0.0.1` is an IPv4 client on a socket for both. */
export function plainRemoteAddress({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string {
  return remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? '';
}

/** What identifies a connection: one client port may be connected to several addresses of one listener. */
type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/**
 * Puts each connection into the table from its first moment, including the handshake of TLS, which has a socket of its own.
 *
 * @returns a function that gives the place of a connection in the table, by its plain socket or the one of TLS or HTTP/2;
 *   undefined where it is closed already
 */
export function countConnections(
  server: Server,
  table: Connections,
): (socket: Ends) => Connection | undefined {
  const places = new Map<string, Connection>();
  server.on('connection', (socket: Socket) => {
    const place: Connection = {
      remoteAddress: plainRemoteAddress(socket),
      destroy: () => {
        socket.destroy();
      },
    };
    if (!table.enter(place)) return;
    const ends = endsOf(socket);
    places.set(ends, place);
    socket.once('close', () => {
      if (places.get(ends) === place) places.delete(ends);
      table.leave(place);
    });
  });
  return (socket) => places.get(endsOf(socket));
}

function endsOf({ remoteAddress = '', remotePort = 0, localAddress = '', localPort = 0 }: Ends): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;
}
