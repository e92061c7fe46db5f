import type { AlertRule, AlertRules, RulesVersion } from '../storage/contracts/alerts.js';
import type { RuleIndex } from './rule-index.js';

/** Keeps an index of the active rules up to date. */
export class RuleFollower {
  readonly #rules: Pick<AlertRules, 'follow'>;
  readonly #index: RuleIndex;
  readonly #onChanged: (alertId: string) => void;
  #version: RulesVersion | null = null;
  #isDue = true;
  #asking: Promise<void> | null = null;

  /** @param onChanged called with rules that are new, or whose evaluation settings changed */
  constructor(
    rules: Pick<AlertRules, 'follow'>,
    index: RuleIndex,
    onChanged: (alertId: string) => void = () => undefined,
  ) {
    this.#rules = rules;
    this.#index = index;
    this.#onChanged = onChanged;
  }

  /** Whether there may be unread changes. */
  get isDue(): boolean {
    return this.#isDue;
  }

  /** Called when rules may have changed. */
  note(): void {
    this.#isDue = true;
  }

  /**
   * Reads changes from the store, unless nothing can have changed.
   *
   * @throws ConsumeError `storage_unavailable`: the read stays due
   */
  async follow(): Promise<void> {
    while (this.#isDue || this.#asking) {
      this.#asking ??= this.#read().finally(() => {
        this.#asking = null;
      });
      await this.#asking;
    }
  }

  async #read(): Promise<void> {
    this.#isDue = false;
    try {
      const { isAll, put, removed, version } = await this.#rules.follow(this.#version);
      this.#version = version;
      if (isAll) this.#keepOnly(put);
      for (const rule of put) this.#put(rule);
      for (const id of removed) this.#index.remove(id);
    } catch (error) {
      this.#isDue = true;
      throw error;
    }
  }

  #keepOnly(rules: readonly AlertRule[]): void {
    const ids = new Set(rules.map(({ alert }) => alert.id));
    for (const { rule } of this.#index.all()) if (!ids.has(rule.alert.id)) this.#index.remove(rule.alert.id);
  }

  #put(rule: AlertRule): void {
    const { id } = rule.alert;
    const before = this.#index.get(id)?.rule;
    this.#index.put(rule);
    // A firing or resolution alone needs no new evaluation.
    if (before === undefined || termsOf(before) !== termsOf(rule)) this.#onChanged(id);
  }
}

/** The settings of a rule that a user may change and that affect evaluation. */
function termsOf({ alert }: AlertRule): string {
  const { threshold, cooldown_minutes, window_minutes, min_samples } = alert;
  return [threshold, cooldown_minutes, window_minutes, min_samples].join(' ');
}
