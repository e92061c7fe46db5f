import { uncompressSync } from 'snappy';
import { wordAt } from '../signal/checked.js';
import type { Measure } from './measure.js';

/** The first chunk of a framed stream. */
const STREAM_HEAD = Buffer.from([0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59]);
const COMPRESSED = 0x00;
const UNCOMPRESSED = 0x01;
/** From this type on, unknown chunks may be skipped. */
const FIRST_SKIPPABLE = 0x80;
const CHUNK_HEAD_BYTES = 4;
const CHECKSUM_BYTES = 4;
const MAX_CHUNK_BYTES = 65_536;
/** Maximum output for each byte of a block: three bytes copy 64. */
const MAX_GAIN = 22;

/**
 * The decompressed size of snappy data. The first bytes distinguish blocks from framed streams, because the OpenTelemetry
 * Collector calls both `snappy`, depending on version and protocol.
 *
 * @returns undefined for invalid data
 */
export function measureSnappy(bytes: Uint8Array): Measure | undefined {
  const length = isFramed(bytes) ? framedLength(bytes) : blockLength(bytes);
  return length === undefined ? undefined : { least: length, most: length };
}

/**
 * Decompresses either form.
 *
 * @throws Error for invalid data
 */
export function inflateSnappy(bytes: Uint8Array, length: number): Uint8Array {
  if (!isFramed(bytes)) return inflateBlock(bytes);
  const out = Buffer.allocUnsafeSlow(length);
  let end = 0;
  for (const { kind, content } of chunksOf(bytes)) {
    if (kind !== COMPRESSED && kind !== UNCOMPRESSED) continue;
    const data = content.subarray(CHECKSUM_BYTES);
    const plain = kind === COMPRESSED ? inflateBlock(data) : data;
    if (maskedChecksum(plain) !== content.readUInt32LE(0)) throw new Error('a checksum is wrong');
    out.set(plain, end);
    end += plain.length;
  }
  return out.subarray(0, end);
}

function isFramed(bytes: Uint8Array): boolean {
  return STREAM_HEAD.equals(bytes.subarray(0, STREAM_HEAD.length));
}

function inflateBlock(bytes: Uint8Array): Buffer {
  const plain = uncompressSync(bytes, { asBuffer: true });
  return typeof plain === 'string' ? Buffer.from(plain) : plain;
}

/** The length declared by a block, if it is plausible. */
function blockLength(bytes: Uint8Array): number | undefined {
  let length = 0;
  for (let at = 0; at < 5; at++) {
    const byte = bytes[at];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return length > bytes.length * MAX_GAIN ? undefined : length;
  }
  return undefined;
}

function framedLength(bytes: Uint8Array): number | undefined {
  let length = 0;
  let end = 0;
  for (const { kind, content, next } of chunksOf(bytes)) {
    end = next;
    const data = content.subarray(CHECKSUM_BYTES);
    const isData = kind === COMPRESSED || kind === UNCOMPRESSED;
    if (isData && content.length < CHECKSUM_BYTES) return undefined;
    if (!isData && kind < FIRST_SKIPPABLE) return undefined;
    const gained = kind === COMPRESSED ? blockLength(data) : kind === UNCOMPRESSED ? data.length : 0;
    if (gained === undefined || gained > MAX_CHUNK_BYTES) return undefined;
    length += gained;
  }
  return end === bytes.length ? length : undefined;
}

interface Chunk {
  readonly kind: number;
  readonly content: Buffer;
  readonly next: number;
}

/** All complete chunks. */
function* chunksOf(bytes: Uint8Array): Generator<Chunk> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + CHUNK_HEAD_BYTES <= buffer.length;) {
    const start = at + CHUNK_HEAD_BYTES;
    const next = start + buffer.readUIntLE(at + 1, 3);
    if (next > buffer.length) return;
    yield { kind: buffer.readUInt8(at), content: buffer.subarray(start, next), next };
    at = next;
  }
}

/** CRC-32C table by bytes. */
const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc >>> 0;
});

/** Masked as the framing format requires: rotated, plus a constant. */
function maskedChecksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ wordAt(CRC_TABLE, (crc ^ byte) & 0xff);
  crc = ~crc >>> 0;
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}
