import { randomBytes } from 'node:crypto';
import { requestTypes } from '../src/otlp/wire/messages.js';
import type { AnyValue, KeyValue, OtlpRequests } from '../src/otlp/wire/requests.js';
import type { TelemetrySignal } from '../src/signal/batch.js';

/** Converts values to OTLP attributes. Whole numbers become integers. */
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

/** A 64-bit integer as the protobuf encoder accepts it. */
interface Halves {
  readonly low: number;
  readonly high: number;
  readonly unsigned: boolean;
}

/**
 * Placeholders for values to replace in an encoded body: random bytes that are created while the message is built and
 * located after it is encoded. Each occurrence of a value, such as an id used as a parent id, is a placeholder of its own.
 */
export class Placeholders {
  readonly #placeholders: { readonly bytes: Buffer; readonly placeholder: Placeholder }[] = [];

  /** Creates a placeholder for a bytes field, such as an id. */
  bytes(length: number): { readonly placeholder: Placeholder; readonly value: Buffer } {
    const value = randomBytes(length);
    return { placeholder: this.#add(value), value };
  }

  /** Creates a placeholder for a text of hex digits. */
  text(length: number): { readonly placeholder: Placeholder; readonly value: string } {
    const value = randomBytes(length).toString('hex').slice(0, length);
    return { placeholder: this.#add(Buffer.from(value, 'latin1')), value };
  }

  /** Creates a placeholder for a `fixed64` field. */
  fixed64(): { readonly placeholder: Placeholder; readonly value: Halves } {
    const bytes = randomBytes(8);
    const value = { low: bytes.readInt32LE(0), high: bytes.readInt32LE(4), unsigned: true };
    return { placeholder: this.#add(bytes), value };
  }

  /**
   * Finds all placeholders in the encoded body, which must contain them in the order of their creation.
   *
   * @throws Error if one is missing
   */
  locate(body: Buffer): void {
    let at = 0;
    for (const { bytes, placeholder } of this.#placeholders) {
      at = body.indexOf(bytes, at);
      if (at < 0) throw new Error('The encoded body does not contain all placeholders in order.');
      placeholder.offset = at;
    }
  }

  #add(bytes: Buffer): Placeholder {
    const placeholder: Placeholder = { offset: -1 };
    this.#placeholders.push({ bytes, placeholder });
    return placeholder;
  }
}

export interface Placeholder {
  /** Offset in the body; -1 before it is located. */
  offset: number;
}
