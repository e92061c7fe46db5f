import type { TelemetrySignal } from '../../signal/batch.js';
import { OtlpDecodeError } from './decode-error.js';
import { requestTypes } from '../wire/messages.js';
import { LenientReader } from '../wire/lenient-reader.js';
import type { OtlpRequests } from '../wire/requests.js';

/**
 * Decodes a protobuf request. Messages nest at most 100 deep, and lengths are checked against the available bytes. Invalid UTF-8
 * gets replacement characters, so that one text cut within a character does not fail the whole request. Ids and bytes are views
 * of `bytes`.
 *
 * @param maxFields maximum fields and elements of packed arrays; each may cost an object of a few hundred bytes
 * @throws OtlpDecodeError
 */
export function decodeProtobuf<S extends TelemetrySignal>(
  signal: S,
  bytes: Uint8Array,
  maxFields: number,
): OtlpRequests[S] {
  return readWhole(signal, bytes, maxFields, (reader) => requestTypes[signal].decode(reader));
}

/** @throws OtlpDecodeError for any error of `read` */
export function readWhole<T>(
  signal: TelemetrySignal,
  bytes: Uint8Array,
  maxFields: number,
  read: (reader: BoundedReader) => T,
): T {
  const reader = new BoundedReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), maxFields);
  try {
    return read(reader);
  } catch (cause) {
    if (cause instanceof OtlpDecodeError) throw cause;
    throw new OtlpDecodeError(`is not a protobuf message of ${signal}: ${reasonOf(cause)}`, {
      place: `byte ${reader.pos}`,
      cause,
    });
  }
}

/** The methods that read packed arrays, and the bytes of an element; 0 for integers of any length. */
const PACKED = {
  ...{ bools: 0, int32s: 0, uint32s: 0, sint32s: 0, int64s: 0, uint64s: 0, sint64s: 0 },
  ...{ fixed32s: 4, sfixed32s: 4, floats: 4, fixed64s: 8, sfixed64s: 8, doubles: 8 },
} as const;

/** Counts the fields it reads, and the elements of packed arrays before they are allocated. */
export class BoundedReader extends LenientReader {
  readonly #maxFields: number;
  #left: number;

  constructor(bytes: Buffer, maxFields: number) {
    super(bytes);
    this.#maxFields = maxFields;
    this.#left = maxFields;
  }

  override tag(): number {
    this.spend(1);
    return super.tag();
  }

  /** Counts fields that other code reads. */
  spend(fields: number): void {
    this.#left -= fields;
    if (this.#left < 0) {
      throw new OtlpDecodeError(
        `has more than ${this.#maxFields} fields and elements of arrays; send smaller batches`,
        { isTooLarge: true },
      );
    }
  }

  /** Counts the elements of a packed array that begins here. @param width bytes of each; 0 for integers of any length */
  spendPacked(width: number): void {
    const start = this.pos;
    const size = this.size();
    const from = this.pos;
    // An invalid length is left to the reader.
    const end = Math.min(from + size, this.len);
    this.pos = start;
    this.spend(width === 0 ? integersIn(this.buf, from, end, this.#left + 1) : (end - from) / width);
  }
}

type ReadPacked = (this: BoundedReader, into?: never) => never;
const readers = LenientReader.prototype as unknown as Readonly<Record<keyof typeof PACKED, ReadPacked>>;
for (const name of Object.keys(PACKED) as (keyof typeof PACKED)[]) {
  const read = readers[name];
  BoundedReader.prototype[name] = function (this: BoundedReader, into?: never) {
    this.spendPacked(PACKED[name]);
    return read.call(this, into);
  };
}

/** The number of integers in a packed array: each ends with a byte below 128. @param most ends the count */
function integersIn(bytes: Uint8Array, start: number, end: number, most: number): number {
  let count = 0;
  for (let at = start; at < end && count < most; at++) if ((bytes[at] ?? 0) < 128) count++;
  return count;
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
