import type { JsonObject, JsonValue } from '../../signal/attributes.js';

/** A field of a record that rules may change. */
export type Target<Record> =
  | {
      readonly is: 'text';
      /** Whether the value may be missing. */
      readonly isOptional: boolean;
      readonly set: (record: Record, text: string | null) => void;
    }
  | ObjectTarget<Record>
  | {
      /** Any JSON value. */
      readonly is: 'value';
      readonly get: (record: Record) => JsonValue;
      readonly set: (record: Record, value: JsonValue) => void;
    };

/** A JSON object whose keys are changed. */
interface ObjectTarget<Record> {
  readonly is: 'object';
  readonly get: (record: Record) => JsonObject | null;
  readonly set: (record: Record, object: JsonObject | null) => void;
}

/** What the paths of a rule name: a field and a key in it, or a key of one object. */
export type Targets<Record> =
  | { readonly kind: 'fields'; readonly fields: Readonly<{ [Name in string]: Target<Record> }> }
  | { readonly kind: 'keys'; readonly object: ObjectTarget<Record> };
