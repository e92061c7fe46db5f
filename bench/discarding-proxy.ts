import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As long as connections of the client, so that the proxy does not close one that the client is about to use. */
const KEEP_ALIVE_MS = 60_000;
/** The URL contains the statement. */
const MAX_HEADER_BYTES = 4 * 1024 * 1024;

/** A proxy of ClickHouse that discards the inserts into some tables and forwards everything else. */
export interface DiscardingProxy {
  readonly url: string;
  /** Number of discarded inserts and the size of their bodies as received. */
  readonly discarded: () => { readonly inserts: number; readonly bytes: number };
  readonly close: () => void;
}

/**
 * Starts a proxy on a free port.
 *
 * @param engine URL of the HTTP interface of ClickHouse
 * @param tables tables whose inserts are discarded
 */
export async function startDiscardingProxy(
  engine: string,
  tables: readonly string[],
): Promise<DiscardingProxy> {
  const isDiscarded = new RegExp(`^\\s*INSERT INTO \`?(?:${tables.join('|')})\\b`, 'i');
  let inserts = 0;
  let bytes = 0;
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: MAX_HEADER_BYTES },
    (request, response) => {
      const sql = new URL(request.url ?? '/', engine).searchParams.get('query') ?? '';
      if (!isDiscarded.test(sql)) {
        forward(engine, request, response);
        return;
      }
      inserts += 1;
      request.on('data', (chunk: Buffer) => (bytes += chunk.length));
      request.once('end', () => response.end());
    },
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    discarded: () => ({ inserts, bytes }),
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function forward(engine: string, request: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', headers, url = '/' } = request;
  const forwarded = httpRequest(new URL(url, engine), { method, headers, maxHeaderSize: MAX_HEADER_BYTES });
  forwarded.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  forwarded.once('error', () => response.destroy());
  response.once('close', () => forwarded.destroy());
  request.pipe(forwarded);
}
