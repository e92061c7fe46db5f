import { byteAt } from '../signal/checked.js';
import { endOfString } from './json-structure.js';

/** Every integer of up to 15 digits is exact as a double. */
const MIN_DIGITS = 16;

const QUOTE = 0x22;
const MINUS = 0x2d;
/** The bytes that a number may contain. */
const IN_NUMBER = Uint8Array.from({ length: 256 }, (_, byte) =>
  '0123456789+-.eE'.includes(String.fromCharCode(byte)) ? 1 : 0,
);

/**
 * Quotes the integers of a JSON text that a double may not represent exactly, so that no parser loses digits.
 *
 * @param bytes UTF-8; invalid JSON is allowed and left to the parser
 * @returns the same bytes if there are no such integers
 */
export function quoteLongIntegers(bytes: Uint8Array): Uint8Array {
  const places = findLongIntegers(bytes);
  if (places.length === 0) return bytes;
  const quoted = Buffer.allocUnsafeSlow(bytes.length + 2 * places.length);
  let length = 0;
  let copied = 0;
  for (const { start, end } of places) {
    quoted.set(bytes.subarray(copied, start), length);
    length += start - copied;
    quoted[length] = QUOTE;
    quoted.set(bytes.subarray(start, end), length + 1);
    length += end - start + 2;
    quoted[length - 1] = QUOTE;
    copied = end;
  }
  quoted.set(bytes.subarray(copied), length);
  return quoted;
}

function findLongIntegers(bytes: Uint8Array): { readonly start: number; readonly end: number }[] {
  const places: { readonly start: number; readonly end: number }[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const byte = byteAt(bytes, at);
    if (byte === QUOTE) {
      at = endOfString(bytes, at);
    } else if (IN_NUMBER[byte] === 1) {
      let end = at + 1;
      while (IN_NUMBER[bytes[end] ?? 0] === 1) end++;
      if (end - at >= MIN_DIGITS && isInteger(bytes, at, end)) places.push({ start: at, end });
      at = end - 1;
    }
  }
  return places;
}

function isInteger(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = bytes[start] === MINUS ? start + 1 : start; at < end; at++) {
    const byte = byteAt(bytes, at);
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return true;
}
