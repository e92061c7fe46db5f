import { TEMPLATE_FORMAT } from './schema.js';

/** A JSON Schema as plugins may write it, with every keyword that contains subschemas. */
interface AnySchema {
  readonly $ref?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly patternProperties?: Readonly<Record<string, unknown>>;
  readonly additionalProperties?: unknown;
  readonly items?: unknown;
  readonly prefixItems?: readonly unknown[];
  readonly additionalItems?: unknown;
}

/** Schemas that hold, or may hold, for a value. */
export type Schemas = readonly object[];

/** Keywords whose subschemas apply to the same value. */
const SAME_VALUE = ['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', '$ref', 'dependentSchemas'] as const;
/** Keywords that restrict the type of a value. */
const TYPE_KEYWORDS = ['type', 'enum', 'const', 'format'] as const;

/** All that may hold for the value of a whole schema: itself, its alternatives, and what it refers to. */
export function schemasOf(schema: object): Schemas {
  return expanded([schema], schema);
}

/** The same for a key of a map or a place in a list. @param root by which references are followed */
export function schemasAt(schemas: Schemas, key: string | number, root: object): Schemas {
  const found = schemas.flatMap((schema) => {
    if ((schema as AnySchema).format === TEMPLATE_FORMAT) return [schema];
    return typeof key === 'string' ? ofKey(schema, key) : ofItem(schema, key);
  });
  return expanded(found.filter(isSchema), root);
}

/**
 * Whether the schemas restrict the type of a value. Without such a keyword, or with a reference to another document, any value is
 * possible.
 */
export function areTyped(schemas: Schemas): boolean {
  const isElsewhere = schemas.some(({ $ref }: AnySchema) => $ref !== undefined && !$ref.startsWith('#'));
  return !isElsewhere && schemas.some((schema) => TYPE_KEYWORDS.some((word) => word in schema));
}

function ofKey({ properties, patternProperties, additionalProperties }: AnySchema, key: string): unknown[] {
  const own = properties && Object.hasOwn(properties, key) ? [properties[key]] : [];
  const matching = Object.entries(patternProperties ?? {}).flatMap(([pattern, schema]) =>
    new RegExp(pattern, 'u').test(key) ? [schema] : [],
  );
  return [...own, ...matching, additionalProperties];
}

function ofItem({ items, prefixItems, additionalItems }: AnySchema, index: number): unknown[] {
  const own = Array.isArray(items) ? [(items as readonly unknown[])[index], additionalItems] : [items];
  return [...own, prefixItems?.[index]];
}

function expanded(schemas: Schemas, root: object): Schemas {
  const all = new Set(schemas);
  // The loop also visits schemas added meanwhile; a set adds each only once.
  for (const schema of all)
    for (const keyword of SAME_VALUE) for (const other of appliedBy(schema, keyword, root)) all.add(other);
  return [...all];
}

function appliedBy(schema: object, keyword: (typeof SAME_VALUE)[number], root: object): readonly object[] {
  const value = (schema as Readonly<Record<string, unknown>>)[keyword];
  if (keyword === '$ref')
    return [typeof value === 'string' ? referred(value, root) : undefined].filter(isSchema);
  if (Array.isArray(value)) return value.filter(isSchema);
  if (keyword === 'dependentSchemas') return isSchema(value) ? Object.values(value).filter(isSchema) : [];
  return isSchema(value) ? [value] : [];
}

/** Resolves a JSON Pointer such as `#/$defs/target`. */
function referred(reference: string, root: object): unknown {
  if (!reference.startsWith('#')) return undefined;
  let at: unknown = root;
  for (const key of reference.slice(1).split('/').slice(1)) {
    const name = decodeURIComponent(key).replaceAll('~1', '/').replaceAll('~0', '~');
    at =
      isSchema(at) && Object.hasOwn(at, name) ? (at as Readonly<Record<string, unknown>>)[name] : undefined;
  }
  return at;
}

function isSchema(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
