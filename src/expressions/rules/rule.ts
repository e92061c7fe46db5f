import { Type, type Static } from 'typebox';
import type { JsonValue, JsonObject } from '../../signal/attributes.js';
import { compile, compileCondition, type Expression } from '../expression.js';
import { ExpressionError } from '../expression-error.js';
import { jsonOf } from '../json-value.js';
import type { Scope, ScopeName } from '../scope/scopes.js';
import { suggestion } from '../../config/nearest-name.js';
import { section } from '../../config/schema.js';

const path = (description: string) => Type.String({ minLength: 1, maxLength: 1024, description });
const expression = (description: string) => Type.String({ minLength: 1, maxLength: 4096, description });

const ruleSchema = section(
  {
    when: Type.Optional(expression('Condition in CEL. Without it, the rule applies to every item.')),
    set: Type.Record(Type.String(), expression('Value, as an expression in CEL.'), {
      default: {},
      description: 'Fields or keys to set, each with its value.',
    }),
    rename: Type.Record(Type.String(), path('New name.'), {
      default: {},
      description: 'Keys to rename, each with its new name.',
    }),
    delete: Type.Array(path('Name of a field, or of a key in a field.'), {
      default: [],
      description: 'Fields or keys to delete.',
    }),
  },
  { isOptional: true },
);

export type RuleConfig = Static<typeof ruleSchema>;

/** Schema of a list of rules. */
export const rulesSchema = (description: string) =>
  Type.Array(ruleSchema, { maxItems: 1000, default: [], description });

/** A field of a record that rules may change. */
type Target<Record> =
  | {
      readonly is: 'text';
      /** Whether the value may be missing. */
      readonly isOptional: boolean;
      readonly set: (record: Record, text: string | null) => void;
    }
  | ObjectTarget<Record>
  | {
      /** Any JSON value. */
      readonly is: 'value';
      readonly get: (record: Record) => JsonValue;
      readonly set: (record: Record, value: JsonValue) => void;
    };

/** A JSON object whose keys are changed. */
interface ObjectTarget<Record> {
  readonly is: 'object';
  readonly get: (record: Record) => JsonObject | null;
  readonly set: (record: Record, object: JsonObject | null) => void;
}

/** What the paths of a rule name: a field and a key in it, or a key of one object. */
export type Targets<Record> =
  | { readonly kind: 'fields'; readonly fields: Readonly<{ [Name in string]: Target<Record> }> }
  | { readonly kind: 'keys'; readonly object: ObjectTarget<Record> };

/** A place in a record: a field, or a key in one. */
interface Place<Record> {
  readonly target: Target<Record>;
  /** Empty for the field itself. */
  readonly path: string;
}

type Problem = { readonly path: string; readonly message: string };

/** A rule for records of one kind. */
export class Rule<Record> {
  readonly #when: Expression | undefined;
  readonly #set: readonly { readonly place: Place<Record>; readonly value: Expression }[];
  readonly #rename: readonly { readonly from: Place<Record>; readonly to: Place<Record> }[];
  readonly #delete: readonly Place<Record>[];

  /** @param config valid according to {@link problemsOfRule} */
  constructor(config: RuleConfig, scope: ScopeName, targets: Targets<Record>) {
    const placeOf = (path: string) => placeIn(targets, path) as Place<Record>;
    this.#when = config.when === undefined ? undefined : compileCondition(config.when, scope);
    this.#set = Object.entries(config.set).map(([path, source]) => ({
      place: placeOf(path),
      value: compile(source, scope),
    }));
    this.#rename = Object.entries(config.rename).map(([from, to]) => ({
      from: placeOf(from),
      to: placeOf(to),
    }));
    this.#delete = config.delete.map(placeOf);
  }

  /**
   * Changes a record in place if the condition is true. All values are computed before any is set.
   *
   * @throws Error if an expression fails; the record is then unchanged
   */
  apply(record: Record, scope: Scope): void {
    if (this.#when !== undefined) {
      const holds = this.#when.evaluate(scope);
      if (typeof holds !== 'boolean') throw new Error('A condition is neither true nor false.');
      if (!holds) return;
    }
    const values = this.#set.map(({ place, value }) => checked(place, jsonOf(value.evaluate(scope))));
    this.#set.forEach(({ place }, index) => {
      put(record, place, values[index] ?? null);
    });
    for (const { from, to } of this.#rename) move(record, from, to);
    for (const place of this.#delete) remove(record, place);
  }
}

