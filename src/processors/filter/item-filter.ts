import type { Settings } from '../../component/factory.js';
import type { Counter } from '../../component/telemetry.js';
import { droppedItems } from '../../component/dropped-items.js';
import type { Refusal } from '../../component/consumer.js';
import { Conditions } from '../../expressions/conditions.js';
import type { EvaluationFailures } from '../../expressions/failures.js';
import type { Scope } from '../../expressions/scope/scopes.js';
import type { FilterConfig } from './config.js';
import { LISTS, type ListName } from './conditions.js';

/** The result for an item. */
export type Fate = 'keep' | 'drop' | 'refuse';

const FATES = { true: 'drop', false: 'keep', drop: 'drop', refuse: 'refuse' } as const;

/** The conditions of one list, and the count of what they drop. */
export class ItemFilter {
  readonly #conditions: Conditions;
  readonly #dropped: Counter;
  readonly #labels: { readonly processor: string; readonly item: ListName };

  constructor(list: ListName, settings: Settings<FilterConfig>, failures: EvaluationFailures) {
    const { config, meter, id } = settings;
    const options = { onError: config.on_error, failures };
    this.#conditions = new Conditions(list, config[list], LISTS[list], options);
    this.#labels = { processor: id, item: list };
    this.#dropped = droppedItems(meter);
    this.#dropped.add(0, this.#labels);
  }

  get isOpen(): boolean {
    return this.#conditions.areNone;
  }

  judge(scope: Scope): Fate {
    return FATES[this.#conditions.judge(scope)];
  }

  count(dropped: number): void {
    if (dropped > 0) this.#dropped.add(dropped, this.#labels);
  }
}

/** The refusal of an item for which a condition failed. */
export function refusalOf(index: number, id?: string): Refusal {
  const reason = 'a condition of the filter cannot be evaluated';
  return id === undefined ? { index, reason } : { index, id, reason };
}
