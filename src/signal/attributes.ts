/** A JSON value. Integers that a double cannot represent are `bigint`s; `parseJson` and `serializeJson` support them. */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject;

/** A JSON object: `metadata`, `input_data`, `output_data`. */
export interface JsonObject {
  [key: string]: JsonValue;
}
