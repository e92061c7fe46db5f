import { Agent, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed body, or the text if it is not JSON. */
  readonly body: unknown;
}

export interface Sent {
  readonly method?: string;
  /** undefined removes a default header. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** An iterable is sent in chunks as long as the server reads. */
  readonly body?: Uint8Array | string | AsyncIterable<Uint8Array>;
}

/**
 * Sends one request exactly as given on its own connection, adding only `Host`, `Connection: keep-alive` and the framing. A response
 * before the end of the body is a response.
 */
export async function post(url: string, sent: Sent): Promise<Answer> {
  const headers = Object.entries(sent.headers ?? {}).filter(([, value]) => value !== undefined);
  const outgoing = request(url, {
    method: sent.method ?? 'POST',
    headers: Object.fromEntries(headers),
    // With `Connection: close` a client may be reset before it has read the response to an oversized body.
    agent: new Agent({ keepAlive: true }),
  });
  const answer = new Promise<Answer>((resolve, reject) => {
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: parsed(text) });
        outgoing.destroy();
      });
    });
  });
  const { body } = sent;
  if (typeof body === 'object' && Symbol.asyncIterator in body) {
    // The server may respond and close early: only the response counts.
    pipeline(Readable.from(body, { objectMode: false }), outgoing).catch(() => undefined);
  } else {
    outgoing.end(body);
  }
  return answer;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
