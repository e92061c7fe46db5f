import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As clients' connections live: a proxy must not end one that a client is about to use. */
const KEEP_ALIVE_MS = 60_000;
/** Statements stand in the address. */
const MOST_HEADER_BYTES = 4 * 1024 * 1024;

/** A proxy before a ClickHouse that takes the inserts of some tables and passes on everything else. */
export interface DiscardingProxy {
  readonly url: string;
  /** Inserts that were taken and not passed on, and the bytes of their rows as they came. */
  readonly discarded: () => { readonly inserts: number; readonly bytes: number };
  readonly close: () => void;
}

/**
 * Starts one on a free port.
 *
 * @param engine URL of the HTTP interface of ClickHouse
 * @param tables whose inserts are answered as done once their rows have come
 */
export async function startDiscardingProxy(
  engine: string,
  tables: readonly string[],
): Promise<DiscardingProxy> {
  const isDiscarded = new RegExp(`^\\s*INSERT INTO \`?(?:${tables.join('|')})\\b`, 'i');
  let inserts = 0;
  let bytes = 0;
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, maxHeaderSize: MOST_HEADER_BYTES },
    (request, response) => {
      const sql = new URL(request.url ?? '/', engine).searchParams.get('query') ?? '';
      if (!isDiscarded.test(sql)) {
        pass(engine, request, response);
        return;
      }
      inserts += 1;
      request.on('data', (piece: Buffer) => (bytes += piece.length));
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

function pass(engine: string, request: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', headers, url = '/' } = request;
  const passed = httpRequest(new URL(url, engine), { method, headers, maxHeaderSize: MOST_HEADER_BYTES });
  passed.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.once('error', () => response.destroy());
  });
  passed.once('error', () => response.destroy());
  response.once('close', () => passed.destroy());
  request.pipe(passed);
}
