import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import t from 'tap';
import { Connections, type Connection } from '../../src/http/connections.js';
import { countConnections } from '../../src/http/peers.js';

void t.test('the same client port on two listener addresses is two connections', async (t) => {
  const server = createServer();
  const table = new Connections({ maxConnections: 10, maxConnectionsPerAddress: 10 }, () => undefined);
  const placeOf = countConnections(server, table);
  const accepted: Socket[] = [];
  server.on('connection', (socket) => accepted.push(socket));
  server.listen(0, '0.0.0.0');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of accepted) socket.destroy();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  const open = async (host: string, localPort: number): Promise<Socket> => {
    const client = connect({ host, port, localAddress: '127.0.0.1', localPort });
    t.teardown(() => client.destroy());
    const taken = once(server, 'connection');
    await Promise.all([once(client, 'connect'), taken]);
    return client;
  };
  const first = await open('127.0.0.1', 0);
  const second = await open('127.0.0.2', first.localPort ?? 0);
  const placesOf = (): (Connection | undefined)[] => accepted.map((socket) => placeOf(socket));
  const [one, other] = placesOf();
  t.ok(one !== undefined && other !== undefined && one !== other);
  const [, server2] = accepted;
  second.destroy();
  if (server2 !== undefined) await once(server2, 'close');
  t.equal(placesOf()[0], one, 'closing one keeps the other');
});
