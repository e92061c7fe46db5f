import type { JsonValue } from '../../signal/attributes.js';
import type { SentOrigin } from '../../signal/sent-span.js';
import { LenientReader } from './lenient-reader.js';
import { anyValueType } from './messages.js';
import type { AnyValue, KeyValue, Resource, Scope, Span } from './requests.js';
import { ShortTexts } from './short-texts.js';

/** A request of traces whose spans are decoded except for their attributes. */
export interface ReadTraces {
  readonly resources: readonly ReadResource[];
}

export interface ReadResource {
  readonly resource: Resource | undefined;
  readonly scopes: readonly ReadScope[];
}

export interface ReadScope {
  readonly scope: Scope | undefined;
  readonly origin: SentOrigin;
  readonly spans: readonly ReadSpan[];
}

/** A byte range of the request; 0 and 0 if absent. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

export const NOWHERE: Stretch = { start: 0, end: 0 };

/** A span whose attributes stay bytes until they are read. The bytes were checked, so reading cannot fail. */
export interface ReadSpan extends Pick<
  Span,
  'name' | 'kind' | 'flags' | 'startTimeUnixNano' | 'endTimeUnixNano' | 'events' | 'status'
> {
  /** The request that holds the span. */
  readonly buffer: Buffer;
  /** The range of the span. */
  readonly start: number;
  readonly end: number;
  readonly traceId: Stretch;
  readonly spanId: Stretch;
  readonly parentSpanId: Stretch;
  readonly attributes: ReadAttributes;
}

/** Numbers per attribute: start and end of its key, start and end of its value (an `AnyValue`). */
const NUMBERS = 4;
/** Initial capacity, depending on the size of the request. */
const FEW_NUMBERS = 256;
const MANY_NUMBERS = 65_536;
/** In place of the key's start, for an attribute in `odd`; its index follows. */
const ODD = -1;

/** The places of the attributes of all spans of a request. */
export class AttributePlaces {
  readonly buffer: Buffer;
  /** Attributes in an unusual layout, which were decoded. */
  readonly odd: KeyValue[] = [];
  numbers: Int32Array;
  /** The number of attributes. */
  length = 0;

  constructor(buffer: Buffer) {
    this.buffer = buffer;
    // Attributes are mostly larger than 8 bytes, so this is rarely too small; the array grows if needed.
    this.numbers = new Int32Array(Math.min(Math.max(buffer.length >> 3, FEW_NUMBERS), MANY_NUMBERS));
  }

  add(keyStart: number, keyEnd: number, valueStart: number, valueEnd: number): void {
    const at = this.length++ * NUMBERS;
    if (at + NUMBERS > this.numbers.length) {
      const larger = new Int32Array(this.numbers.length * 2);
      larger.set(this.numbers);
      this.numbers = larger;
    }
    const { numbers } = this;
    numbers[at] = keyStart;
    numbers[at + 1] = keyEnd;
    numbers[at + 2] = valueStart;
    numbers[at + 3] = valueEnd;
  }

  addOdd(attribute: KeyValue): void {
    this.add(ODD, this.odd.length, 0, 0);
    this.odd.push(attribute);
  }
}

/** Short texts that were read before, shared by all requests: names of models and the like. */
const texts = new ShortTexts();

/** The attributes of one span. */
export class ReadAttributes {
  readonly #places: AttributePlaces;
  readonly #from: number;
  readonly length: number;

  constructor(places: AttributePlaces, from: number, to: number) {
    this.#places = places;
    this.#from = from;
    this.length = to - from;
  }

  /** Whether the keys are these, in this order. @param keys concatenated @param ends the end of each key */
  haveKeys(keys: Uint8Array, ends: Int32Array): boolean {
    const { numbers, buffer } = this.#places;
    let at = this.#from * NUMBERS;
    let k = 0;
    for (let i = 0; i < this.length; i++, at += NUMBERS) {
      const start = numbers[at] ?? ODD;
      const end = numbers[at + 1] ?? 0;
      if (start === ODD || end - start !== (ends[i] ?? 0) - k) return false;
      for (let b = start; b < end; b++) if (buffer[b] !== keys[k++]) return false;
    }
    return true;
  }

  /** The received keys, in UTF-8. */
  keyBytes(): Uint8Array[] {
    const { numbers, buffer, odd } = this.#places;
    return Array.from({ length: this.length }, (_, i) => {
      const at = (this.#from + i) * NUMBERS;
      const [start = ODD, end = 0] = [numbers[at], numbers[at + 1]];
      return start === ODD ? Buffer.from(odd[end]?.key ?? '') : Uint8Array.from(buffer.subarray(start, end));
    });
  }

  /** Whether any attribute has an unusual layout. */
  get areOdd(): boolean {
    const { numbers } = this.#places;
    for (let i = 0; i < this.length; i++) if (numbers[(this.#from + i) * NUMBERS] === ODD) return true;
    return false;
  }

  /** @param otherwise decodes values other than plain texts and small integers */
  value(i: number, otherwise: (value: AnyValue | null | undefined) => JsonValue): JsonValue {
    const { numbers, buffer, odd } = this.#places;
    const at = (this.#from + i) * NUMBERS;
    if (numbers[at] === ODD) return otherwise(odd[numbers[at + 1] ?? 0]?.value);
    const start = numbers[at + 2] ?? 0;
    const end = numbers[at + 3] ?? 0;
    if (start < end) {
      const tag = buffer[start];
      if (tag === TEXT) {
        const textStart = textStartAt(buffer, start + 1, end);
        if (textStart > 0) return textAt(buffer, textStart, end);
      }
      const small = tag === INTEGER && end === start + 2 ? buffer[start + 1] : undefined;
      if (small !== undefined) return small;
    }
    return otherwise(anyValueType.decode(new LenientReader(buffer.subarray(start, end))));
  }
}

/** The first byte of an `AnyValue` that is a text, or an integer. */
const TEXT = 0x0a;
const INTEGER = 0x18;

function textAt(buffer: Buffer, start: number, end: number): string {
  const known = texts.find(buffer, start, end);
  if (known !== undefined) return known;
  // Invalid UTF-8 gets replacement characters; decoded texts have no unpaired surrogates.
  const text = buffer.toString('utf8', start, end);
  texts.put(text);
  return text;
}

/** The start of a length-prefixed text that extends to `end`; otherwise 0. */
function textStartAt(buffer: Buffer, lengthAt: number, end: number): number {
  let at = lengthAt;
  let length = 0;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = buffer[at++] ?? 0;
    length |= (byte & 127) << shift;
    if (byte < 128) return at + length === end ? at : 0;
  }
  return 0;
}
