import { isUtf8 } from 'node:buffer';

type Scalar = 'key' | 'text' | 'bytes' | 'varint' | 'fixed32' | 'fixed64';
type Message =
  | 'keyValue'
  | 'anyValue'
  | 'arrayValue'
  | 'kvlistValue'
  | 'event'
  | 'link'
  | 'status'
  | 'span'
  | 'scope'
  | 'resource'
  | 'scopeSpans'
  | 'resourceSpans';
/** The contents of a message's fields, by number; a message with other fields is not plain. */
type Fields = Readonly<Record<number, Scalar | Message>>;

const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

const MESSAGES: Readonly<Record<Message | 'request', Fields>> = {
  request: { 1: 'resourceSpans' },
  resourceSpans: { 1: 'resource', 2: 'scopeSpans', 3: 'text' },
  resource: { 1: 'keyValue', 2: 'varint' },
  scopeSpans: { 1: 'scope', 2: 'span', 3: 'text' },
  scope: { 1: 'text', 2: 'text', 3: 'keyValue', 4: 'varint' },
  span: {
    ...{ 1: 'bytes', 2: 'bytes', 3: 'text', 4: 'bytes', 5: 'text', 6: 'varint', 7: 'fixed64', 8: 'fixed64' },
    ...{ 9: 'keyValue', 10: 'varint', 11: 'event', 12: 'varint', 13: 'link', 14: 'varint', 15: 'status' },
    16: 'fixed32',
  },
  keyValue: { 1: 'key', 2: 'anyValue' },
  anyValue: {
    ...{ 1: 'text', 2: 'varint', 3: 'varint', 4: 'fixed64' },
    ...{ 5: 'arrayValue', 6: 'kvlistValue', 7: 'bytes' },
  },
  arrayValue: { 1: 'anyValue' },
  kvlistValue: { 1: 'keyValue' },
  event: { 1: 'fixed64', 2: 'text', 3: 'keyValue', 4: 'varint' },
  link: { 1: 'bytes', 2: 'bytes', 3: 'text', 4: 'keyValue', 5: 'varint', 6: 'fixed32' },
  status: { 2: 'text', 3: 'varint' },
};

const MOST_DEPTH = 64;
/** All fields have smaller tags. */
const MOST_TAG = 0xff;
/** Prefix of Jackdaw's own attributes. */
const OWN_PREFIX = Buffer.from('jackdaw.');
const OWN_FIRST = 'j'.charCodeAt(0);
/** From this length on the runtime's own check of UTF-8 is faster than a loop (measured). */
const LONG_TEXT = 100;

/**
 * Walks a message without decoding it, and checks whether its bytes can be forwarded unchanged: known fields only, each in its
 * regular layout, texts in UTF-8, and no attributes of Jackdaw's own.
 */
export class PlainWalk {
  protected readonly bytes: Uint8Array;
  #at = 0;
  /** Remaining number of allowed fields. */
  #left: number;

  constructor(bytes: Uint8Array, mostFields = Infinity) {
    this.bytes = bytes;
    this.#left = mostFields;
  }

  isPlain(message: Message | 'request'): boolean {
    return this.#isPlain(MESSAGES[message], 0, this.bytes.length, 0);
  }

  /** Called with the range of each plain span of a request. @returns whether the request is still plain */
  protected takeSpan?(start: number, end: number): boolean;

  #isPlain(fields: Fields, start: number, end: number, depth: number): boolean {
    if (depth > MOST_DEPTH) return false;
    this.#at = start;
    while (this.#at < end) {
      const tag = this.#varint(end);
      const kind = tag > MOST_TAG ? undefined : fields[tag >>> 3];
      if (kind === undefined || --this.#left < 0) return false;
      switch (tag & 7) {
        case WIRE.varint:
          if (kind !== 'varint' || this.#varint(end) < 0) return false;
          break;
        case WIRE.fixed64:
          if (kind !== 'fixed64') return false;
          this.#at += 8;
          break;
        case WIRE.fixed32:
          if (kind !== 'fixed32') return false;
          this.#at += 4;
          break;
        case WIRE.bytes:
          if (!this.#isPlainPart(kind, end, depth)) return false;
          break;
        default:
          return false;
      }
    }
    return this.#at === end;
  }

  #isPlainPart(kind: Fields[number], end: number, depth: number): boolean {
    const length = this.#varint(end);
    const from = this.#at;
    const to = from + length;
    if (length < 0 || to > end) return false;
    switch (kind) {
      case 'bytes':
        break;
      case 'text':
        if (!this.#isText(from, to)) return false;
        break;
      case 'key':
        if (!this.#isText(from, to) || this.#isOwn(from, to)) return false;
        break;
      case 'varint':
      case 'fixed32':
      case 'fixed64':
        return false;
      default:
        if (!this.#isPlain(MESSAGES[kind], from, to, depth + 1)) return false;
        if (kind === 'span' && this.takeSpan?.(from, to) === false) return false;
    }
    this.#at = to;
    return true;
  }

  /** @returns a number of up to 53 bits, an unspecified value for larger ones; -1 if missing */
  #varint(end: number): number {
    const { bytes } = this;
    const first = this.#at < end ? (bytes[this.#at++] ?? 0) : -1;
    if (first < 0x80) return first;
    let value = first & 0x7f;
    for (let factor = 0x80, count = 1; count < 10; count++, factor *= 0x80) {
      if (this.#at >= end) return -1;
      const byte = bytes[this.#at++] ?? 0;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
    return -1;
  }

  #isText(from: number, to: number): boolean {
    const { bytes } = this;
    if (to - from >= LONG_TEXT) return isUtf8(bytes.subarray(from, to));
    for (let at = from; at < to; at++) if ((bytes[at] ?? 0) >= 0x80) return isUtf8(bytes.subarray(at, to));
    return true;
  }

  #isOwn(from: number, to: number): boolean {
    if (this.bytes[from] !== OWN_FIRST || to - from < OWN_PREFIX.length) return false;
    return OWN_PREFIX.every((byte, index) => this.bytes[from + index] === byte);
  }
}
