/** A whole number of bytes, or with a binary unit. */
export const SIZE_PATTERN = '^(0|[1-9][0-9]{0,11})(B|KiB|MiB|GiB|TiB)$';

const SIZE = new RegExp(SIZE_PATTERN);
const UNITS_BYTES: Readonly<Record<string, number>> = {
  B: 1,
  KiB: 1024,
  MiB: 1024 ** 2,
  GiB: 1024 ** 3,
  TiB: 1024 ** 4,
};

/** @returns the bytes of `16MiB` or of a plain number, or undefined if the value is no size. */
export function parseSize(value: string | number): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  const found = SIZE.exec(value);
  const unit = UNITS_BYTES[found?.[2] ?? ''];
  if (unit === undefined) return undefined;
  const bytes = Number(found?.[1]) * unit;
  return Number.isSafeInteger(bytes) ? bytes : undefined;
}

/** Bytes as a size in whole units, rounded down by less than a sixteenth: `8MiB`, `1536KiB`. */
export function formatSize(bytes: number): string {
  for (const unit of ['GiB', 'MiB', 'KiB']) {
    const count = bytes / (UNITS_BYTES[unit] ?? 1);
    if (count >= 16 || (count >= 1 && Number.isInteger(count))) return `${Math.floor(count)}${unit}`;
  }
  return `${Math.floor(bytes)}B`;
}

/**
 * The bytes of a validated size.
 *
 * @throws RangeError if the value is not a size, because the caller did not validate it.
 */
export function sizeBytes(value: string | number): number {
  const bytes = parseSize(value);
  if (bytes === undefined)
    throw new RangeError(
      `"${value}" is not a size: write bytes or a number and a unit, as in 512KiB, 16MiB, 1GiB`,
    );
  return bytes;
}
