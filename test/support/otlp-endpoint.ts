import { createServer as createPlain, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import protobuf from 'protobufjs';
import type { Test } from 'tap';
import type { TelemetrySignal } from '../../src/signal/batch.js';
import { TEST_CERTIFICATE, TEST_KEY } from './http-certificate.js';
import { projectFolder } from './project-file.js';

/** OTLP message names by the last path segment. */
const SERVICES: Readonly<Record<TelemetrySignal, string>> = {
  traces: 'trace',
  metrics: 'metrics',
  logs: 'logs',
};

/** The request as `protobufjs` decodes it with the `.proto` files, independent of Jackdaw code. */
interface ReceivedRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** As JSON: enumerations by name, 64-bit integers as text, bytes in base64. */
  readonly body: Readonly<Record<string, unknown>>;
  /** The raw body, decompressed. */
  readonly bytes: Buffer;
}

export interface EndpointAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** An OTLP/HTTP server on a free port. */
export interface OtlpEndpoint {
  readonly url: string;
  readonly port: number;
  readonly requests: readonly ReceivedRequest[];
  /** Response from now on; 200 without a body by default. `null`: never responds. */
  answer: ((request: ReceivedRequest) => EndpointAnswer | null) | undefined;
  /** Resolves after that many requests. */
  received(count: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * @param t closes it at its end
 * @param options `isSecure` serves HTTPS with the test certificate; `host` and `port` select an address
 */
export async function startOtlpEndpoint(
  t: Pick<Test, 'teardown'>,
  options: { readonly isSecure?: boolean; readonly host?: string; readonly port?: number } = {},
): Promise<OtlpEndpoint> {
  const root = await readProtoFiles();
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  let watchers: (() => void)[] = [];
  const server = options.isSecure ? createSecure({ cert: TEST_CERTIFICATE, key: TEST_KEY }) : createPlain();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('request', (message: IncomingMessage, response) => {
    const pieces: Buffer[] = [];
    message.on('data', (piece: Buffer) => pieces.push(piece));
    message.on('end', () => {
      const request = read(message, Buffer.concat(pieces), root);
      requests.push(request);
      const answer = endpoint.answer ? endpoint.answer(request) : { status: 200 };
      if (answer) response.writeHead(answer.status, answer.headers).end(answer.body);
      for (const look of watchers) look();
    });
  });
  const { host = '127.0.0.1' } = options;
  server.listen(options.port ?? 0, host);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const endpoint: OtlpEndpoint = {
    url: `${options.isSecure ? 'https' : 'http'}://${host}:${port}`,
    port,
    requests,
    answer: undefined,
    async received(count) {
      await new Promise<void>((resolve) => {
        const look = (): void => {
          if (requests.length < count) return;
          watchers = watchers.filter((other) => other !== look);
          resolve();
        };
        watchers.push(look);
        look();
      });
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      if (server.listening) await new Promise((done) => server.close(done));
    },
  };
  t.teardown(() => endpoint.close());
  return endpoint;
}

async function readProtoFiles(): Promise<protobuf.Root> {
  const folder = join(projectFolder(), 'proto');
  const root = new protobuf.Root();
  root.resolvePath = (_, target) => join(folder, target);
  const files = Object.values(SERVICES).map(
    (name) => `opentelemetry/proto/collector/${name}/v1/${name}_service.proto`,
  );
  return root.load(files);
}

function read(message: IncomingMessage, bytes: Buffer, root: protobuf.Root): ReceivedRequest {
  const path = message.url ?? '';
  const name = /(trace|metrics|logs)s?$/.exec(path.split('?')[0] ?? '')?.[1] ?? 'trace';
  const type = root.lookupType(
    `opentelemetry.proto.collector.${name}.v1.Export${name[0]?.toUpperCase() ?? ''}${name.slice(1)}ServiceRequest`,
  );
  const plain = message.headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
  const body = type.toObject(type.decode(plain), { longs: String, enums: String, bytes: String });
  return { path, headers: message.headers, body, bytes: plain };
}
