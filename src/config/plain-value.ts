import { secretsInUrls } from '../component/url-secrets.js';
import type { ConfigNode, ScalarNode } from './config-node.js';
import { isSecret, TEMPLATE_FORMAT } from './schema.js';
import { schemasAt, schemasOf, type Schemas } from './schemas-at.js';
import { hasHole } from './holes.js';

/** A JSON Schema as far as reading a value needs it. */
export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  /** Whether its texts may have expressions: {@link strayHoles}. */
  readonly hasExpressions?: boolean;
  readonly patternErrorMessage?: string;
  readonly removedKeys?: Readonly<Record<string, string>>;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly items?: JsonSchema | readonly JsonSchema[];
}

/**
 * The value that a schema validates. A substituted scalar is plain text if the schema expects a string (a password `0123` stays
 * one), and otherwise parsed as YAML. A `key:` without a value is an empty map if a map is expected.
 */
export function plainValue(node: ConfigNode, schema: JsonSchema | undefined): unknown {
  switch (node.kind) {
    case 'map':
      return Object.fromEntries(
        [...node.entries].map(([key, { node: child }]) => [key, plainValue(child, schemaOfKey(schema, key))]),
      );
    case 'list':
      return node.items.map((item) => plainValue(item, schemaOfItem(schema)));
    case 'scalar':
      return scalarValue(node, schema);
  }
}

/** Paths of expressions, `${{ … }}`, in values that are never evaluated. */
export function strayHoles(node: ConfigNode, schema: JsonSchema | undefined): readonly (readonly string[])[] {
  if (isTemplate(schema)) return [];
  switch (node.kind) {
    case 'map':
      return [...node.entries].flatMap(([key, { node: child }]) =>
        strayHoles(child, schemaOfKey(schema, key)).map((path) => [key, ...path]),
      );
    case 'list':
      return node.items.flatMap((item, index) =>
        strayHoles(item, schemaOfItem(schema)).map((path) => [String(index), ...path]),
      );
    case 'scalar':
      return hasHole(node.source) ? [[]] : [];
  }
}

/** The texts in a checked value that its schema marks as secret, and passwords and keys in URLs. */
export function secretsIn(value: unknown, schema: JsonSchema | undefined): readonly string[] {
  return schema === undefined ? [] : secretsBy(value, schemasOf(schema), schema);
}

function secretsBy(value: unknown, schemas: Schemas, root: object): readonly string[] {
  if (typeof value === 'string') {
    const inUrls = secretsInUrls(value);
    return value !== '' && schemas.some(isSecret) ? [value, ...inUrls] : inUrls;
  }
  if (typeof value !== 'object' || value === null) return [];
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  return [...entries].flatMap(([key, child]) => secretsBy(child, schemasAt(schemas, key, root), root));
}

function scalarValue(node: ScalarNode, schema: JsonSchema | undefined): unknown {
  if (node.text !== undefined && wantsString(schema)) return node.text;
  if (node.value === null && schema?.type === 'object') return {};
  return node.value;
}

function isTemplate(schema: JsonSchema | undefined): boolean {
  return schema?.format === TEMPLATE_FORMAT || schema?.hasExpressions === true;
}

function wantsString(schema: JsonSchema | undefined): boolean {
  if (schema === undefined) return false;
  // A number from outside is a text unless the schema expects a number: keys may consist of digits.
  if (isTemplate(schema)) return true;
  if (schema.type !== undefined) return schema.type === 'string';
  if (schema.const !== undefined) return typeof schema.const === 'string';
  if (schema.enum) return schema.enum.every((value) => typeof value === 'string');
  const alternatives = schema.anyOf ?? schema.oneOf;
  return alternatives !== undefined && alternatives.length > 0 && alternatives.every(wantsString);
}

function schemaOfKey(schema: JsonSchema | undefined, key: string): JsonSchema | undefined {
  if (schema?.format === TEMPLATE_FORMAT) return schema;
  if (schema?.properties && Object.hasOwn(schema.properties, key)) return schema.properties[key];
  for (const [pattern, found] of Object.entries(schema?.patternProperties ?? {}))
    if (new RegExp(pattern, 'u').test(key)) return found;
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
}

function schemaOfItem(schema: JsonSchema | undefined): JsonSchema | undefined {
  if (schema?.format === TEMPLATE_FORMAT) return schema;
  return schema?.items !== undefined && 'type' in schema.items ? schema.items : undefined;
}
