import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { Test } from 'tap';

interface JsonRequest {
  /** `POST /path?query` */
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  /** Decompressed. */
  readonly body: string;
}

interface JsonAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** An HTTP server on a free port that accepts anything. */
export interface JsonEndpoint {
  readonly url: string;
  readonly requests: readonly JsonRequest[];
  /** Response from now on; 200 by default. */
  answer: (request: JsonRequest) => JsonAnswer;
  /** Resolves after that many requests. */
  received(count: number): Promise<void>;
}

export async function startJsonEndpoint(t: Pick<Test, 'teardown'>): Promise<JsonEndpoint> {
  const requests: JsonRequest[] = [];
  const server = createServer((message, response) => {
    const pieces: Buffer[] = [];
    message.on('data', (piece: Buffer) => pieces.push(piece));
    message.on('end', () => {
      const { method = '', url = '', headers } = message;
      const bytes = Buffer.concat(pieces);
      const body = (headers['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes).toString();
      const request = { line: `${method} ${url}`, headers, body };
      requests.push(request);
      const answer = endpoint.answer(request);
      response.writeHead(answer.status, answer.headers).end(answer.body);
      server.emit('received');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const endpoint: JsonEndpoint = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    answer: () => ({ status: 200 }),
    received: async (count) => {
      while (requests.length < count) await once(server, 'received');
    },
  };
  return endpoint;
}
