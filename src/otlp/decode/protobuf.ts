import type { TelemetrySignal } from '../../signal/batch.js';
import { OtlpDecodeError } from './decode-error.js';
import { requestTypes } from '../wire/messages.js';
import { LenientReader } from '../wire/lenient-reader.js';
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
  return readWhole(signal, bytes, maxFields, (reader) => requestTypes[signal].decode(reader));
}

/** @throws OtlpDecodeError for what `read` throws */
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
    throw new OtlpDecodeError(`is no protobuf message of ${signal}: ${reasonOf(cause)}`, {
      place: `byte ${reader.pos}`,
      cause,
    });
  }
}

/** Counts the fields it reads. */
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

  /** Counts fields that somebody else reads. */
  spend(fields: number): void {
    this.#left -= fields;
    if (this.#left < 0) {
      throw new OtlpDecodeError(`has more than the ${this.#maxFields} fields that are taken in one request`, {
        isTooLarge: true,
      });
    }
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
