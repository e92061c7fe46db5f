import zlib from 'node:zlib';
import type { Transform } from 'node:stream';
import { HttpProblem } from '../component/http.js';
import { firstModule } from '../config/built-module.js';
import { WorkerPool } from '../worker/pool.js';
import type { InflateTask } from './inflate-thread.js';
import type { Measure } from './measure.js';
import { overloaded } from './problem.js';
import { inflateSnappy, measureSnappy } from './snappy.js';
import { inflateZstd, measureZstd } from './zstd.js';

/** A coding that can be decompressed piece by piece and stopped in between. */
interface Piecewise {
  /** Throws with code ERR_BUFFER_TOO_LARGE above `maxOutputLength`. */
  readonly sync: (bytes: Uint8Array, options: { maxOutputLength: number; chunkSize: number }) => Buffer;
  readonly stream: (options: { chunkSize: number }) => Transform;
}

/** A coding whose output size can be measured in advance, and that is decompressed in one step. */
interface Measured {
  readonly coding: InflateTask['coding'];
  /** @returns undefined for invalid data */
  readonly measure: (bytes: Uint8Array) => Measure | undefined;
  /** Throws for invalid data and for output larger than `most`. */
  readonly inflate: (bytes: Uint8Array, most: number) => Uint8Array | Promise<Uint8Array>;
}

type Coding = Piecewise | Measured;

const KIB = 1024;
/** Up to this size, a body is decompressed synchronously: 93 KB of JSON took 0.12 ms, and 0.27 ms in the thread pool. */
const MAX_SYNC_INPUT = 64 * KIB;
/**
 * Maximum output of synchronous decompression. A decompression bomb has cost about a millisecond by then and continues as a
 * stream.
 */
const MAX_SYNC_OUTPUT = 1024 * KIB;
const CHUNK = 64 * KIB;
/**
 * Maximum compression ratio, for output larger than `FREE_OUTPUT`. Batches of repeated OTLP data with distinct ids and times
 * reached 222 with zstd; gzip cannot exceed 1032, but zstd and brotli make 63 MB of spaces from a few bytes.
 */
const MAX_RATIO = 1000;
const FREE_OUTPUT = 1024 * KIB;
const TOO_LARGE = 'body_too_large';

/** Accepted values of `Content-Encoding` and `grpc-encoding`: the codings of browsers and of the OpenTelemetry Collector. */
export const ACCEPTED_CODINGS: readonly string[] = [
  'gzip',
  'deflate',
  'zlib',
  'br',
  'zstd',
  'snappy',
  'x-snappy-framed',
];

function codingOf(name: string, bytes: Uint8Array): Coding | undefined {
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return { sync: zlib.gunzipSync, stream: zlib.createGunzip };
    case 'deflate':
    case 'zlib':
      return hasZlibHeader(bytes)
        ? { sync: zlib.inflateSync, stream: zlib.createInflate }
        : { sync: zlib.inflateRawSync, stream: zlib.createInflateRaw };
    case 'br':
      return { sync: zlib.brotliDecompressSync, stream: zlib.createBrotliDecompress };
    case 'zstd':
      return { coding: 'zstd', measure: measureZstd, inflate: inflateZstd };
    case 'snappy':
    case 'x-snappy-framed':
      return { coding: 'snappy', measure: measureSnappy, inflate: inflateSnappy };
    default:
      return undefined;
  }
}

/**
 * `deflate` should mean the zlib format (RFC 1950), but some clients send the raw stream. Only the zlib format starts with this
 * header.
 */
function hasZlibHeader(bytes: Uint8Array): boolean {
  const [first = 0, second = 0] = bytes;
  return (first & 0x0f) === 8 && (first * 256 + second) % 31 === 0;
}

/**
 * Reads a `Content-Encoding` header.
 *
 * @returns undefined for no coding
 * @throws HttpProblem 415 for an unknown coding
 */
