import type { Environment } from '@marcbachmann/cel-js';
import { suggestion } from '../config/nearest-name.js';
import { MATCHES } from './patterns.js';
import { PRESENCE } from './presence.js';
import { RECORD_TYPES, type RecordVariable, type Variable } from './scope/record-types.js';
import type { Node } from './syntax-tree.js';
import { callAdvice, type Functions } from './unfit-call.js';

/** What CEL says of an expression that it does not take. */
export type CelProblem = NonNullable<ReturnType<Environment['check']>['error']>;

/** What is wrong with an expression and what to do, in our words. @param functions that it may call */
export function wordProblem(
  problem: CelProblem,
  variables: readonly Variable[],
  functions: Functions,
): string {
  const summary = problem.summary.replaceAll(PRESENCE, 'has').replaceAll(MATCHES, 'matches');
  const name = /^[^:]+: (.*)$/s.exec(summary)?.[1] ?? '';
  switch (problem.code) {
    case 'unknown_variable':
      return `there is no variable "${name}"${suggestion(name, variables)}`;
    case 'no_such_key':
      return unknownField(name, problem.node as Node | undefined);
    case 'no_such_overload':
      return summary.includes('null')
        ? `${summary}; whether a field has a value, has() tells: has(span.model)`
        : summary;
    case 'no_matching_overload':
      return summary + callAdvice(summary, functions);
    default:
      return summary + operatorAdvice(summary);
  }
}

/** What is meant by a character that is half an operator. */
const HALVES: Readonly<Record<string, string>> = { '=': 'equal is ==', '&': 'and is &&', '|': 'or is ||' };

function operatorAdvice(summary: string): string {
  const half = /^Unexpected character: ([=&|])$/.exec(summary)?.[1];
  return half === undefined ? '' : `; ${HALVES[half] ?? ''}`;
}

function unknownField(name: string, node: Node | undefined): string {
  const object = node?.op === '.' ? node.args[0] : undefined;
  const variable = object?.op === 'id' ? object.args : undefined;
  const type =
    variable !== undefined && variable in RECORD_TYPES ? RECORD_TYPES[variable as RecordVariable] : undefined;
  if (type === undefined) return `there is no field "${name}"`;
  return `${variable ?? ''} has no field "${name}"${suggestion(name, Object.keys(type.fields))}`;
}
