import { Environment } from '@marcbachmann/cel-js';
import { printJson } from '../signal/json.js';
import { matches, MATCHES } from './patterns.js';
import { jsonOf } from './json-value.js';
import { PRESENCE, presenceMacro } from './presence.js';
import { RECORD_TYPES, type Variable } from './scope/record-types.js';

/** More than anybody writes by hand. */
const LIMITS = {
  maxAstNodes: 2000,
  maxDepth: 64,
  maxListElements: 1000,
  maxMapEntries: 100,
  maxCallArguments: 16,
};

let shared: Environment | undefined;

/** Knows the variables of one kind of expressions, and their types. */
export function environmentOf(variables: readonly Variable[]): Environment {
  const environment = (shared ??= commonEnvironment()).clone();
  for (const variable of variables) environment.registerVariable(variable, typeOf(variable));
  return environment;
}

function typeOf(variable: Variable): string {
  if (variable === 'resource') return 'map<string, dyn>';
  return variable === 'items' ? 'list<dyn>' : RECORD_TYPES[variable].name;
}

function commonEnvironment(): Environment {
  // JSON has values of several types in one list or map.
  const environment = new Environment({ limits: LIMITS, homogeneousAggregateLiterals: false });
  // In this order: fields are of types that are known.
  const { span, ...others } = RECORD_TYPES;
  for (const { name, fields, view } of [span, ...Object.values(others)])
    environment.registerType(name, {
      ctor: view,
      fields: Object.fromEntries(Object.entries(fields).map(([field, { type }]) => [field, type])),
    });
  environment.registerFunction(`${PRESENCE}(ast): bool`, presenceMacro, { async: false });
  environment.registerFunction(`string.${MATCHES}(string): bool`, matches, { async: false });
  for (const [signature, run] of Object.entries(MORE_FUNCTIONS))
    environment.registerFunction(signature, run, { async: false });
  return environment;
}

/** The first two are CEL's own, which the library is without. */
const MORE_FUNCTIONS: Readonly<Record<string, (...args: never[]) => unknown>> = {
  'string(google.protobuf.Timestamp): string': (time: Date) => jsonOf(time),
  'int(google.protobuf.Timestamp): int': (time: Date) => BigInt(Math.floor(time.getTime() / 1000)),
  'string.replace(string, string): string': (text: string, part: string, by: string) =>
    text.replaceAll(part, () => by),
  'json(dyn): string': (value: unknown) => printJson(jsonOf(value)),
};
