import fc from 'fast-check';

const SURROGATES = 0xd800;
const AFTER_SURROGATES = 0xe000;
const HALVES = AFTER_SURROGATES - SURROGATES;

/**
 * Any Unicode character, for `fc.string({ unit: anyCharacter })`. Equals `unit: 'binary'`, for which fast-check first builds a table of
 * all characters in a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(0x10_ffff - HALVES)
  .map((index) => String.fromCodePoint(index < SURROGATES ? index : index + HALVES), indexOf);

/** @throws Error if the code point is not a character, as fast-check expects. */
function indexOf(value: unknown): number {
  const code = typeof value === 'string' ? value.codePointAt(0) : undefined;
  if (code === undefined || value !== String.fromCodePoint(code)) throw new Error('this is no character');
  if (code < SURROGATES) return code;
  if (code < AFTER_SURROGATES) throw new Error('half of a surrogate pair is no character');
  return code - HALVES;
}
