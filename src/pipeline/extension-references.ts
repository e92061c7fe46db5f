import { formattedValues } from '../config/formatted-values.js';
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
): readonly ExtensionReference[] {
  return formattedValues(value, schema).flatMap(({ format, text, path }) =>
    format === 'jackdaw-extension-id' ? [{ id: text, path }] : [],
  );
}
