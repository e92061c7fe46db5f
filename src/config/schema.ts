import { Type, type TObject, type TProperties, type TSchema, type TUnsafe } from 'typebox';
import type { JsonValue } from '../signal/attributes.js';
import { DURATION_PATTERN } from './duration.js';
import { ENDPOINT_PATTERN } from './endpoint.js';
import { SIZE_PATTERN } from './size.js';

/**
 * Reusable blocks for the schemas of components' sections. The engine validates the `format`s and uses them in its errors; editors
 * ignore them and use the patterns.
 */

/** Options of a schema block. `default` is the only place for a default value. */
export interface BlockOptions<Value> {
  readonly description: string;
  readonly default?: Value;
}

/**
 * A component's section, or a nested map of it. Unknown keys are errors. A missing section is `{}`, so the defaults inside apply.
 * For a map that may be absent altogether write `Type.Optional(section({…}, {…, isOptional: true}))`.
 */
export function section<Properties extends TProperties>(
  properties: Properties,
  options: {
    readonly description?: string;
    readonly isOptional?: boolean;
    /** Removed keys, each with the replacement that the error names. */
    readonly removedKeys?: Readonly<Record<string, string>>;
  } = {},
): TObject<Properties> {
  return Type.Object(properties, {
    additionalProperties: false,
    ...(options.description === undefined ? {} : { description: options.description }),
    ...(options.isOptional === true ? {} : { default: {} }),
    ...(options.removedKeys === undefined ? {} : { removedKeys: options.removedKeys }),
  });
}

/** A duration with its unit: `250ms`, `15s`, `5m`, `2h`, `30d`. Read it with `durationMs` of `config/duration.ts`. */
export function duration(options: BlockOptions<string>): TUnsafe<string> {
  return Type.Unsafe<string>({
    type: 'string',
    format: 'jackdaw-duration',
    pattern: DURATION_PATTERN,
    ...options,
  });
}

/** The part of the memory that a setting takes by default: never more than its `default`, and never less than `least`. */
export interface MemoryShare {
  readonly share: number;
  readonly least: string;
}

/**
 * A number of bytes, or text like `16MiB`. Read it with `sizeBytes` of `config/size.ts`. A size of memory has a `memoryShare`, by
 * which its default is less if there is little memory.
 */
export function size(
  options: BlockOptions<string | number> & { readonly memoryShare?: MemoryShare },
): TUnsafe<string | number> {
  return Type.Unsafe<string | number>({
    type: ['integer', 'string'],
    format: 'jackdaw-size',
    minimum: 0,
    pattern: SIZE_PATTERN,
    ...options,
  });
}

/** A listen address: `127.0.0.1:4319`, `[::1]:4319`, `:4319` (all addresses). Port 0 selects a free port. */
export function endpoint(options: BlockOptions<string>): TUnsafe<string> {
  return Type.Unsafe<string>({
    type: 'string',
    format: 'jackdaw-endpoint',
    pattern: ENDPOINT_PATTERN,
    ...options,
  });
}

/** A listen address, or null or empty text to disable the listener. */
export function optionalEndpoint(options: BlockOptions<string | null>): TUnsafe<string | null> {
  return Type.Unsafe<string | null>({
    type: ['string', 'null'],
    format: 'jackdaw-optional-endpoint',
    pattern: `^$|${ENDPOINT_PATTERN}`,
    ...options,
  });
}

/** A range of addresses: `10.0.0.0/8`, `fd00::/8`. Read it with `readRange` of `config/address-ranges.ts`. */
export function cidr(): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'jackdaw-cidr' });
}

/** One of a fixed list of words. */
export function choice<const Words extends readonly string[]>(
  words: Words,
  options: BlockOptions<Words[number]>,
): TUnsafe<Words[number]> {
  return Type.Unsafe<Words[number]>({ enum: [...words], ...options });
}

/** Text that is never shown: not in errors, not in logs, not in `jackdaw validate`. */
export function secret(options: {
  readonly description: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  /** The error for a text that does not match the pattern. */
  readonly patternErrorMessage?: string;
  /** Whether there may be expressions in it: {@link template}. */
  readonly hasExpressions?: boolean;
}): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'jackdaw-secret', writeOnly: true, ...options });
}

/** The format of values with expressions in them. */
export const TEMPLATE_FORMAT = 'jackdaw-template';

/**
 * Any JSON value, with expressions (`${{ … }}`) in its texts, evaluated by `expressions/json-template.ts`. For a text with
 * expressions and its own schema, set `hasExpressions: true` there.
 */
export function template(options: { readonly description: string }): TUnsafe<JsonValue> {
  return Type.Unsafe<JsonValue>({ format: TEMPLATE_FORMAT, ...options });
}

/** The path of a file, relative to the directory the daemon was started in. */
export function filePath(options: BlockOptions<string>): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'jackdaw-path', minLength: 1, ...options });
}

/**
 * The id of an extension, such as a store, that the component gets from `Host.extension`. The engine checks that it is configured
 * and listed in `service.extensions`.
 */
export function extensionId(options: BlockOptions<string>): TUnsafe<string> {
  return Type.Unsafe<string>({ type: 'string', format: 'jackdaw-extension-id', minLength: 1, ...options });
}

/** Whether a schema marks its value as one that is never shown. */
export function isSecret(schema: TSchema | Readonly<Record<string, unknown>>): boolean {
  return 'format' in schema && schema.format === 'jackdaw-secret';
}
