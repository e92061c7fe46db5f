import { OtlpDecodeError } from './decode-error.js';

/**
 * Checks a JSON value and returns it in the form of `wire/requests.ts`; objects and lists are changed in place. Not called for null,
 * which means absent.
 *
 * @param depth number of enclosing messages
 * @throws OtlpDecodeError
 */
export type JsonField = (value: unknown, depth: number) => unknown;

/** As deep as the protobuf decoder: a request received as JSON can be sent on as protobuf. */
const MAX_DEPTH = 100;
const INT64 = /^-?\d{1,20}$/;
/** Up to so many digits a number fits 64 bits. */
const SURE_DIGITS = 18;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;
const HEX = /^(?:[0-9a-fA-F]{2})*$/;

/**
 * A message: fields under the names of the JSON mapping. Others are ignored.
 *
 * @param fieldsOf a function, because messages hold each other
 */
export function message(fieldsOf: () => Readonly<Record<string, JsonField>>): JsonField {
  let fields: ReadonlyMap<string, JsonField> | undefined;
  return (value, depth) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new OtlpDecodeError('must be an object');
    if (depth > MAX_DEPTH) throw new OtlpDecodeError(`nests deeper than ${MAX_DEPTH} messages`);
    fields ??= new Map(Object.entries(fieldsOf()));
    const object = value as Record<string, unknown>;
    for (const key in object) {
      const field = fields.get(key);
      const given = object[key];
      if (field === undefined || given === null) continue;
      try {
        const read = field(given, depth + 1);
        if (read !== given) object[key] = read;
      } catch (error) {
        if (error instanceof OtlpDecodeError) error.under(key);
        throw error;
      }
    }
    return object;
  };
}

export function list(item: JsonField): JsonField {
  return (value, depth) => {
    if (!Array.isArray(value)) throw new OtlpDecodeError('must be a list');
    const items: unknown[] = value;
    for (let index = 0; index < items.length; index++) {
      const given = items[index];
      try {
        if (given === null) throw new OtlpDecodeError('must not be null');
        const read = item(given, depth);
        if (read !== given) items[index] = read;
      } catch (error) {
        if (error instanceof OtlpDecodeError) error.under(index);
        throw error;
      }
    }
    return items;
  };
}

/** Half a surrogate pair, which no UTF-8 can say, becomes the replacement character. */
export const text: JsonField = (value) => {
  if (typeof value !== 'string') throw new OtlpDecodeError('must be a string');
  return value.isWellFormed() ? value : value.toWellFormed();
};

export const bool: JsonField = (value) => {
  if (typeof value !== 'boolean') throw new OtlpDecodeError('must be true or false');
  return value;
};

/** A number, `"NaN"`, `"Infinity"`, `"-Infinity"`, or the digits of a number as a string. */
export const double: JsonField = (value) => {
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && value.trim() !== '') {
    const number = Number(value);
    if (!Number.isNaN(number) || value === 'NaN') return number;
  }
  throw new OtlpDecodeError('must be a number');
};

function integer(min: number, max: number): JsonField {
  return (value) => {
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max)
      return number;
    throw new OtlpDecodeError(`must be an integer from ${min} to ${max}`);
  };
}

export const uint32 = integer(0, 2 ** 32 - 1);
export const int32 = integer(-(2 ** 31), 2 ** 31 - 1);

function integer64(min: bigint, max: bigint): JsonField {
  return (value) => {
    if (typeof value === 'number') {
      if (Number.isSafeInteger(value) && value >= min) return value;
      if (Number.isInteger(value) && value >= min && value <= max) return BigInt(value).toString();
    } else if (typeof value === 'string' && INT64.test(value)) {
      const isSure = value.length <= SURE_DIGITS && (min < 0n || !value.startsWith('-'));
      if (isSure || (BigInt(value) >= min && BigInt(value) <= max)) return value;
    }
    throw new OtlpDecodeError(
      `must be an integer from ${min.toString()} to ${max.toString()}, as a string or a number`,
    );
  };
}

/** Decimal digits in a string, or a number. */
export const int64 = integer64(-(2n ** 63n), 2n ** 63n - 1n);
export const uint64 = integer64(0n, 2n ** 64n - 1n);

/** A trace or span id. Its length is checked at its use, so that one bad id costs one item. */
export const id: JsonField = (value) => {
  if (typeof value !== 'string' || !HEX.test(value))
    throw new OtlpDecodeError('must be hexadecimal digits (not base64)');
  return Buffer.from(value, 'hex');
};

export const bytes: JsonField = (value) => {
  if (typeof value !== 'string' || !BASE64.test(value)) throw new OtlpDecodeError('must be base64');
  return Buffer.from(value, 'base64');
};

/** An integer; names are taken too, as some senders write them. */
export function enumeration(names: Readonly<Record<string, number>>): JsonField {
  const known = new Map(Object.entries(names));
  return (value, depth) => {
    const number = typeof value === 'string' ? known.get(value) : undefined;
    return number ?? int32(value, depth);
  };
}
