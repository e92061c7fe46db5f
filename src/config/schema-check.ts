import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import { maskAddress } from '../component/url-secrets.js';
import { parseRange } from './address-ranges.js';
import { locate, nodeAt, type ConfigNode } from './config-node.js';
import type { Problem } from './config-error.js';
import { parseDuration } from './duration.js';
import { parseEndpoint } from './endpoint.js';
import { suggestion } from './nearest-name.js';
import { defaultsBudget, fitDefaults } from './memory.js';
import { commonFormat } from './rule-messages.js';
import { plainValue, secretsIn, strayHoles, type JsonSchema } from './plain-value.js';
import { TEMPLATE_FORMAT } from './schema.js';
import { parseSize } from './size.js';

/** The result of checking a part of the configuration. */
export interface Checked {
  /** With defaults filled in; use it only if there are no problems. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
  /** Values that must never be shown. */
  readonly secrets: readonly string[];
}

/** Descriptions of the formats in `config/schema.ts` for errors, each by example. */
const FORMATS: Readonly<Record<string, string>> = {
  'jackdaw-duration': 'a duration: a whole number and a unit, such as 250ms, 15s, 5m, 2h or 30d',
  'jackdaw-size': 'a size: bytes, or a whole number and a unit, such as 512KiB, 16MiB or 1GiB',
  'jackdaw-endpoint': 'an endpoint: host:port, such as 127.0.0.1:4319 or [::1]:4319',
  'jackdaw-optional-endpoint': 'an endpoint (host:port, such as 127.0.0.1:8888), or empty for none',
  'jackdaw-cidr':
    'a range of addresses: an address and the length of its prefix, such as 10.0.0.0/8, 192.0.2.7/32 or fd00::/8',
  'jackdaw-path': 'the path of a file',
  'jackdaw-extension-id': 'the id of an extension',
};

const OPTIONS: Options = {
  allErrors: true,
  useDefaults: true,
  verbose: true,
  // Schemas of plugins may contain their own keywords and formats; unknown ones are ignored.
  strict: false,
  logger: false,
  // Each validator runs once or twice, so optimizing its code costs more than it saves.
  code: { optimize: false },
  allowUnionTypes: true,
  formats: {
    'jackdaw-duration': (text: string) => parseDuration(text) !== undefined,
    'jackdaw-size': (text: string) => parseSize(text) !== undefined,
    'jackdaw-endpoint': (text: string) => parseEndpoint(text) !== undefined,
    'jackdaw-optional-endpoint': (text: string) => text === '' || parseEndpoint(text) !== undefined,
    'jackdaw-cidr': (text: string) => parseRange(text) !== null,
    'jackdaw-path': true,
    'jackdaw-extension-id': true,
    'jackdaw-secret': true,
    [TEMPLATE_FORMAT]: true,
  },
};

/** The meta-schema validator. Compiling it takes longer than compiling any of our schemas, so it is shared. */
const schemas = new Ajv(OPTIONS);
const compiled = new WeakMap<object, ValidateFunction>();

/**
 * Validates a part of the configuration against a JSON Schema, which is compiled once.
 *
 * @param root the whole configuration
 * @param path of the part; a missing part is an empty map
 * @throws Error if the schema itself is invalid
 */
export function checkSchema(schema: object, root: ConfigNode, path: readonly string[]): Checked {
  const validate = compile(schema);
  const node = nodeAt(root, path);
  const jsonSchema = schema as JsonSchema;
  const value: unknown = node === undefined ? {} : plainValue(node, jsonSchema);
  const problems = validate(value)
    ? []
    : withoutRepeats(validate.errors ?? []).map((error) => describe(error, root, path));
  const stray = node === undefined ? [] : strayHoles(node, jsonSchema);
  problems.push(...stray.map((place) => strayHole(root, [...path, ...place])));
  return { value, problems, secrets: secretsIn(value, jsonSchema) };
}

function strayHole(root: ConfigNode, path: readonly string[]): Problem {
  const message =
    '"${{ … }}" is not evaluated here; write $${{ for these characters, or ${env:NAME} for a variable';
  return { severity: 'error', position: locate(root, path), path, message };
}

function compile(schema: object): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  void schemas.validateSchema(schema, true);
  // A separate instance for each schema, so that equal `$id`s do not collide.
  const validate = new Ajv({ ...OPTIONS, validateSchema: false }).compile(
    fitDefaults(schema, defaultsBudget()),
  );
  compiled.set(schema, validate);
  return validate;
}

/** The error for a missing required key. */
export const IS_MISSING = 'is missing';

