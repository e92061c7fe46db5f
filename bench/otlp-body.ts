import { randomBytes } from 'node:crypto';
import { requestTypes } from '../src/otlp/wire/messages.js';
import type { AnyValue, KeyValue, OtlpRequests } from '../src/otlp/wire/requests.js';
import type { TelemetrySignal } from '../src/signal/batch.js';

/** Attributes in the form of OTLP. Whole numbers are integers. */
export function attributes(values: Readonly<Record<string, string | number | boolean>>): KeyValue[] {
  return Object.entries(values).map(([key, value]) => ({ key, value: anyValue(value) }));
}

function anyValue(value: string | number | boolean): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: value } : { doubleValue: value };
}

export function encode<S extends TelemetrySignal>(signal: S, request: OtlpRequests[S]): Buffer {
  return Buffer.from(requestTypes[signal].encode(request).finish());
}

/** A 64-bit integer as the encoder takes it. */
interface Halves {
  readonly low: number;
  readonly high: number;
  readonly unsigned: boolean;
}

/**
 * Marks for what is replaced in an encoded body: random bytes that come nowhere else in it, asked for while the message is
 * put together and found after it is encoded. What is to become the same (an id and where it is named as a parent) has
 * marks of its own everywhere.
 */
export class Placeholders {
  /** The bytes of each mark with where they begin, as soon as that is known. */
  readonly #marks: { readonly bytes: Buffer; readonly mark: Mark }[] = [];

  /** For an id or another text of so many bytes. */
  bytes(length: number): { readonly mark: Mark; readonly value: Buffer } {
    const value = randomBytes(length);
    return { mark: this.#add(value), value };
  }

  /** For so many characters of text; they are hex digits. */
  text(length: number): { readonly mark: Mark; readonly value: string } {
    const value = randomBytes(length).toString('hex').slice(0, length);
    return { mark: this.#add(Buffer.from(value, 'latin1')), value };
  }

  /** For a `fixed64`. */
  fixed64(): { readonly mark: Mark; readonly value: Halves } {
    const bytes = randomBytes(8);
    const value = { low: bytes.readInt32LE(0), high: bytes.readInt32LE(4), unsigned: true };
    return { mark: this.#add(bytes), value };
  }

  /**
   * Finds all marks in the encoded body, which has them in the order in which they were asked for.
   *
   * @throws Error for one that is not there
   */
  locate(body: Buffer): void {
    let at = 0;
    for (const { bytes, mark } of this.#marks) {
      at = body.indexOf(bytes, at);
      if (at < 0) throw new Error('A placeholder is not where it should be in the body it was made for.');
      mark.offset = at;
    }
  }

  #add(bytes: Buffer): Mark {
    const mark: Mark = { offset: -1 };
    this.#marks.push({ bytes, mark });
    return mark;
  }
}

export interface Mark {
  /** Where it begins in the body; -1 before it is found. */
  offset: number;
}
