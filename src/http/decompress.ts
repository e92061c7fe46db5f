import zlib from 'node:zlib';
import type { Transform } from 'node:stream';
import { HttpProblem } from '../component/http.js';
import { overloaded } from './problem.js';

interface Coding {
  /** Throws with code ERR_BUFFER_TOO_LARGE above `maxOutputLength`. */
  readonly sync: (bytes: Uint8Array, options: { maxOutputLength: number; chunkSize: number }) => Buffer;
  readonly stream: (options: { chunkSize: number }) => Transform;
}

const KIB = 1024;
/** Up to here a body is inflated at once: 93 KB of JSON took 0.12 ms so, and 0.27 ms by way of the thread pool. */
const MAX_SYNC_INPUT = 64 * KIB;
/** The most that may come out of it at once; a bomb has cost about a millisecond then, and goes on as a stream. */
const MAX_SYNC_OUTPUT = 1024 * KIB;
const CHUNK = 64 * KIB;

/** zstd came to `node:zlib` with Node 22.15. */
const later = zlib as typeof zlib & {
  readonly zstdDecompressSync?: Coding['sync'];
  readonly createZstdDecompress?: Coding['stream'];
};

function codingOf(name: string, bytes: Uint8Array): Coding | undefined {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return { sync: zlib.gunzipSync, stream: zlib.createGunzip };
    case 'deflate':
      return hasZlibHeader(bytes)
        ? { sync: zlib.inflateSync, stream: zlib.createInflate }
        : { sync: zlib.inflateRawSync, stream: zlib.createInflateRaw };
    case 'br':
      return { sync: zlib.brotliDecompressSync, stream: zlib.createBrotliDecompress };
    case 'zstd': {
      const { zstdDecompressSync: sync, createZstdDecompress: stream } = later;
      return sync === undefined || stream === undefined ? undefined : { sync, stream };
    }
    default:
      return undefined;
  }
}

/** `deflate` should mean the zlib format (RFC 1950), but some send the bare stream: only the former begins like this. */
function hasZlibHeader(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

/** The codings that {@link decompress} knows on this Node. */
function acceptedCodings(): string[] {
  return ['gzip', 'deflate', 'br', ...(later.createZstdDecompress === undefined ? [] : ['zstd'])];
}

/** @returns the coding of a `Content-Encoding` header, undefined for none. @throws HttpProblem 415 for an unknown one. */
export function contentCoding(header: string | undefined): string | undefined {
  const coding = header?.trim().toLowerCase();
  if (coding === undefined || coding === '' || coding === 'identity') return undefined;
  if (codingOf(coding, new Uint8Array()) !== undefined) return coding;
  const known = acceptedCodings().join(', ');
  throw new HttpProblem(415, 'unsupported_media_type', `The Content-Encoding is none of ${known}.`, {
    headers: { 'accept-encoding': known },
  });
}

/**
 * Inflates a whole body, and no more of it than the limit.
 *
 * @param coding as {@link contentCoding} gave it
 * @param maxBytes of the inflated body
 * @param reserve asked before bytes are kept; false ends it with 503 `overloaded`
 * @throws HttpProblem 400 `invalid_encoding`, 413 `body_too_large`, 503 `overloaded`
 */
export async function decompress(
  coding: string,
  bytes: Uint8Array,
  maxBytes: number,
  reserve: (bytes: number) => boolean,
): Promise<Uint8Array> {
  const how = codingOf(coding, bytes);
  if (how === undefined) throw invalidEncoding(coding);
  if (bytes.length > MAX_SYNC_INPUT) return inflateAsStream(how, coding, bytes, maxBytes, reserve);
  const most = Math.min(maxBytes, MAX_SYNC_OUTPUT);
  try {
    const inflated = how.sync(bytes, { maxOutputLength: Math.max(1, most), chunkSize: CHUNK });
    if (!reserve(inflated.length)) throw overloaded();
    return inflated;
  } catch (error) {
    if (error instanceof HttpProblem) throw error;
    if (!(error instanceof RangeError)) throw invalidEncoding(coding, error);
    if (most === maxBytes) throw tooLarge(maxBytes);
    return inflateAsStream(how, coding, bytes, maxBytes, reserve);
  }
}

function inflateAsStream(
  how: Coding,
  coding: string,
  bytes: Uint8Array,
  maxBytes: number,
  reserve: (bytes: number) => boolean,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const stream = how.stream({ chunkSize: CHUNK });
    const pieces: Buffer[] = [];
    let length = 0;
    const stop = (problem: HttpProblem): void => {
      reject(problem);
      stream.destroy();
    };
    stream.on('data', (piece: Buffer) => {
      length += piece.length;
      if (length > maxBytes) stop(tooLarge(maxBytes));
      else if (reserve(piece.length)) pieces.push(piece);
      else stop(overloaded());
    });
    stream.on('error', (error) => {
      reject(invalidEncoding(coding, error));
    });
    stream.on('end', () => {
      resolve(Buffer.concat(pieces, length));
    });
    stream.end(bytes);
  });
}

/** 413 `body_too_large`. */
export function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem(
    413,
    'body_too_large',
    `The body is larger than the ${maxBytes} bytes that are taken here, before or after decompression.`,
  );
}

function invalidEncoding(coding: string, cause?: unknown): HttpProblem {
  return new HttpProblem(400, 'invalid_encoding', `The body is no valid ${coding} data.`, { cause });
}
