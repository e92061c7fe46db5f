import http from 'node:http';
import https from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { Engine, EngineOptions } from './engine.js';
import { NodeConnection } from './node-connection.js';
import { TOO_MANY_PIPELINED, type UnreadableError } from './unreadable.js';
import { NodeExchange } from './node-exchange.js';
import { countConnections } from './peers.js';
import { secureContext } from './tls.js';
import { FairQueue } from './fair-queue.js';

/** Interval at which Node checks for connections with slow headers. */
const CHECK_INTERVAL_MS = 1000;

/** Pipelined requests started per turn of the event loop. */
const PIPELINED_A_TURN = 1;
/** Connections with large responses that continue in one turn, each by at most half a mebibyte: one to several milliseconds. */
const LARGE_ANSWERS_A_TURN = 1;
/** Connections with large bodies that continue in one turn, each by an eighth of a mebibyte. */
const LARGE_BODIES_A_TURN = 4;

/**
 * Listens with `node:http` or `node:https`.
 *
 * @throws Error of `server.listen`, with its `code`
 */
export async function openNodeEngine(options: EngineOptions): Promise<Engine> {
  const { host, port } = options;
  const server = createServer(options);
  const slots = countConnections(server, options.connections);
  // State of connections, because Node's types do not allow extending sockets.
  const connections = new WeakMap<Socket, NodeConnection>();
  const queues = {
    ofRequests: new FairQueue(PIPELINED_A_TURN),
    ofPieces: new FairQueue(LARGE_ANSWERS_A_TURN),
    ofBodies: new FairQueue(LARGE_BODIES_A_TURN),
  };
  const connectionOf = (socket: Socket): NodeConnection => {
    let connection = connections.get(socket);
    if (connection === undefined)
      connections.set(socket, (connection = new NodeConnection(socket, slots(socket), options, queues)));
    return connection;
  };
  const take = (request: http.IncomingMessage, response: http.ServerResponse, waits: boolean): void => {
    const connection = connectionOf(request.socket);
    const isTaken = connection.take(() => {
      options.onRequest(new NodeExchange(request, response, connection, options, waits));
    });
    if (!isTaken) refuse(Object.assign(new Error('pipelined'), { code: TOO_MANY_PIPELINED }), request.socket);
  };
  const takeAtOnce = (request: http.IncomingMessage, response: http.ServerResponse): void => {
    take(request, response, false);
  };
  server.on('request', takeAtOnce);
  server.on('checkExpectation', takeAtOnce);
  server.on('checkContinue', (request: http.IncomingMessage, response: http.ServerResponse) => {
    take(request, response, true);
  });
  const refuse = (error: UnreadableError, socket: Socket): void => {
    const status = connectionOf(socket).refuse(error);
    if (status !== undefined) options.onUnreadable(status);
  };
  server.on('clientError', refuse);
  server.on('connect', (request) => {
    // Tunnel requests; without a listener, Node would close the connection without a response.
    refuse(Object.assign(new Error('no tunnels'), { code: 'HPE_INVALID_METHOD' }), request.socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === '' ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
  return {
    port: (server.address() as AddressInfo).port,
    replaceTls: (files) => {
      if (server instanceof https.Server) server.setSecureContext(secureContext(files));
    },
    stopListening: () => {
      server.close();
      server.closeIdleConnections();
    },
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function createServer({ limits, tls }: EngineOptions): http.Server {
  const serverOptions: https.ServerOptions = {
    maxHeaderSize: limits.maxHeaderBytes,
    headersTimeout: limits.headersTimeoutMs,
    connectionsCheckingInterval: Math.min(CHECK_INTERVAL_MS, limits.headersTimeoutMs),
    // Each route has its own time limit for the body.
    requestTimeout: 0,
    keepAliveTimeout: limits.idleTimeoutMs,
    noDelay: true,
    // The read size, and the size of the pieces of a large response: with the 16 KiB of Node 20, each piece would wait for the
    // previous one.
    highWaterMark: 64 * 1024,
    // `request-head.ts` reports a missing host in the format of all other errors.
    requireHostHeader: false,
  };
  if (tls === undefined) {
    const server = http.createServer(serverOptions);
    // A client may end its side and still wait for its response. Node has this setting, but no option or type for it.
    return Object.assign(server, { httpAllowHalfOpen: true });
  }
  const isClientAsked = tls.clientCa !== undefined;
  return https.createServer({
    ...serverOptions,
    ...secureContext(tls),
    requestCert: isClientAsked,
    rejectUnauthorized: isClientAsked,
    handshakeTimeout: limits.headersTimeoutMs,
  });
}
