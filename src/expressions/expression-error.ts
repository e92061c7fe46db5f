import type { Environment } from '@marcbachmann/cel-js';

/** CEL's error for an invalid expression. */
export type CelProblem = NonNullable<ReturnType<Environment['check']>['error']>;

/** An expression that cannot be used, with the place in it, counted from 1. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  readonly line: number;
  readonly column: number;

  /** @param problem the error and its remedy @param source the whole expression @param at position of the error */
  constructor(problem: string, source: string, at: number) {
    const before = source.slice(0, at).split('\n');
    const line = before.length;
    const column = (before.at(-1) ?? '').length + 1;
    const place = source.includes('\n') ? `line ${line}, column ${column}` : `column ${column}`;
    super(`${problem} (${place} of the expression)`);
    this.line = line;
    this.column = column;
  }
}
