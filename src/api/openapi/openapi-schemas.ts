import { TEXT_PATTERNS } from '../../http/field-errors.js';

type JsonSchema = Readonly<Record<string, unknown>>;

/** Keywords whose value is a map from names to schemas. */
const MAPS = new Set(['properties', 'patternProperties', '$defs']);
/** Keywords whose value is a schema or a list of schemas. */
const NESTED = new Set(['items', 'prefixItems', 'anyOf', 'oneOf', 'allOf', 'not', 'additionalProperties']);

/**
 * Collects the schemas of a document. Each schema with a `title` becomes a component of that name and is replaced by a reference.
 * The keywords under `documented` are added to the printed schema: they describe rules that code checks.
 */
export class OpenApiSchemas {
  readonly #components = new Map<string, JsonSchema>();

  /** The components so far, by name. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#components].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /**
   * @returns the schema to print.
   * @throws Error if two different schemas have the same title.
   */
  print(schema: object): JsonSchema {
    const printed = this.#serializeInside(schema);
    const { title } = printed;
    if (typeof title !== 'string') return printed;
    const known = this.#components.get(title);
    if (known && JSON.stringify(known) !== JSON.stringify(printed))
      throw new Error(`openapi.json: two different schemas are titled ${title}; rename one`);
    this.#components.set(title, printed);
    return { $ref: `#/components/schemas/${title}` };
  }

  #serializeInside(schema: object): JsonSchema {
    const printed: Record<string, unknown> = {};
    const { documented, ...checked } = schema as JsonSchema;
    const all = { ...checked, ...(documented as JsonSchema | undefined) };
    for (const [keyword, value] of Object.entries(all))
      printed[keyword] = this.#serializeKeyword(keyword, value);
    withoutDefaulted(printed);
    return withPattern(printed);
  }

  #serializeKeyword(keyword: string, value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (MAPS.has(keyword))
      return Object.fromEntries(
        Object.entries(value as Record<string, object>).map(([name, schema]) => [name, this.print(schema)]),
      );
    if (!NESTED.has(keyword)) return value;
    return Array.isArray(value) ? value.map((schema: object) => this.print(schema)) : this.print(value);
  }
}

/** TypeBox lists fields with a default as required, which holds only for the validated value, not for the sent one. */
function withoutDefaulted(schema: Record<string, unknown>): void {
  const { required, properties } = schema;
  if (!Array.isArray(required) || typeof properties !== 'object' || properties === null) return;
  const fields = properties as Readonly<Record<string, JsonSchema>>;
  const left = (required as string[]).filter((name) => fields[name]?.['default'] === undefined);
  if (left.length === 0) delete schema['required'];
  else schema['required'] = left;
}

/** Replaces formats that only this program defines, or that are wider elsewhere, by patterns. */
function withPattern(schema: Record<string, unknown>): JsonSchema {
  const { format, ...rest } = schema;
  const found = Object.entries(TEXT_PATTERNS).find(([name]) => name === format);
  return found === undefined ? schema : { ...rest, pattern: found[1] };
}
