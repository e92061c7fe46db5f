import type { ON_ERROR, EvaluationFailures } from '../failures.js';
import type { Scope, ScopeName } from '../scope/scopes.js';
import { problemsOfRule, Rule, type RuleConfig, type Targets } from './rule.js';

/** The result for an item. */
export type Fate = (typeof ON_ERROR)[number];

/** What the rules of a list read and change. */
export interface RuleKind<Record> {
  readonly scope: ScopeName;
  readonly targets: Targets<Record>;
}

/** The rules of one list, applied one after the other. */
export class Rules<Record> {
  readonly #list: string;
  readonly #rules: readonly Rule<Record>[];
  readonly #onError: Fate;
  readonly #failures: EvaluationFailures;

  /** @param list its name in the configuration */
  constructor(
    list: string,
    rules: readonly RuleConfig[],
    { scope, targets }: RuleKind<Record>,
    { onError, failures }: { readonly onError: Fate; readonly failures: EvaluationFailures },
  ) {
    this.#list = list;
    this.#rules = rules.map((rule) => new Rule(rule, scope, targets));
    this.#onError = onError;
    this.#failures = failures;
  }

  get areNone(): boolean {
    return this.#rules.length === 0;
  }

  /** Changes a record in place. @param scopeOf creates a new scope for each rule, with the changes of the previous rules */
  apply(record: Record, scopeOf: () => Scope): Fate {
    for (const [index, rule] of this.#rules.entries()) {
      try {
        rule.apply(record, scopeOf());
      } catch (error) {
        this.#failures.count(`${this.#list}[${index}]`, error);
        if (this.#onError !== 'keep') return this.#onError;
      }
    }
    return 'keep';
  }
}

/** Problems of the rules of a list. @param list its name in the configuration */
export function problemsOfRules(
  list: string,
  rules: readonly RuleConfig[],
  { scope, targets }: RuleKind<never>,
): { readonly path: string; readonly message: string }[] {
  return rules.flatMap((rule, index) => problemsOfRule(`/${list}/${index}`, rule, scope, targets));
}