/** Problems of a rule. @param path of the rule: `/spans/0` */
export function problemsOfRule(
  path: string,
  config: RuleConfig,
  scope: ScopeName,
  targets: Targets<never>,
): Problem[] {
  const problems: Problem[] = [];
  const attempt = (at: string, work: () => unknown) => {
    try {
      work();
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      problems.push({ path: `${path}/${at}`, message: error.message });
    }
  };
  const { when } = config;
  if (when !== undefined) attempt('when', () => compileCondition(when, scope));
  const check = (at: string, where: string) => {
    const place = placeIn(targets, where);
    if (typeof place === 'string') problems.push({ path: `${path}/${at}`, message: place });
    return place;
  };
  for (const [where, source] of Object.entries(config.set)) {
    const place = check(`set/${where}`, where);
    attempt(`set/${where}`, () => {
      const { type } = compile(source, scope);
      const isText = typeof place !== 'string' && place.target.is === 'text';
      if (isText && type !== 'string' && type !== 'dyn')
        throw new ExpressionError(`${where} is a text, but this is a ${type}`, source, 0);
      if (/^[A-Z]/.test(type)) throw new ExpressionError(`a ${type.toLowerCase()} is not a value`, source, 0);
    });
    if (typeof place !== 'string' && place.target.is === 'object' && place.path === '')
      problems.push({
        path: `${path}/set/${where}`,
        message: `sets a whole object: name a key, such as ${where}.team`,
      });
  }
  for (const [from, to] of Object.entries(config.rename))
    for (const place of [check(`rename/${from}`, from), check(`rename/${from}`, to)])
      if (typeof place !== 'string' && (place.target.is !== 'object' || place.path === ''))
        problems.push({
          path: `${path}/rename/${from}`,
          message: 'only keys can be renamed: metadata.a: metadata.b',
        });
  config.delete.forEach((where, index) => {
    const place = check(`delete/${index}`, where);
    if (typeof place !== 'string' && place.target.is === 'text' && !place.target.isOptional)
      problems.push({ path: `${path}/delete/${index}`, message: `there is nothing without a ${where}` });
  });
  return problems;
}

/** @returns the place, or a text that explains why it does not exist */
function placeIn<Record>(targets: Targets<Record>, path: string): Place<Record> | string {
  if (targets.kind === 'keys')
    return path === '' ? 'a key must not be empty' : { target: targets.object, path };
  const { fields } = targets;
  const dot = path.indexOf('.');
  const field = dot < 0 ? path : path.slice(0, dot);
  const target = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (target === undefined) return `"${field}" cannot be changed${suggestion(field, Object.keys(fields))}`;
  const rest = dot < 0 ? '' : path.slice(dot + 1);
  if (rest !== '' && target.is === 'text') return `"${field}" is a text without keys`;
  return { target, path: rest };
}

/** @throws Error for a value that does not fit the field */
function checked<Record>({ target }: Place<Record>, value: JsonValue): JsonValue {
  if (target.is !== 'text') return value;
  if (
    typeof value === 'string' ? target.isOptional || value.trim() !== '' : value === null && target.isOptional
  )
    return value;
  throw new Error('The value does not fit the field.');
}

function put<Record>(record: Record, { target, path }: Place<Record>, value: JsonValue): void {
  if (target.is === 'text') target.set(record, typeof value === 'string' ? value : null);
  else if (path !== '') target.set(record, withValue(objectOf(target.get(record)), path, value));
  else if (target.is === 'value') target.set(record, value);
}

function move<Record>(record: Record, from: Place<Record>, to: Place<Record>): void {
  if (from.target.is !== 'object' || to.target.is !== 'object') return;
  const object = from.target.get(record);
  const value = object === null ? undefined : valueAt(object, from.path);
  if (object === null || value === undefined) return;
  from.target.set(record, withoutValue(object, from.path));
  put(record, to, value);
}

function remove<Record>(record: Record, { target, path }: Place<Record>): void {
  if (path === '') target.set(record, null);
  else if (target.is !== 'text') {
    const object = target.get(record);
    if (typeof object !== 'object' || object === null || Array.isArray(object)) return;
    const rest = withoutValue(object, path);
    // Without a change, the sent form of a span is kept.
    if (rest !== object) target.set(record, rest);
  }
}

function objectOf(value: JsonValue): { [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

/**
 * The value at a path within an object. The whole path is tried as one key, dots included; otherwise each dot descends one level.
 *
 * @returns undefined if there is no value
 */
function valueAt(object: JsonObject, path: string): JsonValue | undefined {
  if (Object.hasOwn(object, path)) return object[path];
  const below = inside(object, path);
  return below === undefined ? undefined : valueAt(below.object, below.path);
}

/** A copy of the object with a new value at a path; unchanged parts are shared. A missing path is added as one key. */
function withValue(object: JsonObject, path: string, value: JsonValue): JsonObject {
  const below = Object.hasOwn(object, path) ? undefined : inside(object, path);
  return below === undefined
    ? withKey(object, path, value)
    : withKey(object, below.key, withValue(below.object, below.path, value));
}

/** A copy of the object without the value at a path; the same object if there is none. */
function withoutValue(object: JsonObject, path: string): JsonObject {
  if (Object.hasOwn(object, path))
    return Object.fromEntries(Object.entries(object).filter(([key]) => key !== path));
  const below = inside(object, path);
  if (below === undefined) return object;
  const rest = withoutValue(below.object, below.path);
  return rest === below.object ? object : withKey(object, below.key, rest);
}

/** The object that the first part of a path leads to. Keys may contain dots: the longest existing key counts. */
function inside(
  object: JsonObject,
  path: string,
): { readonly key: string; readonly object: JsonObject; readonly path: string } | undefined {
  for (let dot = path.lastIndexOf('.'); dot > 0; dot = path.lastIndexOf('.', dot - 1)) {
    const key = path.slice(0, dot);
    const below = Object.hasOwn(object, key) ? object[key] : undefined;
    if (typeof below === 'object' && below !== null && !Array.isArray(below))
      return { key, object: below, path: path.slice(dot + 1) };
  }
  return undefined;
}

/** Built from entries, because `__proto__` is an ordinary key. */
function withKey(object: JsonObject, key: string, value: JsonValue): JsonObject {
  return Object.fromEntries([...Object.entries(object).filter(([name]) => name !== key), [key, value]]);
}
