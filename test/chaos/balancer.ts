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

/** Every so many answers of gateways get lost on their way back. */
const LOSES = 7;
/** What belongs to one connection, and not to the request. */
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
 * A balancer before gateways: each request goes to the next one in turn, or the one behind that where it cannot be reached. It fails as
 * such do: where a gateway dies, and now and then by itself, the client is left without the answer to what a gateway has taken.
 */
export class Balancer {
  /** Requests that each gateway has answered, by its place in the list. */
  readonly answered: number[] = [];
  lost = 0;
  readonly #gateways: () => readonly string[];
  #port = 0;
  #next = 0;

  private constructor(gateways: () => readonly string[]) {
    this.#gateways = gateways;
  }

  /** @param gateways their addresses now, `http://127.0.0.1:PORT`; each keeps its place in the list */
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
        // Where it had the request nobody knows what became of it.
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
