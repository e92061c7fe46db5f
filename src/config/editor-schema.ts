import type { Factory } from '../component/factory.js';
import {
  AuthSchema,
  COMPONENT_SECTIONS,
  PluginsSchema,
  SecretsSchema,
  ServiceSchema,
  SmtpSchema,
} from './file-schema.js';

type Json = unknown;
type JsonMap = Readonly<Record<string, Json>>;

/** No keywords of draft-07. */
const OWN_KEYWORDS: readonly string[] = [
  'patternErrorMessage',
  'hasExpressions',
  'removedKeys',
  'memoryShare',
];

const SUBSTITUTION = { type: 'string', pattern: '^\\$\\{(env|file):' };

/**
 * One JSON Schema (draft-07) of the whole file for editors. It is more lenient than the engine: keys with a default may be missing,
 * a section may be empty, any value may be a substitution.
 */
export function editorSchema(factories: readonly Factory[]): JsonMap {
  const sections = Object.entries(COMPONENT_SECTIONS).map(([kind, section]) => {
    const own = factories.filter((factory) => factory.kind === kind);
    return [section, sectionOf(own)] as const;
  });
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Jackdaw configuration',
    type: 'object',
    additionalProperties: false,
    patternProperties: { '^x-': {} },
    properties: {
      extends: { const: 'default', description: 'Merges the file over the built-in configuration.' },
      plugins: forEditors(PluginsSchema),
      auth: forEditors(AuthSchema),
      secrets: forEditors(SecretsSchema),
      smtp: forEditors(SmtpSchema),
      ...Object.fromEntries(sections),
      service: forEditors(ServiceSchema),
    },
  };
}

function sectionOf(factories: readonly Factory[]): JsonMap {
  const patterns = factories.map(({ type, description, configSchema }) => [
    `^${type}(/.+)?$`,
    { ...(forEditors(configSchema) as JsonMap), description },
  ]);
  return {
    type: ['object', 'null'],
    additionalProperties: false,
    patternProperties: Object.fromEntries(patterns) as JsonMap,
  };
}

/** Plain JSON of a schema, fit for draft-07 and for what users may write. */
function forEditors(schema: object): Json {
  // Serialized as JSON to remove TypeBox's hidden properties.
  const plain = JSON.stringify(schema, (key, value: unknown) =>
    OWN_KEYWORDS.includes(key) ? undefined : value,
  );
  return widen(JSON.parse(plain) as JsonMap);
}

/** A map in place of a list of ids changes the list of an earlier file (`merge.ts`). */
const ID_OR_IDS = { anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'string' } }] };
const INSERTION = {
  type: 'object',
  additionalProperties: false,
  required: ['ids'],
  properties: { before: { type: 'string' }, after: { type: 'string' }, ids: ID_OR_IDS },
};
const CHANGES = {
  type: 'object',
  additionalProperties: false,
  properties: {
    remove: ID_OR_IDS,
    insert: { anyOf: [INSERTION, { type: 'array', items: INSERTION }] },
  },
};

function orChanges({ description, ...list }: JsonMap): JsonMap {
  return { description, anyOf: [list, CHANGES] };
}

function widen(schema: JsonMap): JsonMap {
  const { properties, patternProperties, items, required, format, isChangeable, ...rest } = schema;
  const children = mapOf(properties);
  const kept = Array.isArray(required)
    ? required.filter((key) => !('default' in ((children?.[String(key)] ?? {}) as JsonMap)))
    : [];
  const wide: JsonMap = {
    ...rest,
    ...(typeof format === 'string' && !format.startsWith('jackdaw-') ? { format } : {}),
    ...(children ? { properties: widenEach(children) } : {}),
    ...(mapOf(patternProperties) ? { patternProperties: widenEach(mapOf(patternProperties) ?? {}) } : {}),
    ...(mapOf(items) ? { items: widen(mapOf(items) ?? {}) } : {}),
    ...(kept.length > 0 ? { required: kept } : {}),
  };
  if (wide['type'] === 'object') return { ...wide, type: ['object', 'null'] };
  if (isChangeable === true) return orChanges(wide);
  return wide['type'] === 'array' || isAnyText(wide) ? wide : orSubstitution(wide);
}

/** Also accepts a substitution for a value that is not free text. */
function orSubstitution(schema: JsonMap): JsonMap {
  const { description, default: preset, ...rest } = schema;
  return {
    ...(description === undefined ? {} : { description }),
    ...(preset === undefined ? {} : { default: preset }),
    anyOf: [rest, SUBSTITUTION],
  };
}

function isAnyText(schema: JsonMap): boolean {
  return (
    schema['type'] === 'string' && !('pattern' in schema) && !('format' in schema) && !('enum' in schema)
  );
}

function widenEach(schemas: JsonMap): JsonMap {
  return Object.fromEntries(Object.entries(schemas).map(([key, schema]) => [key, widen(schema as JsonMap)]));
}

function mapOf(value: Json): JsonMap | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as JsonMap)
    : undefined;
}
