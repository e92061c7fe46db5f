import type { Server, Socket } from 'node:net';
import type { Connection, Connections } from './connections.js';

/** `::ffff:127.0.0.1` is an IPv4 client on a dual-stack socket. */
export function plainRemoteAddress({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string {
  return remoteAddress?.replace(/^::ffff:(?=\d+\.)/, '') ?? '';
}

/** Identifies a connection: one client port may be connected to several addresses of one listener. */
type Ends = Pick<Socket, 'remoteAddress' | 'remotePort' | 'localAddress' | 'localPort'>;

/**
 * Adds each connection to the table when it opens, before the TLS handshake, which uses another socket object.
 *
 * @returns a function that finds the table entry of a connection by its plain, TLS or HTTP/2 socket; undefined if it is already
 *   closed
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
