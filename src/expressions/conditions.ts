import type { EvaluationFailures } from './failures.js';
import { compileCondition, type Expression } from './expression.js';
import { ExpressionError } from './expression-error.js';
import type { Scope, ScopeName } from './scope/scopes.js';

/** Result of a list of conditions: one is true, none is true, or one failed and the item is dropped or refused for it. */
export type Verdict = 'true' | 'false' | 'drop' | 'refuse';

/** A list of conditions of a configuration, compiled. */
export class Conditions {
  readonly #conditions: readonly { readonly place: string; readonly expression: Expression }[];
  readonly #onError: Verdict | 'keep';
  readonly #failures: EvaluationFailures;

  /**
   * @param key of the list, reported with a failure
   * @param options `onError`: the effect of a failed condition; `keep`: continue with the next one
   * @throws ExpressionError for what {@link conditionProblems} finds
   */
  constructor(
    key: string,
    sources: readonly string[],
    scope: ScopeName,
    { onError, failures }: { readonly onError: Verdict | 'keep'; readonly failures: EvaluationFailures },
  ) {
    this.#conditions = sources.map((source, index) => ({
      place: `${key}[${index}]`,
      expression: compileCondition(source, scope),
    }));
    this.#onError = onError;
    this.#failures = failures;
  }

  get areNone(): boolean {
    return this.#conditions.length === 0;
  }

  /** Asks them one after the other, until one is true. */
  judge(scope: Scope): Verdict {
    for (const { place, expression } of this.#conditions) {
      try {
        const value = expression.evaluate(scope);
        if (value === true) return 'true';
        if (value === false) continue;
        this.#failures.count(place, new ExpressionError('not true or false', expression.source, 0));
      } catch (error) {
        this.#failures.count(place, error);
      }
      if (this.#onError !== 'keep') return this.#onError;
    }
    return 'false';
  }
}

/** Problems of a list of conditions, each with its path. @param path of the list: `/spans` */
export function conditionProblems(
  path: string,
  sources: readonly string[],
  scope: ScopeName,
): { readonly path: string; readonly message: string }[] {
  return sources.flatMap((source, index) => {
    try {
      compileCondition(source, scope);
      return [];
    } catch (error) {
      if (!(error instanceof ExpressionError)) throw error;
      return [{ path: `${path}/${index}`, message: error.message }];
    }
  });
}
