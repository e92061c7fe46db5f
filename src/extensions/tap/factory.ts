import { chmod, mkdtemp, rename, rm, rmdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';
import { once } from 'node:events';
import { serializeDaemon } from '../../api/resources/daemon.js';
import { EdgeTaps, type EdgeQuery } from '../../api/resources/stream/edge-taps.js';
import { SSE_COMMENT } from '../../api/resources/stream/sse.js';
import type { Component } from '../../component/component.js';
import type { ExtensionFactory } from '../../component/factory.js';
import type { Host } from '../../component/host.js';
import { HttpProblem } from '../../component/http.js';
import type { Clock } from '../../component/telemetry.js';
import { makePrivateDirectory, PRIVATE_FILE } from '../../config/private-path.js';
import { filePath, section } from '../../config/schema.js';
import { failureOf, problemResponse } from '../../http/problem.js';

/** Systems allow 104 to 108 bytes; the socket is bound below a temporary directory first. */
const MAX_PATH_BYTES = 88;
/** Shows the client that the daemon is there, and finds clients that are gone. */
const KEEP_ALIVE_MS = 15_000;

/** Serves `GET /api/v1/daemon` and taps on edges as the API does, on a Unix socket, without a key and for all users. */
class TapExtension implements Component {
  readonly #path: string;
  readonly #clock: Clock;
  #server: Server | undefined;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  async start(host: Host): Promise<void> {
    if (await isAnswered(this.#path))
      throw new Error(`${this.#path} belongs to another daemon: set socket to another path`);
    await makePrivateDirectory(dirname(this.#path));
    const taps = new EdgeTaps(host.daemon, this.#clock);
    const server = createServer((request, response) => {
      try {
        this.#answer(request, response, host, taps);
      } catch (error) {
        const { status, headers, body } = problemResponse(failureOf(error).problem);
        response.writeHead(status, headers).end(body);
      }
    });
    // Bound in a private directory, so that no other user can connect before its mode is set. The rename also replaces the socket of a
    // killed daemon.
    const folder = await mkdtemp(join(dirname(this.#path), '.tap-'));
    const bound = join(folder, 's');
    try {
      server.listen(bound);
      await once(server, 'listening');
      await chmod(bound, PRIVATE_FILE);
      await rename(bound, this.#path);
    } finally {
      await rmdir(folder).catch(() => undefined);
    }
    this.#server = server;
  }

  async shutdown(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    await rm(this.#path, { force: true });
    server.close();
    server.closeAllConnections();
  }

  #answer(request: IncomingMessage, response: ServerResponse, host: Host, taps: EdgeTaps): void {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (request.method !== 'GET') throw new HttpProblem(405, 'method_not_allowed', 'Use GET.');
    if (pathname === '/api/v1/daemon') {
      const { daemon } = host;
      const json = serializeDaemon({ daemon, health: () => host.health(), clock: this.#clock });
      response.setHeader('content-type', 'application/json').end(JSON.stringify(json));
    } else if (pathname === '/api/v1/dashboard/stream' && searchParams.get('topics') === 'tap')
      sendTap(response, taps, Object.fromEntries(searchParams));
    else
      throw new HttpProblem(
        404,
        'not_found',
        'Here are only /api/v1/daemon and /api/v1/dashboard/stream?topics=tap.',
      );
  }
}

/** @throws HttpProblem for an unknown edge, or too many taps */
function sendTap(response: ServerResponse, taps: EdgeTaps, query: EdgeQuery): void {
  const open = taps.inbox(null, query);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.write(SSE_COMMENT);
  // A slow reader takes nothing meanwhile; the tap keeps some items and counts the rest.
  const send = () => {
    if (!response.writableNeedDrain) for (const event of inbox.take()) response.write(event);
  };
  const inbox = open(() => {
    queueMicrotask(send);
  });
  response.on('drain', send);
  const timer = setInterval(() => response.write(SSE_COMMENT), KEEP_ALIVE_MS).unref();
  response.on('close', () => {
    clearInterval(timer);
    inbox.close();
  });
}

/** Whether a process listens on the socket. */
async function isAnswered(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

const tapConfig = section({
  socket: filePath({
    default: './data/tap.sock',
    description: 'Path of the Unix socket. Only the user of the daemon, and root, can connect.',
  }),
});

export const tapExtension: ExtensionFactory<typeof tapConfig> = {
  kind: 'extension',
  type: 'tap',
  description: 'Lets jackdaw top and jackdaw tap watch a daemon without an API through a Unix socket.',
  stability: 'beta',
  configSchema: tapConfig,
  check: ({ socket }) =>
    Buffer.byteLength(socket) <= MAX_PATH_BYTES
      ? []
      : [
          {
            path: '/socket',
            message: `must not be longer than ${MAX_PATH_BYTES} bytes: systems limit the paths of sockets`,
          },
        ],
  create: ({ config, clock }) => new TapExtension(config.socket, clock),
};
