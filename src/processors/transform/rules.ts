import type { Settings } from '../../component/factory.js';
import type { EvaluationFailures } from '../../expressions/failures.js';
import type { Scope, ScopeName } from '../../expressions/scope/scopes.js';
import type { TransformConfig } from './config.js';
import { problemsOfRule, Rule } from './rule.js';
import { LOG_TARGETS, SPAN_TARGETS, TRACE_TARGETS, type Targets } from './targets.js';

type ListName = 'spans' | 'traces' | 'logs';

/** The scope and the writable fields of each list in the configuration. */
const LISTS = {
  spans: { scope: 'span', targets: SPAN_TARGETS },
  traces: { scope: 'trace', targets: TRACE_TARGETS },
  logs: { scope: 'log', targets: LOG_TARGETS },
} as const satisfies Readonly<
  Record<ListName, { readonly scope: ScopeName; readonly targets: Targets<never> }>
>;

/** The result for an item. */
export type Fate = 'keep' | 'drop' | 'refuse';

/** The rules of one list, applied one after the other. */
export class Rules<Record> {
  readonly #list: ListName;
  readonly #rules: readonly Rule<Record>[];
  readonly #onError: Fate;
  readonly #failures: EvaluationFailures;

  constructor(
    list: ListName,
    { config }: Settings<TransformConfig>,
    targets: Targets<Record>,
    failures: EvaluationFailures,
  ) {
    this.#list = list;
    this.#rules = config[list].map((rule) => new Rule(rule, LISTS[list].scope, targets));
    this.#onError = config.on_error;
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

export function problemsOf(config: TransformConfig): { readonly path: string; readonly message: string }[] {
  return (Object.keys(LISTS) as ListName[]).flatMap((list) =>
    config[list].flatMap((rule, index) =>
      problemsOfRule(`/${list}/${index}`, rule, LISTS[list].scope, LISTS[list].targets),
    ),
  );
}
