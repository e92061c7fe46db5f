import type { ParseResult } from '@marcbachmann/cel-js';
import { ExpressionError, type CelProblem } from './expression-error.js';
import { impossibleWord, wordsInAnotherCase } from './known-words.js';
import { compilePattern, MATCHES, matches } from './patterns.js';
import { PRESENCE, presenceMacro } from './presence.js';
import { SCOPES, type Scope, type ScopeName } from './scope/scopes.js';
import { callOf, literalText, nodesOf, type Node } from './syntax-tree.js';
import { formatProblem } from './format-problem.js';
import { Environment } from '@marcbachmann/cel-js';
import { serializeJson } from '../signal/json.js';
import { jsonOf } from './json-value.js';
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
function environmentOf(variables: readonly Variable[]): Environment {
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
  // Ordered: a type must be registered before a field uses it.
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
  'json(dyn): string': (value: unknown) => serializeJson(jsonOf(value)),
};

/** Functions that accept only some texts, with the expected format. */
const FORMS: Readonly<Record<string, string>> = {
  timestamp: 'write a time such as timestamp("2026-01-31T12:00:00Z")',
  duration: 'write a duration such as duration("90s") or duration("1h30m")',
  int: 'write a whole number',
  double: 'write a number',
};

/** A call that always fails. */
interface ImpossibleCall {
  readonly problem: string;
  readonly at: number;
}

/**
 * Finds a literal that can never be converted: `timestamp("yesterday")`.
 *
 * @param run evaluates a part of the expression
 */
function impossibleCall(root: Node, run: (source: string) => unknown): ImpossibleCall | undefined {
  for (const node of nodesOf(root)) {
    const { name = '', args } = (node.op === 'call' ? callOf(node) : undefined) ?? { args: [] };
    const form = FORMS[name];
    const [argument, ...more] = args;
    if (form === undefined || argument === undefined || more.length > 0) continue;
    const text = literalText(argument);
    if (text === undefined) continue;
    try {
      run(node.input.slice(node.range.start, node.range.end));
    } catch {
      return { problem: `${name}() cannot read ${JSON.stringify(text)}; ${form}`, at: argument.range.start };
    }
  }
  return undefined;
}

const environments = new Map<ScopeName, ReturnType<typeof environmentOf>>();

/** A type-checked expression. */
export interface Expression {
  readonly source: string;
  /** As CEL calls it: `bool`, `string`, `dyn`. */
  readonly type: string;
  /** @throws EvaluationError of CEL for values that it cannot work with */
  evaluate(scope: Scope): unknown;
}

/**
 * Compiles a CEL expression once, for all evaluations.
 *
 * @param scope the available variables
 * @throws ExpressionError with the problem and its position
 */
export function compile(source: string, scope: ScopeName): Expression {
  const variables = SCOPES[scope];
  let environment = environments.get(scope);
  if (environment === undefined) environments.set(scope, (environment = environmentOf(variables)));
  try {
    const written = environment.parse(source);
    const inVain =
      impossibleWord(written.ast) ?? impossibleCall(written.ast, (part) => environment.evaluate(part));
    if (inVain !== undefined) throw new ExpressionError(inVain.problem, source, inVain.at);
    const parsed = environment.parse(asUnderstood(written.ast, source));
    const { valid, type = 'dyn', error } = parsed.check();
    if (!valid) throw error ?? new Error('The expression cannot be checked.');
    return new CompiledExpression(source, type, parsed);
  } catch (error) {
    if (!isCelProblem(error)) throw error;
    throw new ExpressionError(
      formatProblem(error, source, variables, environment.getDefinitions().functions),
      source,
      error.range?.start ?? 0,
    );
  }
}

/** Like `compile`, for a condition. @throws ExpressionError also if it is not a boolean */
export function compileCondition(source: string, scope: ScopeName): Expression {
  const expression = compile(source, scope);
  if (expression.type !== 'bool' && expression.type !== 'dyn')
    throw new ExpressionError(`a condition must be true or false, not a ${expression.type}`, source, 0);
  return expression;
}

class CompiledExpression implements Expression {
  readonly source: string;
  readonly type: string;
  readonly evaluate: (scope: Scope) => unknown;

  constructor(source: string, type: string, parsed: ParseResult) {
    this.source = source;
    this.type = type;
    this.evaluate = parsed;
  }
}

/**
 * The expression with our own `has` and `matches`, and enum words in their proper case. Lengths are unchanged, so positions stay
 * valid.
 */
function asUnderstood(root: Node, source: string): string {
  let text = source;
  const replace = (at: number, name: string) => {
    text = text.slice(0, at) + name + text.slice(at + name.length);
  };
  for (const { at, word } of wordsInAnotherCase(root)) replace(at, word);
  for (const node of nodesOf(root)) {
    const call = callOf(node);
    if (node.op === 'call' && call?.name === 'has') replace(call.at, PRESENCE);
    if (node.op !== 'rcall' || call?.name !== 'matches') continue;
    checkPattern(call.args, source, node.range.start);
    replace(call.at, MATCHES);
  }
  return text;
}

/** A pattern must be a literal: it is compiled once, and senders of data must not choose it. */
function checkPattern([pattern]: readonly Node[], source: string, at: number): void {
  if (pattern === undefined) return;
  const text = literalText(pattern);
  if (text === undefined) throw new ExpressionError('matches() needs a literal pattern', source, at);
  try {
    compilePattern(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ExpressionError(`not a valid RE2 pattern: ${reason}`, source, pattern.range.start);
  }
}

function isCelProblem(error: unknown): error is CelProblem {
  return error instanceof Error && 'summary' in error && 'code' in error;
}