export function contentCoding(header: string | undefined): string | undefined {
  const coding = header?.trim().toLowerCase();
  if (coding === undefined || coding === '' || coding === 'identity') return undefined;
  if (codingOf(coding, new Uint8Array()) !== undefined) return coding;
  const known = ACCEPTED_CODINGS.join(', ');
  throw new HttpProblem(415, 'unsupported_media_type', `The Content-Encoding must be one of ${known}.`, {
    headers: { 'accept-encoding': known },
  });
}

/**
 * Decompresses a whole body, up to the limit and to {@link MAX_RATIO} times its size.
 *
 * @param coding from {@link contentCoding}
 * @param maxBytes of the decompressed body
 * @param reserve called before bytes are kept; if it returns false, the call fails with 503 `overloaded`
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
  const mostByRatio = Math.max(FREE_OUTPUT, bytes.length * MAX_RATIO);
  if (mostByRatio >= maxBytes) return inflate(how, coding, bytes, maxBytes, reserve);
  try {
    return await inflate(how, coding, bytes, mostByRatio, reserve);
  } catch (error) {
    throw error instanceof HttpProblem && error.code === TOO_LARGE ? tooRepetitive() : error;
  }
}

async function inflate(
  how: Coding,
  coding: string,
  bytes: Uint8Array,
  maxBytes: number,
  reserve: (bytes: number) => boolean,
): Promise<Uint8Array> {
  if ('measure' in how) return inflateMeasured(how, coding, bytes, maxBytes, reserve);
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

/** Decompresses a small body in this thread, a larger one in another. */
async function inflateMeasured(
  how: Measured,
  coding: string,
  bytes: Uint8Array,
  maxBytes: number,
  reserve: (bytes: number) => boolean,
): Promise<Uint8Array> {
  const measure = how.measure(bytes);
  if (measure === undefined) throw invalidEncoding(coding);
  if (measure.least > maxBytes) throw tooLarge(maxBytes);
  const most = Math.min(measure.most, maxBytes);
  let inflated: Uint8Array | string;
  if (bytes.length > MAX_SYNC_INPUT || most > MAX_SYNC_OUTPUT)
    inflated = await inflateInThread({ coding: how.coding, bytes, most });
  else {
    try {
      inflated = await how.inflate(bytes, most);
    } catch (error) {
      inflated = error instanceof Error ? error.message : String(error);
    }
  }
  if (typeof inflated === 'string')
    throw measure.most > maxBytes ? tooLarge(maxBytes) : invalidEncoding(coding, new Error(inflated));
  if (!reserve(inflated.length)) throw overloaded();
  return inflated;
}

let thread: WorkerPool<InflateTask, Uint8Array | string> | undefined;
let lastInThread: Promise<unknown> = Promise.resolve();

/**
 * Runs one task at a time, so that only one body has uncounted bytes.
 *
 * @returns the bytes, or why the data is invalid
 */
function inflateInThread(task: InflateTask): Promise<Uint8Array | string> {
  thread ??= new WorkerPool({
    module: firstModule(new URL('./inflate-thread.js', import.meta.url)),
    threads: 1,
    onIdleCrash: ignore,
  });
  const pool = thread;
  const result = lastInThread.then(() => {
    // Copied: the body must stay available meanwhile, and transferring a view would move its whole buffer.
    const bytes = new Uint8Array(task.bytes);
    return pool.run({ ...task, bytes }, [bytes.buffer]);
  });
  lastInThread = result.catch(ignore);
  return result;
}

function ignore(): void {
  // The pending request fails; the pool replaces a thread that ends.
}

function inflateAsStream(
  how: Piecewise,
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

function tooRepetitive(): HttpProblem {
  return new HttpProblem(
    413,
    TOO_LARGE,
    `The body becomes more than ${MAX_RATIO} times as large on decompression: send it without Content-Encoding, or in smaller parts.`,
  );
}

/** 413 `body_too_large`. */
export function tooLarge(maxBytes: number): HttpProblem {
  return new HttpProblem(
    413,
    TOO_LARGE,
    `The body is larger than the ${maxBytes} bytes accepted here, before or after decompression.`,
  );
}

function invalidEncoding(coding: string, cause?: unknown): HttpProblem {
  return new HttpProblem(400, 'invalid_encoding', `The body is not valid ${coding} data.`, { cause });
}
