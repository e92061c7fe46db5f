/** A JSON value. Integers that a double does not hold are `bigint`s: `parseJson` reads them so, and `serializeJson` writes them. */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject;

/** A JSON object: `metadata`, `input_data`, `output_data`. */
export interface JsonObject {
  [key: string]: JsonValue;
}
