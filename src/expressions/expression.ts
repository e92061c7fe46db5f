import type { ParseResult } from '@marcbachmann/cel-js';
import { impossibleCall } from './constant-calls.js';
import { environmentOf } from './environment.js';
import { ExpressionError, type CelProblem } from './expression-error.js';
import { impossibleWord, wordsInAnotherCase } from './known-words.js';
import { compilePattern, MATCHES } from './patterns.js';
import { PRESENCE } from './presence.js';
import { SCOPES, type Scope, type ScopeName } from './scope/scopes.js';
import { callOf, literalText, nodesOf, type Node } from './syntax-tree.js';
import { wordProblem } from './wording.js';

const environments = new Map<ScopeName, ReturnType<typeof environmentOf>>();

/** An expression whose types were checked. */
export interface Expression {
  readonly source: string;
  /** As CEL calls it: `bool`, `string`, `dyn`. */
  readonly type: string;
  /** @throws EvaluationError of CEL for values that it cannot work with */
  evaluate(scope: Scope): unknown;
}

/**
 * Compiles an expression of CEL once, for all evaluations.
 *
 * @param scope what it may look at
 * @throws ExpressionError with what is wrong, and where
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
      wordProblem(error, source, variables, environment.getDefinitions().functions),
      source,
      error.range?.start ?? 0,
    );
  }
}

/** Likewise, of a condition. @throws ExpressionError also where it is none */
export function compileCondition(source: string, scope: ScopeName): Expression {
  const expression = compile(source, scope);
  if (expression.type !== 'bool' && expression.type !== 'dyn')
    throw new ExpressionError(
      `a condition must be true or false, but this is a ${expression.type}`,
      source,
      0,
    );
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

/** The same expression with our own `has` and `matches`, and known words in their case. Everything is as long, so that places stay. */
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

/** A pattern must be written out: it is compiled once, and whoever sends data must not choose it. */
function checkPattern([pattern]: readonly Node[], source: string, at: number): void {
  if (pattern === undefined) return;
  const text = literalText(pattern);
  if (text === undefined)
    throw new ExpressionError('matches() takes a pattern that is written out', source, at);
  try {
    compilePattern(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ExpressionError(`not a pattern of RE2: ${reason}`, source, pattern.range.start);
  }
}

function isCelProblem(error: unknown): error is CelProblem {
  return error instanceof Error && 'summary' in error && 'code' in error;
}
