import { suggestion } from '../config/nearest-name.js';
import type { CelProblem } from './expression-error.js';
import { MATCHES } from './patterns.js';
import { PRESENCE } from './presence.js';
import { RECORD_TYPES, type RecordVariable, type Variable } from './scope/record-types.js';
import { wordSyntax } from './syntax-problem.js';
import type { Node } from './syntax-tree.js';
import { callAdvice, type Functions } from './unfit-call.js';
import { typeAdvice } from './unfit-types.js';

/** What CEL puts before some names of types. */
const CEL_PACKAGE = 'google.protobuf.';

/** What is wrong with an expression and what to do, in our words. @param functions that it may call */
export function wordProblem(
  problem: CelProblem,
  source: string,
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
      return summary.replaceAll(CEL_PACKAGE, '') + typeAdvice(summary, problem.node as Node | undefined);
    case 'incompatible_ternary_branches':
      return `${summary}; dyn() around one of them lets them be of different types`;
    case 'no_matching_overload':
      return summary + callAdvice(summary, functions);
    default:
      return wordSyntax(problem, source) ?? summary;
  }
}

function unknownField(name: string, node: Node | undefined): string {
  const object = node?.op === '.' ? node.args[0] : undefined;
  const variable = object?.op === 'id' ? object.args : undefined;
  const type =
    variable !== undefined && variable in RECORD_TYPES ? RECORD_TYPES[variable as RecordVariable] : undefined;
  if (type === undefined) return `there is no field "${name}"`;
  return `${variable ?? ''} has no field "${name}"${suggestion(name, Object.keys(type.fields))}`;
}
