import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createServer, type TLSSocket, type TlsOptions } from 'node:tls';
import { RECEIVER_KEY, VALID } from './webhook-certificates.js';

/** Test handler of a request. @param raw connection below TLS */
export type Answer = (socket: TLSSocket, request: ReceivedRequest, raw: Socket) => void;

interface ReceivedRequest {
  /** `POST /path HTTP/1.1` */
  readonly line: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

export interface Receiver {
  readonly port: number;
  /** `https://hook.test:40123` */
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  /** Received connections and bytes. */
  readonly traffic: { connections: number; bytes: number };
  /** The server names requested by clients. */
  readonly names: readonly (string | false | null)[];
  /** Resolves when all connections have ended. */
  readonly idle: () => Promise<void>;
}

/** A complete response. */
export function answerText(status: string, headers: readonly string[] = [], body = ''): string {
  const lines = [`HTTP/1.1 ${status}`, ...headers, `Content-Length: ${Buffer.byteLength(body)}`];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

/** A TLS receiver on a free port of one address that sends the bytes of a test. */
export async function startReceiver(
  t: { teardown(end: () => void): void },
  answer: Answer = (socket) => socket.end(answerText('200 OK')),
  { address = '127.0.0.1', port = 0, ...tls }: TlsOptions & { address?: string; port?: number } = {},
): Promise<Receiver> {
  const requests: ReceivedRequest[] = [];
  const names: (string | false | null)[] = [];
  const traffic = { connections: 0, bytes: 0 };
  const open = new Set<Socket>();
  const raws: Socket[] = [];
  const server = createServer({ cert: VALID, key: RECEIVER_KEY, ...tls });
  server.on('connection', (raw: Socket) => {
    traffic.connections++;
    raws.push(raw);
    open.add(raw);
    raw.on('error', () => undefined);
    raw.on('close', () => {
      traffic.bytes += raw.bytesRead;
      open.delete(raw);
      server.emit('ended');
    });
  });
  server.on('tlsClientError', () => undefined);
  server.on('secureConnection', (socket) => {
    names.push(socket.servername);
    socket.on('error', () => undefined);
    const raw = raws.find(({ remotePort }) => remotePort === socket.remotePort);
    readRequests(socket, (request) => {
      requests.push(request);
      if (raw) answer(socket, request, raw);
    });
  });
  server.listen(port, address);
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    for (const raw of open) raw.destroy();
  });
  const bound = (server.address() as AddressInfo).port;
  return {
    port: bound,
    url: `https://hook.test:${bound}`,
    requests,
    names,
    traffic,
    idle: async () => {
      while (open.size > 0) await once(server, 'ended');
    },
  };
}

/** Calls back for each complete request. */
function readRequests(socket: TLSSocket, take: (request: ReceivedRequest) => void): void {
  let bytes = Buffer.alloc(0);
  socket.on('data', (piece) => {
    bytes = Buffer.concat([bytes, piece]);
    const end = bytes.indexOf('\r\n\r\n');
    if (end < 0) return;
    const [line = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
    const headers = Object.fromEntries(
      lines.map((header) => [
        header.slice(0, header.indexOf(':')).toLowerCase(),
        header.slice(header.indexOf(':') + 1).trim(),
      ]),
    );
    const length = Number(headers['content-length'] ?? 0);
    const body = bytes.subarray(end + 4, end + 4 + length);
    if (body.length < length) return;
    bytes = bytes.subarray(end + 4 + length);
    take({ line, headers, body });
  });
}
