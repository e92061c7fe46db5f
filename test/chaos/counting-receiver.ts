import { createServer } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { RECEIVER_KEY, VALID } from '../support/webhook-certificates.js';

/** A webhook request as received. */
export interface Arrival {
  /** Path of the endpoint. */
  readonly path: string;
  /** The run number of the sender. */
  readonly life: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The response status; null if the sender died before the response. */
  answered: number | null;
}

/** An HTTPS receiver that records requests and sometimes refuses them. */
export class CountingReceiver {
  readonly arrivals: Arrival[] = [];
  /** The current run number of the sender. */
  life = 0;
  /** Called for each request before the response. @returns whether to respond at all */
  onArrival: () => boolean = () => true;
  /** Which requests to refuse, by path. */
  readonly #refuses: (path: string) => boolean;
  #port = 0;

  private constructor(refuses: (path: string) => boolean) {
    this.#refuses = refuses;
  }

  static async start(t: Test, refuses: (path: string) => boolean): Promise<CountingReceiver> {
    const receiver = new CountingReceiver(refuses);
    const server = createServer({ cert: VALID, key: RECEIVER_KEY }, (request, response) => {
      const pieces: Buffer[] = [];
      request.on('error', () => undefined);
      response.on('error', () => undefined);
      request.on('data', (piece: Buffer) => pieces.push(piece));
      request.on('end', () => {
        const arrival: Arrival = {
          path: request.url ?? '',
          life: receiver.life,
          headers: Object.fromEntries(
            Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
          ),
          body: Buffer.concat(pieces).toString('utf8'),
          answered: null,
        };
        receiver.arrivals.push(arrival);
        if (!receiver.onArrival()) {
          request.socket.destroy();
          return;
        }
        const status = receiver.#refuses(arrival.path) ? 500 : 200;
        response.writeHead(status).end('noted', () => {
          arrival.answered = status;
        });
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => {
      server.close();
      server.closeAllConnections();
    });
    receiver.#port = (server.address() as AddressInfo).port;
    return receiver;
  }

  /** @param path of the endpoint */
  url(path: string): string {
    return `https://127.0.0.1:${this.#port}${path}`;
  }
}
