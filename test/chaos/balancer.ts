import { once } from 'node:events';
import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { Test } from 'tap';

/** Every n-th response is lost. */
const LOSES = 7;
/** Hop-by-hop headers. */
const OF_THE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'content-length',
  'host',
]);

interface Passed {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/**
 * A load balancer in front of gateways: each request goes to the next reachable gateway in turn. It fails realistically:
 * when a gateway dies, and occasionally otherwise, the client gets no response to an accepted request.
 */
export class Balancer {
  /** Number of answered requests per gateway, by index. */
  readonly answered: number[] = [];
  lost = 0;
  readonly #gateways: () => readonly string[];
  #port = 0;
  #next = 0;

  private constructor(gateways: () => readonly string[]) {
    this.#gateways = gateways;
  }

  /** @param gateways their current addresses, `http://127.0.0.1:PORT`; each keeps its index */
  static async start(t: Test, gateways: () => readonly string[]): Promise<Balancer> {
    const balancer = new Balancer(gateways);
    const server = createServer((request, response) => {
      balancer.#pass(request, response).catch(() => response.destroy());
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    balancer.#port = (server.address() as AddressInfo).port;
    t.teardown(() => {
      server.closeAllConnections();
      server.close();
    });
    return balancer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async #pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const { status, headers, body: answer } = await this.#ask(request, body);
    const answers = this.answered.reduce((sum, count) => sum + count, 0);
    if (answers % LOSES === 0) {
      this.lost += 1;
      response.destroy();
    } else response.writeHead(status, headersOf(headers)).end(answer);
  }

  async #ask(request: IncomingMessage, body: Buffer): Promise<Passed> {
    const gateways = this.#gateways();
    for (let tries = 1; ; tries++) {
      const place = this.#next++ % gateways.length;
      try {
        const passed = await passOn(`${gateways[place] ?? ''}${request.url ?? ''}`, request, body);
        this.answered[place] = (this.answered[place] ?? 0) + 1;
        return passed;
      } catch (error) {
        // If the gateway got the request, its outcome is unknown.
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED' || tries >= gateways.length) throw error;
      }
    }
  }
}

async function passOn(
  url: string,
  { method = 'GET', headers }: IncomingMessage,
  body: Buffer,
): Promise<Passed> {
  const passed = httpRequest(url, { method, headers: headersOf(headers), agent: false });
  passed.end(body);
  const [answer] = (await once(passed, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 502, headers: answer.headers, body: await buffer(answer) };
}

function headersOf(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !OF_THE_CONNECTION.has(name)));
}
