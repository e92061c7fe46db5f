/** A JSON value as `JSON.parse` gives it. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object: `metadata`, `input_data`, `output_data`. */
export interface JsonObject {
  [key: string]: JsonValue;
}
