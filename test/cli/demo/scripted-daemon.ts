import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import type { BatchBody, RunBody } from '../../../src/cli/demo/body.js';

/** A response to a request; `hang up` closes the connection after the body was read. */
export type ScriptedAnswer =
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: unknown }
  | 'hang up';

/** A server that accepts trace batches and responds as a test defines. */
export interface ScriptedDaemon {
  readonly url: string;
  /** Every body accepted with 200, in order. */
  readonly batches: readonly BatchBody[];
  readonly requests: readonly { readonly path: string; readonly authorization: string | undefined }[];
  /** Calls back once for each body accepted from now on. */
  onBatch(listener: (batch: BatchBody) => void): void;
}

/** @param answer gives the response to request n (from 0); undefined accepts the batch */
export async function startScriptedDaemon(
  t: Test,
  answer: (request: number) => ScriptedAnswer | undefined = () => undefined,
): Promise<ScriptedDaemon> {
  const batches: BatchBody[] = [];
  const requests: { path: string; authorization: string | undefined }[] = [];
  const listeners: ((batch: BatchBody) => void)[] = [];
  const server = createServer((request, response) => {
    const number = requests.length;
    requests.push({ path: request.url ?? '', authorization: request.headers.authorization });
    void readBody(request).then((text) => {
      const scripted = answer(number);
      if (scripted === 'hang up') {
        request.socket.destroy();
        return;
      }
      if (scripted) {
        response.writeHead(scripted.status, { 'content-type': 'application/json', ...scripted.headers });
        response.end(typeof scripted.body === 'string' ? scripted.body : JSON.stringify(scripted.body ?? {}));
        return;
      }
      const batch = JSON.parse(text) as BatchBody;
      batches.push(batch);
      for (const listener of listeners) listener(batch);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ accepted: batch.traces.length, rejected: 0, errors: [] }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    batches,
    requests,
    onBatch: (listener) => listeners.push(listener),
  };
}

/** Every run of all batches. */
export function runsOf(daemon: ScriptedDaemon): RunBody[] {
  return daemon.batches.flatMap((batch) => batch.traces);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
