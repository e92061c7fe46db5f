import type { JsonSchema } from '../config/plain-value.js';

/** An extension that a component's section names. */
export interface ExtensionReference {
  readonly id: string;
  /** The place within the section. */
  readonly path: readonly string[];
}

/** Finds the values that a schema declares with `extensionId`. */
export function extensionReferences(
  value: unknown,
  schema: JsonSchema | undefined,
  path: readonly string[] = [],
): readonly ExtensionReference[] {
  if (schema === undefined) return [];
  if (typeof value === 'string') return schema.format === 'jackdaw-extension-id' ? [{ id: value, path }] : [];
  if (Array.isArray(value)) {
    const items = schema.items;
    if (items === undefined || !('type' in items)) return [];
    return value.flatMap((item: unknown, index) =>
      extensionReferences(item, items, [...path, String(index)]),
    );
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    extensionReferences(child, schema.properties?.[key], [...path, key]),
  );
}
