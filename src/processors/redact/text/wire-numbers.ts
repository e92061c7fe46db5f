import { ANY, codes, pairs, type Sign } from './signs.js';
import type { Source } from './source.js';

/** Prefixes of integers and doubles in OTLP attributes. */
const INTEGER = 0x18;
const DOUBLE = '!';
/** Integers of three bytes have too few digits for any finder. */
const FEWEST_BYTES = 4;
const MOST_BYTES = 10;
const DOUBLE_BYTES = 8;
/** Last bytes of whole doubles with this many digits: the sign and most of the exponent. */
const LARGE_DOUBLES: readonly number[] = [0x41, 0x42, 0x43];

/**
 * Signs of large integers and doubles that are encoded as protobuf numbers.
 *
 * @param mayBe receives the digits of a number and the start of its field
 */
export function wireNumbers(mayBe: (digits: string, source: Source, at: number) => boolean): Sign[] {
  return [
    {
      pairs: pairs(ANY, [INTEGER]),
      // Its first three bytes are not ASCII.
      behind: [0],
      third: [0],
      isThere: (source, at) => {
        const bytes = integerBytes(source, at + 1);
        return bytes >= FEWEST_BYTES && mayBe(String(integerAt(source, at + 1, bytes)), source, at);
      },
    },
    {
      pairs: pairs(ANY, codes(DOUBLE)),
      isThere: (source, at) => {
        if (!LARGE_DOUBLES.includes(source.code(at + DOUBLE_BYTES))) return false;
        const bytes = Buffer.from(
          Array.from({ length: DOUBLE_BYTES }, (_, byte) => source.code(at + 1 + byte)),
        );
        const number = bytes.readDoubleLE();
        return Number.isInteger(number) && mayBe(String(number), source, at);
      },
    },
  ];
}

/** The length of a varint in bytes: all bytes except the last are 128 or more; 0 if missing. */
function integerBytes(source: Source, start: number): number {
  let at = start;
  while (source.code(at) >= 128 && at - start < MOST_BYTES) at++;
  const last = source.code(at);
  return last >= 0 && last < 128 ? at - start + 1 : 0;
}

function integerAt(source: Source, start: number, bytes: number): bigint {
  let number = 0n;
  for (let at = start + bytes - 1; at >= start; at--)
    number = (number << 7n) | BigInt(source.code(at) & 0x7f);
  return number;
}
