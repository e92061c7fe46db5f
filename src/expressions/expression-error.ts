import type { Environment } from '@marcbachmann/cel-js';

/** What CEL says of an expression that it does not take. */
export type CelProblem = NonNullable<ReturnType<Environment['check']>['error']>;

/** An expression that cannot be used, with the place in it, counted from 1. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
  readonly line: number;
  readonly column: number;

  /** @param problem what is wrong, and what to do @param source the whole expression @param at where it is wrong */
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
