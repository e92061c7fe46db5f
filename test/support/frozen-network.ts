import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Test } from 'tap';

/** A proxy to a local server that can silently stop forwarding. */
export class FrozenNetwork {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isFrozen = false;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param to port of the server */
  static async open(t: Test, to: number): Promise<FrozenNetwork> {
    const server = createServer();
    const network = new FrozenNetwork(server);
    server.on('connection', (near) => {
      const far = connect(to, '127.0.0.1');
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        network.#sockets.add(one);
        one.on('error', () => undefined);
        one.on('close', () => {
          network.#sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
        if (network.#isFrozen) one.pause();
      }
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    t.teardown(() => {
      server.close();
      for (const socket of network.#sockets) socket.destroy();
    });
    return network;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  freeze(): void {
    this.#isFrozen = true;
    for (const socket of this.#sockets) {
      socket.unpipe();
      socket.pause();
    }
  }

  /** For new connections; frozen ones stay frozen. */
  thaw(): void {
    this.#isFrozen = false;
  }
}
