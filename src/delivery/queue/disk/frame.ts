import { crc32 } from 'node:zlib';

/**
 * Layout of a record in a file: a header of {@link HEAD_BYTES} bytes, the description as JSON in UTF-8, the content.
 *
 * The header, numbers little endian: `JDQR`; version (1 byte); packing of the content (1); length of the description (2); length of
 * the content (4); CRC-32 of the content (4); items (4); CRC-32 of the preceding header bytes and of the description (4). A file can
 * be walked without reading the contents, and after damage the next record is found by its first four bytes.
 */
export const HEAD_BYTES = 24;
export const MAX_ABOUT_BYTES = 0xffff;

const MARK = Buffer.from('JDQR', 'latin1');
const VERSION = 1;
const AT = { version: 4, packing: 5, aboutBytes: 6, bytes: 8, check: 12, items: 16, headCheck: 20 } as const;

/** The contents of a record's header. */
export interface Head {
  /** How the content is packed: a number of `batch-codec.ts`. */
  readonly packing: number;
  readonly aboutBytes: number;
  /** Of the content. */
  readonly bytes: number;
  readonly check: number;
  readonly items: number;
  /** Spans, points or records: `contents` of the description; the same as `items` if it has none. */
  readonly contents: number;
}

/** Of a record as a whole. */
export function recordBytes({ aboutBytes, bytes }: Pick<Head, 'aboutBytes' | 'bytes'>): number {
  return HEAD_BYTES + aboutBytes + bytes;
}

/**
 * A record in pieces, to be written one after the other.
 *
 * @throws RangeError for a description beyond 64 KiB, which no caller has
 */
export function frame(
  about: object,
  content: Uint8Array,
  { packing, items }: Pick<Head, 'packing' | 'items'>,
): readonly [Buffer, Uint8Array] {
  const text = Buffer.from(JSON.stringify(about));
  if (text.length > MAX_ABOUT_BYTES) throw new RangeError('the description of a record is too long');
  const start = Buffer.alloc(HEAD_BYTES + text.length);
  MARK.copy(start);
  start.writeUInt8(VERSION, AT.version);
  start.writeUInt8(packing, AT.packing);
  start.writeUInt16LE(text.length, AT.aboutBytes);
  start.writeUInt32LE(content.length, AT.bytes);
  start.writeUInt32LE(crc32(content), AT.check);
  start.writeUInt32LE(items, AT.items);
  text.copy(start, HEAD_BYTES);
  start.writeUInt32LE(checkOf(start.subarray(0, AT.headCheck), text), AT.headCheck);
  return [start, content];
}

/**
 * The head of the record that begins at `offset`.
 *
 * @param bytes of a file, with at least the head and the description of that record
 * @returns undefined if no intact head begins there, and where the bytes end before the description does
 */
export function readHead(bytes: Buffer, offset: number): Head | undefined {
  if (offset + HEAD_BYTES > bytes.length) return undefined;
  if (bytes.compare(MARK, 0, MARK.length, offset, offset + MARK.length) !== 0) return undefined;
  if (bytes.readUInt8(offset + AT.version) !== VERSION) return undefined;
  const aboutBytes = bytes.readUInt16LE(offset + AT.aboutBytes);
  const end = offset + HEAD_BYTES;
  if (end + aboutBytes > bytes.length) return undefined;
  const about = bytes.subarray(end, end + aboutBytes);
  const check = checkOf(bytes.subarray(offset, offset + AT.headCheck), about);
  if (check !== bytes.readUInt32LE(offset + AT.headCheck)) return undefined;
  const head = readUnchecked(bytes, offset);
  const { contents = head.items } = JSON.parse(about.toString('utf8')) as { readonly contents?: number };
  return { ...head, contents };
}

/**
 * The items of a record whose header or description is damaged, if its lengths still lead to its end.
 *
 * @param length bytes up to the next record
 * @returns 0 if unknown
 */
export function itemsOfDamaged(bytes: Buffer, length: number): number {
  if (bytes.length < HEAD_BYTES) return 0;
  const head = readUnchecked(bytes, 0);
  // Every item takes at least one byte: more items than bytes means that the count itself is damaged.
  return recordBytes(head) === length && head.items <= length ? head.items : 0;
}

function readUnchecked(bytes: Buffer, offset: number): Omit<Head, 'contents'> {
  return {
    packing: bytes.readUInt8(offset + AT.packing),
    aboutBytes: bytes.readUInt16LE(offset + AT.aboutBytes),
    bytes: bytes.readUInt32LE(offset + AT.bytes),
    check: bytes.readUInt32LE(offset + AT.check),
    items: bytes.readUInt32LE(offset + AT.items),
  };
}

/** Where the next record may begin, from `offset` on; -1 if the bytes have no mark. */
export function nextMark(bytes: Buffer, offset: number): number {
  return bytes.indexOf(MARK, offset);
}

/** Whether a content matches its length and checksum. */
export function isIntact(content: Uint8Array, { bytes, check }: Head): boolean {
  return content.length === bytes && crc32(content) === check;
}

function checkOf(start: Uint8Array, about: Uint8Array): number {
  return crc32(about, crc32(start));
}
