import { valueOfNone, type Fields } from './field.js';

/** The record of a view. */
export const RECORD = Symbol('record');
const DERIVED = Symbol('derived');

/** Represents a record in an expression; each field is computed on access. */
export abstract class View<Record = unknown> {
  readonly [RECORD]: Record;
  [DERIVED]: Map<string, unknown> | undefined;

  constructor(record: Record) {
    this[RECORD] = record;
  }

  /** Whether the record has a value in this field, for `has()`. */
  abstract has(name: string): boolean;

  /** The fields that have a value, with their values. */
  abstract entries(): readonly (readonly [string, unknown])[];
}

/** A record type in expressions. */
export interface ViewType<Record> {
  /** Its name in CEL. */
  readonly name: string;
  readonly fields: Fields<Record>;
  readonly view: new (record: Record) => View<Record>;
}

/** Makes a value once. */
function derived<Record>(view: View<Record>, field: string, read: (record: Record) => unknown): unknown {
  const known = (view[DERIVED] ??= new Map<string, unknown>());
  if (!known.has(field)) known.set(field, read(view[RECORD]));
  return known.get(field);
}

/** Makes the class of views of such records, with a getter for each field. */
export function viewType<Record>(name: string, fields: Fields<Record>): ViewType<Record> {
  const names = Object.keys(fields);
  class RecordView extends View<Record> {
    override entries(): readonly (readonly [string, unknown])[] {
      return names
        .filter((field) => this.has(field))
        .map((field) => [field, (this as unknown as { readonly [name: string]: unknown })[field]] as const);
    }

    override has(field: string): boolean {
      const found = fields[field];
      return (
        found !== undefined &&
        (!found.isOptional ||
          (found.isDerived === true ? derived(this, field, found.read) : found.read(this[RECORD])) !==
            undefined)
      );
    }
  }
  for (const [field, { type, isDerived = false, read }] of Object.entries(fields)) {
    const none = valueOfNone(type);
    Object.defineProperty(RecordView.prototype, field, {
      get(this: RecordView) {
        const value = isDerived ? derived(this, field, read) : read(this[RECORD]);
        return value === undefined ? none : value;
      },
    });
  }
  return { name, fields, view: RecordView };
}
