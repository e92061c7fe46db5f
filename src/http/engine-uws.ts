import { createServer } from 'node:net';
import type { Engine, EngineOptions } from './engine.js';
import { UwsExchange } from './uws-exchange.js';
import { EXCLUSIVE_PORT, type UwsApp, type UwsListenSocket, type UwsModule } from './uws-module.js';

/**
 * Listens with uWebSockets.js.
 *
 * @throws Error with the `code` that `node:net` would give
 */
export async function openUwsEngine(uws: UwsModule, options: EngineOptions): Promise<Engine> {
  const { host, port, connections, tls } = options;
  const app =
    tls === undefined
      ? uws.App()
      : uws.SSLApp({ key_file_name: tls.options.keyFile, cert_file_name: tls.options.certFile });
  app.any('/*', (response, request) => {
    const exchange = new UwsExchange(response, request, options);
    // uWebSockets.js does not report connections, so only those with a request are counted.
    const slot = {
      remoteAddress: exchange.remoteAddress,
      destroy: () => {
        exchange.abort();
      },
    };
    if (!connections.enter(slot)) return;
    connections.busy(slot);
    exchange.onClosed(() => {
      connections.leave(slot);
    });
    options.onRequest(exchange);
  });
  const socket = await listen(app, host, port);
  if (socket === false) {
    await explain(host, port);
    throw new Error('uWebSockets.js could not listen and gave no reason');
  }
  const localPort = uws.us_socket_local_port ?? uws.getSocketPort;
  const closeSocket = uws.us_listen_socket_close ?? uws.closeSocket;
  let isListening = true;
  const stopListening = (): void => {
    if (isListening) closeSocket?.(socket);
    isListening = false;
  };
  return {
    port: localPort?.(socket) ?? port,
    replaceTls: () => {
      throw new Error('uWebSockets.js cannot change the certificate of an open port; restart the daemon');
    },
    stopListening,
    close: () => {
      stopListening();
      app.close();
    },
  };
}

function listen(app: UwsApp, host: string, port: number): Promise<UwsListenSocket | false> {
  return new Promise((resolve) => {
    if (host === '') app.listen(port, EXCLUSIVE_PORT, resolve);
    else app.listen(host, port, EXCLUSIVE_PORT, resolve);
  });
}

/** uWebSockets.js reports only that listening failed. Node reports the reason when it tries the same. */
async function explain(host: string, port: number): Promise<void> {
  const probe = createServer();
  await new Promise<void>((resolve, reject) => {
    probe.once('error', reject);
    probe.listen({ port, ...(host === '' ? {} : { host }) }, () => {
      probe.close(() => {
        resolve();
      });
    });
  });
}
