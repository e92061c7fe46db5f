import type { ZSTDDecoder } from 'zstddec';
import { invariant } from '../signal/checked.js';
import type { Measure } from './measure.js';

const MAGIC = 0xfd2fb528;
/** Skippable frames: 0x184D2A50 to 0x184D2A5F. */
const SKIPPABLE = 0x184d2a5;
const MAX_BLOCK_BYTES = 128 * 1024;
const DICTIONARY_BYTES = [0, 1, 2, 4] as const;

const RAW = 0;
const REPEATED = 1;
const COMPRESSED = 2;

/**
 * The decompressed size of zstd data (RFC 8878 §3.1), from the headers of its frames and blocks alone.
 *
 * @returns undefined for incomplete data, and for data that needs a dictionary
 */
export function measureZstd(bytes: Uint8Array): Measure | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let [least, most] = [0, 0];
  try {
    for (let at = 0; at < bytes.length;) {
      const frame = readFrame(view, at);
      if (frame === undefined) return undefined;
      at = frame.end;
      least += frame.least;
      most += frame.most;
    }
  } catch (error) {
    // Thrown by the view if a header extends past the end.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return { least, most };
}

interface Frame extends Measure {
  readonly end: number;
}

/** @throws RangeError for an incomplete frame */
function readFrame(view: DataView, start: number): Frame | undefined {
  const magic = view.getUint32(start, true);
  if (magic >>> 4 === SKIPPABLE) {
    const end = start + 8 + view.getUint32(start + 4, true);
    return end > view.byteLength ? undefined : { end, least: 0, most: 0 };
  }
  if (magic !== MAGIC) return undefined;
  const { at, window, size, hasChecksum } = readHead(view, start + 4);
  const blocks = readBlocks(view, at, Math.min(window, MAX_BLOCK_BYTES));
  if (blocks === undefined) return undefined;
  const end = blocks.end + (hasChecksum ? 4 : 0);
  if (end > view.byteLength || (size !== undefined && size > blocks.most)) return undefined;
  return size === undefined ? { ...blocks, end } : { end, least: size, most: size };
}

function readHead(view: DataView, start: number) {
  const flags = view.getUint8(start);
  let at = start + 1;
  const isSingle = ((flags >> 5) & 1) === 1;
  let window = Infinity;
  if (!isSingle) {
    const descriptor = view.getUint8(at++);
    const base = 2 ** (10 + (descriptor >> 3));
    window = base + (base / 8) * (descriptor & 7);
  }
  at += DICTIONARY_BYTES[(flags & 3) as 0 | 1 | 2 | 3];
  let size: number | undefined;
  switch (flags >> 6) {
    case 0:
      if (isSingle) size = view.getUint8(at++);
      break;
    case 1:
      size = view.getUint16(at, true) + 256;
      at += 2;
      break;
    case 2:
      size = view.getUint32(at, true);
      at += 4;
      break;
    default:
      size = Number(view.getBigUint64(at, true));
      at += 8;
  }
  return {
    at,
    window: isSingle ? invariant(size, 'size in the head of a single segment') : window,
    size,
    hasChecksum: ((flags >> 2) & 1) === 1,
  };
}

/** @throws RangeError if the last block is missing */
function readBlocks(view: DataView, start: number, maxBytes: number): Frame | undefined {
  let [at, least, most] = [start, 0, 0];
  for (;;) {
    const head = view.getUint8(at) | (view.getUint8(at + 1) << 8) | (view.getUint8(at + 2) << 16);
    const size = head >> 3;
    const kind = (head >> 1) & 3;
    at += 3;
    if (kind === COMPRESSED) {
      at += size;
      most += maxBytes;
    } else if (kind === RAW || kind === REPEATED) {
      at += kind === RAW ? size : 1;
      least += size;
      most += size;
    } else return undefined;
    if (at > view.byteLength) return undefined;
    if ((head & 1) === 1) return { end: at, least, most };
  }
}

let loading: Promise<ZSTDDecoder> | undefined;

/**
 * Decompresses zstd data with the reference implementation in WebAssembly, because `node:zlib` supports zstd only from Node 22.15
 * on. Its memory remains as large as the largest body so far and its output.
 *
 * @param most maximum size of the output in bytes
 * @throws Error for data that is invalid or exceeds the maximum
 */
export async function inflateZstd(bytes: Uint8Array, most: number): Promise<Uint8Array<ArrayBuffer>> {
  if (most === 0) return new Uint8Array();
  loading ??= load();
  // A copy of the module's memory.
  const inflated = (await loading).decode(bytes, most) as Uint8Array<ArrayBuffer>;
  // Errors show only as an empty result. Valid empty data is handled above, unless its headers are unlike those of any encoder.
  if (inflated.length === 0) throw new Error('no valid zstd data');
  return inflated;
}

/** Loaded at the first zstd body, because the module takes 20 ms to load. */
async function load(): Promise<ZSTDDecoder> {
  const { ZSTDDecoder } = await import('zstddec');
  const decoder = new ZSTDDecoder();
  await decoder.init();
  return decoder;
}
