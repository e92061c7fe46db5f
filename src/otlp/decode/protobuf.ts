import protobuf from 'protobufjs/minimal.js';
import type { TelemetrySignal } from '../../signal/batch.js';
import { OtlpDecodeError } from './decode-error.js';
import { requestTypes } from '../wire/messages.js';
import { ShortTexts } from './short-texts.js';
import type { OtlpRequests } from '../wire/requests.js';

/**
 * Decodes a request in protobuf. Messages nest at most 100 deep, lengths are held against the bytes that are there, and
 * text that is not UTF-8 gets replacement characters: one that was cut in the middle of a character must not cost its
 * neighbours their place. Ids and bytes are views of `bytes`.
 *
 * @param maxFields the most fields that are read; each may cost an object of a few hundred bytes
 * @throws OtlpDecodeError
 */
export function decodeProtobuf<S extends TelemetrySignal>(
  signal: S,
  bytes: Uint8Array,
  maxFields: number,
): OtlpRequests[S] {
  const reader = new BoundedReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), maxFields);
  try {
    return requestTypes[signal].decode(reader);
  } catch (cause) {
    if (cause instanceof OtlpDecodeError) throw cause;
    throw new OtlpDecodeError(`is no protobuf message of ${signal}: ${reasonOf(cause)}`, {
      place: `byte ${reader.pos}`,
      cause,
    });
  }
}

/** Counts the fields it reads, and is lenient with text. */
class BoundedReader extends protobuf.BufferReader {
  readonly #maxFields: number;
  readonly #short = new ShortTexts();
  #left: number;

  constructor(bytes: Buffer, maxFields: number) {
    super(bytes);
    this.#maxFields = maxFields;
    this.#left = maxFields;
  }

  override tag(): number {
    if (--this.#left < 0) {
      throw new OtlpDecodeError(`has more than the ${this.#maxFields} fields that are taken in one request`, {
        isTooLarge: true,
      });
    }
    return super.tag();
  }

  override stringVerify(): string {
    const start = this.pos;
    const length = this.uint32();
    const end = this.pos + length;
    // A length that lies is left to the way below, which says so.
    const known = end > this.len ? undefined : this.#short.find(this.buf, this.pos, end);
    if (known !== undefined) {
      this.pos = end;
      return known;
    }
    this.pos = start;
    try {
      const text = super.stringVerify();
      this.#short.put(text);
      return text;
    } catch (error) {
      // What it throws for text that is not UTF-8; for a length that lies it is a RangeError.
      if (!(error instanceof TypeError)) throw error;
      this.pos = start;
      return this.string();
    }
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
