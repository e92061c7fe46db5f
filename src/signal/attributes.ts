/** A JSON value. Integers that a double cannot represent are `bigint`s; `parseJson` and `serializeJson` support them. */
export type JsonValue = string | number | bigint | boolean | null | JsonValue[] | JsonObject;

/** A JSON object: `metadata`, `input_data`, `output_data`. */
export interface JsonObject {
  [key: string]: JsonValue;
}

/** What a store has of a span's attributes: the received bytes and those of its origin, or `metadata` as JSON in UTF-8. */
export interface StoredAttributes {
  readonly trace_id: string;
  readonly metadata: Uint8Array | null;
  readonly sent: Uint8Array | null;
  readonly origin: Uint8Array | null;
}

/** The attributes of a span as texts: a text itself, or the JSON of any other value. */
export interface AttributeTexts {
  readonly keys: () => readonly string[];
  /** Null if the attribute is missing or empty. */
  readonly text: (key: string) => string | null;
}

export type ReadAttributes = (stored: StoredAttributes) => AttributeTexts;
