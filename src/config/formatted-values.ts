import type { JsonSchema } from './plain-value.js';

/** A text whose schema sets a format. */
export interface FormattedValue {
  readonly format: string;
  readonly text: string;
  /** The place within the section. */
  readonly path: readonly string[];
}

/** Finds the texts that a schema declares with a `format`, such as `jackdaw-endpoint`. */
export function formattedValues(
  value: unknown,
  schema: JsonSchema | undefined,
  path: readonly string[] = [],
): readonly FormattedValue[] {
  if (schema === undefined) return [];
  if (typeof value === 'string')
    return schema.format === undefined ? [] : [{ format: schema.format, text: value, path }];
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined || !('type' in items)) return [];
    return value.flatMap((item: unknown, index) => formattedValues(item, items, [...path, String(index)]));
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    formattedValues(child, schema.properties?.[key], [...path, key]),
  );
}
