import type { JsonObject } from '../../signal/attributes.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';

/** CEL type names of fields, each with the value of a missing field. */
const MISSING = {
  string: '',
  int: 0n,
  double: 0,
  bool: false,
  'google.protobuf.Timestamp': new Date(0),
  'map<string, dyn>': Object.freeze({}),
  'list<string>': Object.freeze([]),
  'list<Span>': Object.freeze([]),
  dyn: null,
} as const;

export type CelType = keyof typeof MISSING;

/** A field that expressions read of a record. */
export interface Field<Record> {
  readonly type: CelType;
  /** Short text for the page that lists the fields. */
  readonly description: string;
  /** The possible texts of an enum field. */
  readonly words?: readonly string[];
  /** Whether records may be without it. */
  readonly isOptional: boolean;
  /** Whether the value is expensive to compute, so that it is cached for all expressions on the record. */
  readonly isDerived?: boolean;
  /** @returns a value of CEL, undefined if the record is without one */
  readonly read: (record: Record) => unknown;
}

export type Fields<Record> = Readonly<{ [Name in string]: Field<Record> }>;

type Read<Record, Value> = (record: Record) => Value;
type Maybe<Value> = Value | null | undefined;

/** The value of a missing field: expressions need no guard, and `has()` shows the difference. */
export function valueOfNone(type: CelType): unknown {
  return MISSING[type];
}

export function text<R>(description: string, read: Read<R, string>): Field<R> {
  return { type: 'string', description, isOptional: false, read };
}

export function maybeText<R>(description: string, read: Read<R, Maybe<string>>): Field<R> {
  return { type: 'string', description, isOptional: true, read: (record) => read(record) ?? undefined };
}

export function word<R>(description: string, words: readonly string[], read: Read<R, string>): Field<R> {
  return { type: 'string', description, words, isOptional: false, read };
}

export function maybeWord<R>(
  description: string,
  words: readonly string[],
  read: Read<R, Maybe<string>>,
): Field<R> {
  return { ...maybeText(description, read), words };
}

/** A whole number. */
export function maybeCount<R>(description: string, read: Read<R, Maybe<number>>): Field<R> {
  return {
    type: 'int',
    description,
    isOptional: true,
    read: (record) => {
      const count = read(record);
      return typeof count === 'number' ? BigInt(Math.trunc(count)) : undefined;
    },
  };
}

export function maybeNumber<R>(description: string, read: Read<R, Maybe<number>>): Field<R> {
  return { type: 'double', description, isOptional: true, read: (record) => read(record) ?? undefined };
}

export function maybeFlag<R>(description: string, read: Read<R, Maybe<boolean>>): Field<R> {
  return { type: 'bool', description, isOptional: true, read: (record) => read(record) ?? undefined };
}

export function time<R>(description: string, read: Read<R, Micros>): Field<R> {
  return {
    type: 'google.protobuf.Timestamp',
    description,
    isOptional: false,
    read: (record) => new Date(read(record) / MICROS_PER_MS),
  };
}

export function maybeTime<R>(description: string, read: Read<R, Maybe<Micros>>): Field<R> {
  return {
    type: 'google.protobuf.Timestamp',
    description,
    isOptional: true,
    read: (record) => {
      const micros = read(record);
      return typeof micros === 'number' ? new Date(micros / MICROS_PER_MS) : undefined;
    },
  };
}

export function maybeObject<R>(description: string, read: Read<R, Maybe<JsonObject>>): Field<R> {
  return {
    type: 'map<string, dyn>',
    description,
    isOptional: true,
    read: (record) => read(record) ?? undefined,
  };
}

export function maybeTexts<R>(description: string, read: Read<R, Maybe<readonly string[]>>): Field<R> {
  return { type: 'list<string>', description, isOptional: true, read: (record) => read(record) ?? undefined };
}

/** A value of any type. */
export function anything<R>(description: string, read: Read<R, unknown>): Field<R> {
  return { type: 'dyn', description, isOptional: true, read: (record) => read(record) ?? undefined };
}
