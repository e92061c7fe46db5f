import type { HttpResponse } from '../component/http.js';
import { chooseCoding, compressPieces, isCompressible, type AnswerCoding } from './compression.js';
import type { AnswerHead, Closing, Exchange } from './engine.js';
import { isKnownToClient, packOnce, weakTag } from './entity-tag.js';

const NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;
/** Headers that only the engine sets. */
const ENGINE_HEADERS = new Set(['content-length', 'transfer-encoding', 'connection', 'keep-alive', 'date']);
const MIN_STATUS = 200;
const MAX_STATUS = 599;
const DEFAULT_TYPE = 'application/json';
const NO_HEADERS: Readonly<Record<string, string>> = Object.freeze({});

/** Headers of every response of a listener, in addition to the response's own. */
export interface AnswerBase {
  /** Name, value, name, value …; the array belongs to this response, which appends its own headers. */
  readonly headers: string[];
  readonly closing: Closing;
}

/**
 * Sends a response: compressed if the client accepts it, without a body for HEAD, an iterable in pieces.
 *
 * @returns a promise if sending continues after this call. It rejects if the response cannot be sent (an invalid header) or its
 *   stream fails; `exchange.hasBegun` shows whether a part was already sent.
 */
export function sendAnswer(
  exchange: Exchange,
  response: HttpResponse,
  base: AnswerBase,
): Promise<void> | undefined {
  const { status, body } = response;
  if (!Number.isInteger(status) || status < MIN_STATUS || status > MAX_STATUS) {
    throw new Error(`${JSON.stringify(status)} is not a response status`);
  }
  const { headers } = base;
  let contentType = DEFAULT_TYPE;
  const own = response.headers ?? NO_HEADERS;
  for (const name of Object.keys(own)) {
    const value = own[name] ?? '';
    if (!NAME.test(name) || !VALUE.test(value)) {
      throw new Error(`the header ${JSON.stringify(name)} has characters that are not allowed in a header`);
    }
    if (name === 'content-type') contentType = value;
    else if (!ENGINE_HEADERS.has(name)) headers.push(name, value);
  }
  if (body === undefined) {
    const hasNone = status === 204 || status === 304;
    const head = { status, headers, closing: base.closing };
    if (exchange.method === 'HEAD') exchange.sendHead(head, hasNone ? undefined : 0);
    else exchange.send(head, hasNone ? undefined : '');
    return undefined;
  }
  const { etag: tag, 'cache-control': caching } = own;
  headers.push('x-content-type-options', 'nosniff');
  // Responses contain user data, so caches may store them only if the route allows it.
  if (tag === undefined && caching === undefined) headers.push('cache-control', 'no-store');
  let coding: AnswerCoding | undefined;
  if (isCompressible(response, contentType)) {
    headers.push('vary', 'Accept-Encoding');
    coding = chooseCoding(exchange.header('accept-encoding'));
    if (coding !== undefined && tag !== undefined) headers[headers.indexOf('etag') + 1] = weakTag(tag);
  }
  if (isSafe(exchange) && status === 200 && isKnownToClient(exchange.header('if-none-match'), tag)) {
    exchange.send({ status: 304, headers, closing: base.closing }, undefined);
    return isPieces(body) ? endUnread(body) : undefined;
  }
  headers.push('content-type', contentType);
  if (coding !== undefined) headers.push('content-encoding', coding.name);
  const head: AnswerHead = { status, headers, closing: base.closing };
  if (!isPieces(body)) {
    if (exchange.method === 'HEAD') {
      exchange.sendHead(head, coding === undefined ? byteLength(body) : undefined);
    } else if (coding !== undefined) {
      const packing =
        tag !== undefined && typeof body !== 'string' ? packOnce(coding, body) : coding.pack(body);
      return packing.then((packed) => {
        exchange.send(head, packed);
      });
    } else {
      exchange.send(head, body);
    }
    return undefined;
  }
  if (exchange.method === 'HEAD') {
    exchange.sendHead(head, undefined);
    return endUnread(body);
  }
  return sendPieces(exchange, head, coding === undefined ? body : compressPieces(coding, body));
}

async function sendPieces(
  exchange: Exchange,
  head: AnswerHead,
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  const iterator = pieces[Symbol.asyncIterator]();
  let stopWaiting: (() => void) | undefined;
  exchange.onClosed(() => {
    stopWaiting?.();
  });
  let isOver = false;
  try {
    while (!exchange.isClosed) {
      // Not a race against one promise for the whole response, which would collect a reaction for every piece.
      const next = await new Promise<IteratorResult<Uint8Array> | undefined>((resolve, reject) => {
        stopWaiting = () => {
          resolve(undefined);
        };
        iterator.next().then(resolve, reject);
      });
      if (next === undefined) break;
      if (next.done === true) {
        isOver = true;
        if (!exchange.hasBegun) exchange.begin(head);
        exchange.end();
        return;
      }
      if (!exchange.hasBegun) exchange.begin(head);
      await exchange.write(next.value);
    }
  } catch (error) {
    isOver = true;
    throw error;
  } finally {
    // Not awaited: a source that is stuck in `next` may never notice.
    if (!isOver) iterator.return?.().then(ignore, ignore);
  }
}

/** A source that is never read may still hold resources: ends it. */
async function endUnread(pieces: AsyncIterable<Uint8Array>): Promise<void> {
  await pieces[Symbol.asyncIterator]().return?.();
}

function byteLength(body: string | Uint8Array): number {
  return typeof body === 'string' ? Buffer.byteLength(body) : body.length;
}

function isSafe({ method }: Exchange): boolean {
  return method === 'GET' || method === 'HEAD';
}

function isPieces(body: NonNullable<HttpResponse['body']>): body is AsyncIterable<Uint8Array> {
  return typeof body !== 'string' && !(body instanceof Uint8Array);
}

function ignore(): void {
  // The client is gone, so an error of the source does not matter.
}
