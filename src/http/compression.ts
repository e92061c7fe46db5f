import { pipeline, Readable } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { HttpResponse } from '../component/http.js';

/** Below this the saving is not worth the trip to the thread pool. */
const MIN_BYTES = 1024;
/** 200 KB of JSON: 0.9 ms and 21 KB; the default level 6 takes 1.3 ms for 20 KB. */
const LEVEL = 4;
const COMPRESSIBLE =
  /^(?:text\/(?!event-stream)|image\/svg\+xml|application\/(?:[a-z0-9.-]+\+)?(?:json|xml|javascript|wasm|x-ndjson|yaml))/i;
const NO_BODY = new Set([204, 206, 304]);

const gzip = promisify<zlib.InputType, zlib.ZlibOptions, Buffer>(zlib.gzip);

/** Whether a response gains by gzip, whoever asks for it: then it varies by `Accept-Encoding`. */
export function isCompressible(response: HttpResponse, contentType: string): boolean {
  const { body, headers, status } = response;
  if (body === undefined || NO_BODY.has(status) || headers?.['content-encoding'] !== undefined) return false;
  if (headers?.['cache-control']?.includes('no-transform') === true || !COMPRESSIBLE.test(contentType))
    return false;
  return typeof body === 'string' || body instanceof Uint8Array ? body.length >= MIN_BYTES : true;
}

/** Whether an `Accept-Encoding` header takes gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  if (header === undefined) return false;
  let byWildcard = false;
  for (const item of header.toLowerCase().split(',')) {
    const [name, ...parameters] = item.split(';').map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const isWanted = weight === undefined || Number(weight.slice(2)) > 0;
    if (name === 'gzip' || name === 'x-gzip') return isWanted;
    if (name === '*') byWildcard = isWanted;
  }
  return byWildcard;
}

/** Compresses in the thread pool. */
export function compress(body: string | Uint8Array): Promise<Uint8Array> {
  return gzip(body, { level: LEVEL });
}

/** Compresses piece by piece. Ending it early ends its source; a failure of the source is thrown to the reader. */
export function compressPieces(pieces: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  const packed = zlib.createGzip({ level: LEVEL });
  pipeline(Readable.from(pieces, { objectMode: false }), packed, () => {
    // A failure has destroyed `packed` with the same error, which its reader gets.
  });
  return packed;
}
