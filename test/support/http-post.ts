import { Agent, request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The parsed body; the text where it is no JSON. */
  readonly body: unknown;
}

export interface Sent {
  readonly method?: string;
  /** Undefined: not sent, where it would be by default. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** An iterable is sent in chunks, as long as the server reads. */
  readonly body?: Uint8Array | string | AsyncIterable<Uint8Array>;
}

/**
 * Sends one request on a connection of its own, byte by byte as told: nothing is added that a client library would add
 * except `Host`, `Connection: keep-alive` and the framing. An answer that comes before the body has been sent is an answer.
 */
export async function post(url: string, sent: Sent): Promise<Answer> {
  const headers = Object.entries(sent.headers ?? {}).filter(([, value]) => value !== undefined);
  const outgoing = request(url, {
    method: sent.method ?? 'POST',
    headers: Object.fromEntries(headers),
    // A client that says `Connection: close` may be reset before it has read the answer to a body that is too large.
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
    // The server may answer and close before it has everything: only the answer counts.
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