/** Keeps one error for each path: branches of a failed `anyOf`, and the second of pattern and format, add nothing. */
function withoutRepeats(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const alternatives = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const seen = new Set<string>();
  return errors.filter((error) => {
    if (alternatives.some((outer) => error.schemaPath.startsWith(`${outer.schemaPath}/`))) return false;
    if (error.keyword === 'additionalProperties' || error.keyword === 'required') return true;
    if (seen.has(error.instancePath)) return false;
    seen.add(error.instancePath);
    return true;
  });
}

function describe(error: ErrorObject, root: ConfigNode, base: readonly string[]): Problem {
  const place = [...base, ...segmentsOf(error.instancePath)];
  const parent = (error.parentSchema ?? {}) as JsonSchema;
  const params = error.params as Readonly<Record<string, unknown>>;
  const report = (path: readonly string[], message: string): Problem => ({
    severity: 'error',
    position: locate(root, path),
    path,
    message,
  });
  switch (error.keyword) {
    case 'additionalProperties': {
      const key = String(params['additionalProperty']);
      const removed = parent.removedKeys?.[key];
      return report(
        [...place, key],
        removed ?? `unknown key "${key}"${suggestion(key, Object.keys(parent.properties ?? {}))}`,
      );
    }
    case 'required':
      return report([...place, String(params['missingProperty'])], IS_MISSING);
    case 'minItems':
    case 'minProperties':
      return report(place, ruleOf(error, parent));
    default:
      return report(place, `${ruleOf(error, parent)}${shown(error, parent, root, place)}`);
  }
}

function ruleOf(error: ErrorObject, parent: JsonSchema): string {
  const format = FORMATS[parent.format ?? ''];
  if (format !== undefined) return `must be ${format}`;
  const params = error.params as Readonly<Record<string, unknown>>;
  const choices = choicesOf(parent);
  if (choices !== undefined)
    return `must be one of ${choices.map((choice) => JSON.stringify(choice)).join(', ')}`;
  if (error.keyword === 'pattern' && parent.patternErrorMessage !== undefined)
    return parent.patternErrorMessage;
  switch (error.keyword) {
    case 'type':
      return `must be ${[parent.type ?? []].flat().map(nameOfType).join(' or ')}`;
    case 'maxLength':
      return `must be at most ${String(params['limit'])} characters long`;
    case 'anyOf':
    case 'oneOf':
      return 'has none of the allowed forms';
    default:
      return commonFormat(error) ?? error.message ?? 'is not valid';
  }
}

function choicesOf(schema: JsonSchema): readonly unknown[] | undefined {
  if (schema.enum) return schema.enum;
  if (schema.const !== undefined) return [schema.const];
  const constants = (schema.anyOf ?? schema.oneOf)?.map((alternative) => alternative.const);
  return constants?.every((value) => value !== undefined) === true ? constants : undefined;
}

/** The actual value, unless it is secret or came from outside the file. */
function shown(error: ErrorObject, schema: JsonSchema, root: ConfigNode, place: readonly string[]): string {
  const node = nodeAt(root, place);
  if (node?.kind !== 'scalar') return node === undefined ? '' : `, but is a ${node.kind}`;
  if (schema.format === 'jackdaw-secret')
    return error.keyword === 'type' && node.value !== null ? '; put it in quotes' : '';
  if (schema.type === 'object' || schema.type === 'array')
    return node.value === null ? ', but has no value' : `, but is a single value`;
  if (node.value === null && node.text === undefined) return ', but has no value';
  const masked = maskAddress(node.source);
  const text = masked.length > 80 ? `${masked.slice(0, 80)}…` : masked;
  if (
    error.keyword === 'type' &&
    schema.type === 'string' &&
    schema.format === undefined &&
    node.isSubstituted !== true
  )
    return `; put it in quotes: "${text}"`;
  const choices = choicesOf(schema)?.filter((choice) => typeof choice === 'string') ?? [];
  const near = typeof error.data === 'string' ? nearChoice(error.data, choices) : '';
  return `, but is ${typeof node.value === 'string' ? JSON.stringify(text) : text}${near}`;
}

function nearChoice(value: string, choices: readonly string[]): string {
  const hint = suggestion(value, choices);
  return hint.startsWith('; did you mean') ? hint : '';
}

function nameOfType(type: string): string {
  switch (type) {
    case 'object':
      return 'a map';
    case 'array':
      return 'a list';
    case 'string':
      return 'text';
    case 'integer':
      return 'a whole number';
    case 'number':
      return 'a number';
    case 'boolean':
      return 'true or false';
    default:
      return type;
  }
}

/** The keys of a JSON Pointer. */
export function segmentsOf(pointer: string): readonly string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
}
