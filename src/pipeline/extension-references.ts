import { formattedValues } from '../config/formatted-values.js';
import type { JsonSchema } from '../config/plain-value.js';

/** A reference from a component's configuration to an extension. */
export interface ExtensionReference {
  readonly id: string;
  /** Its place within the section. */
  readonly path: readonly string[];
}

/** Finds the values of schema keys declared with `extensionId`. */
export function extensionReferences(
  value: unknown,
  schema: JsonSchema | undefined,
): readonly ExtensionReference[] {
  return formattedValues(value, schema).flatMap(({ format, text, path }) =>
    format === 'jackdaw-extension-id' ? [{ id: text, path }] : [],
  );
}
