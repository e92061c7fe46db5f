import fc from 'fast-check';

const SURROGATES = 0xd800;
const AFTER_SURROGATES = 0xe000;
const HALVES = AFTER_SURROGATES - SURROGATES;

/**
 * Any character of Unicode, for `fc.string({ unit: anyCharacter })`. The same as `unit: 'binary'`, for which fast-check first makes
 * a table of all of them, a second long.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .nat(0x10_ffff - HALVES)
  .map((index) => String.fromCodePoint(index < SURROGATES ? index : index + HALVES), indexOf);

/** @throws Error where that is no character, by which fast-check knows it. */
function indexOf(value: unknown): number {
  const code = typeof value === 'string' ? value.codePointAt(0) : undefined;
  if (code === undefined || value !== String.fromCodePoint(code)) throw new Error('this is no character');
  if (code < SURROGATES) return code;
  if (code < AFTER_SURROGATES) throw new Error('half of a surrogate pair is no character');
  return code - HALVES;
}
