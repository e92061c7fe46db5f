import { byteAt, wordAt } from '../signal/checked.js';

const NIBBLES = (() => {
  const table = new Uint8Array(128);
  for (let digit = 0; digit < 16; digit++) {
    const text = digit.toString(16);
    table[text.charCodeAt(0)] = digit;
    table[text.toUpperCase().charCodeAt(0)] = digit;
  }
  return table;
})();

/**
 * Writes a UUID's text (8-4-4-4-12, already checked) as four 32-bit words in DuckDB's format: a 128-bit integer, low word first,
 * with its highest bit inverted so that signed order equals the order of the text.
 */
export function parseUuid(text: string, words: Uint32Array, offset: number): void {
  words[offset] = hex4(text, 28) * 65536 + hex4(text, 32);
  words[offset + 1] = hex4(text, 19) * 65536 + hex4(text, 24);
  words[offset + 2] = hex4(text, 9) * 65536 + hex4(text, 14);
  words[offset + 3] = ((hex4(text, 0) * 65536 + hex4(text, 4)) ^ 0x80000000) >>> 0;
}

/** The text of a UUID in four words. It is created in one step: concatenating parts takes ten times as long. */
export function formatUuid(words: Uint32Array, offset: number): string {
  const low = wordAt(words, offset);
  const third = wordAt(words, offset + 1);
  const second = wordAt(words, offset + 2);
  const top = wordAt(words, offset + 3) ^ 0x80000000;
  return String.fromCharCode(
    digit(top, 28),
    digit(top, 24),
    digit(top, 20),
    digit(top, 16),
    digit(top, 12),
    digit(top, 8),
    digit(top, 4),
    digit(top, 0),
    HYPHEN,
    digit(second, 28),
    digit(second, 24),
    digit(second, 20),
    digit(second, 16),
    HYPHEN,
    digit(second, 12),
    digit(second, 8),
    digit(second, 4),
    digit(second, 0),
    HYPHEN,
    digit(third, 28),
    digit(third, 24),
    digit(third, 20),
    digit(third, 16),
    HYPHEN,
    digit(third, 12),
    digit(third, 8),
    digit(third, 4),
    digit(third, 0),
    digit(low, 28),
    digit(low, 24),
    digit(low, 20),
    digit(low, 16),
    digit(low, 12),
    digit(low, 8),
    digit(low, 4),
    digit(low, 0),
  );
}

/**
 * A short text for the UUID in four words: different ids have different keys, in the order of the ids' texts. For keys in memory:
 * it takes a third of the time and memory of the text.
 */
export function uuidKey(words: Uint32Array, offset: number): string {
  const low = wordAt(words, offset);
  const third = wordAt(words, offset + 1);
  const second = wordAt(words, offset + 2);
  const top = wordAt(words, offset + 3) ^ 0x80000000;
  return String.fromCharCode(
    top >>> 16,
    top & 0xffff,
    second >>> 16,
    second & 0xffff,
    third >>> 16,
    third & 0xffff,
    low >>> 16,
    low & 0xffff,
  );
}

/** The four words of a {@link uuidKey}. */
export function wordsOfKey(key: string, words: Uint32Array): void {
  for (let i = 0; i < 4; i++) {
    const word = ((key.charCodeAt(i * 2) << 16) | key.charCodeAt(i * 2 + 1)) >>> 0;
    words[3 - i] = i === 0 ? (word ^ 0x80000000) >>> 0 : word;
  }
}

function hex4(text: string, i: number): number {
  return (
    (byteAt(NIBBLES, text.charCodeAt(i)) << 12) |
    (byteAt(NIBBLES, text.charCodeAt(i + 1)) << 8) |
    (byteAt(NIBBLES, text.charCodeAt(i + 2)) << 4) |
    byteAt(NIBBLES, text.charCodeAt(i + 3))
  );
}

const HYPHEN = 45;
const DIGITS = Uint8Array.from('0123456789abcdef', (digit) => digit.charCodeAt(0));

/** The character code of four bits of a word. */
function digit(word: number, shift: number): number {
  return byteAt(DIGITS, (word >>> shift) & 15);
}
