import { Environment } from '@marcbachmann/cel-js';
import { matches, MATCHES } from './patterns.js';
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
  for (const variable of variables)
    environment.registerVariable(
      variable,
      variable === 'resource' ? 'map<string, dyn>' : RECORD_TYPES[variable].name,
    );
  return environment;
}

function commonEnvironment(): Environment {
  const environment = new Environment({ limits: LIMITS });
  // In this order: fields are of types that are known.
  const { span, ...others } = RECORD_TYPES;
  for (const { name, fields, view } of [span, ...Object.values(others)])
    environment.registerType(name, {
      ctor: view,
      fields: Object.fromEntries(Object.entries(fields).map(([field, { type }]) => [field, type])),
    });
  environment.registerFunction(`${PRESENCE}(ast): bool`, presenceMacro, { async: false });
  environment.registerFunction(`string.${MATCHES}(string): bool`, matches, { async: false });
  return environment;
}
