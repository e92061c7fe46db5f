import { gunzipSync } from 'node:zlib';
import { inflateZstd, measureZstd } from '../../http/zstd.js';
import { binaryRequests } from './binary-requests.js';
import { isSpace, jsonRequests } from './json-requests.js';
import { MOST_BYTES, UnreadableInput, type TelemetryRequest } from './request.js';

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];
const LINE_END = 10;
/** `{`, `[`, and the first byte of a byte order mark. */
const JSON_BEGINS = [0x7b, 0x5b, 0xef];

/**
 * Reads the requests in a file: OTLP/JSON as one document, a list, or one a line (as written by the Collector's and Jackdaw's file
 * exporters), or protobuf as one request or several with length prefixes; optionally compressed with gzip or zstd.
 *
 * @throws UnreadableInput
 */
export async function readRequests(bytes: Uint8Array): Promise<readonly TelemetryRequest[]> {
  const plain = await inflated(bytes);
  const first = plain.find((byte) => !isSpace(byte));
  if (first === undefined) throw new UnreadableInput('is empty');
  if (!JSON_BEGINS.includes(first)) return binaryRequests(plain);
  try {
    return jsonRequests(plain);
  } catch (error) {
    // A protobuf request starts with the byte of a line end, and its length may be any character.
    if (plain[0] === LINE_END) return binaryRequests(plain);
    throw error;
  }
}

async function inflated(bytes: Uint8Array): Promise<Uint8Array> {
  const begins = (magic: readonly number[]): boolean => magic.every((byte, at) => bytes[at] === byte);
  try {
    if (begins(GZIP)) return gunzipSync(bytes, { maxOutputLength: MOST_BYTES });
    if (!begins(ZSTD)) return bytes;
    const most = measureZstd(bytes)?.most ?? 0;
    if (most > MOST_BYTES) throw new RangeError(`it becomes more than ${MOST_BYTES} bytes`);
    return await inflateZstd(bytes, most);
  } catch (error) {
    throw new UnreadableInput(
      `cannot be decompressed: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
