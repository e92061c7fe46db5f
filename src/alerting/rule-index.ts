import type { Micros } from '../signal/time.js';
import type { Touched } from '../storage/alert-figures.js';
import type { AlertRule } from '../storage/alert-store.js';
import { conditionsOf } from './verdict.js';

/** A rule that is evaluated. One that is changed by others becomes another. */
export interface WatchedRule {
  rule: AlertRule;
  /** Since when its incident is no more met. */
  quietSince: Micros | null;
}

/** The active rules, found by what commits touch. */
export class RuleIndex {
  readonly #rules = new Map<string, WatchedRule>();
  readonly #byAgent = new Map<string, Set<WatchedRule>>();
  /** Rules on services, by user. */
  readonly #onServices = new Map<string, Set<WatchedRule>>();
  /** Rules with conditions on metrics, by user. */
  readonly #onMetrics = new Map<string, Set<WatchedRule>>();

  get size(): number {
    return this.#rules.size;
  }

  get(alertId: string): WatchedRule | undefined {
    return this.#rules.get(alertId);
  }

  /** Whether a rule is still what it was. */
  has(watched: WatchedRule): boolean {
    return this.#rules.get(watched.rule.alert.id) === watched;
  }

  all(): WatchedRule[] {
    return [...this.#rules.values()];
  }

  /** Adds a rule or replaces it; one that is not active is left out. */
  put(rule: AlertRule): void {
    const { alert, incident } = rule;
    const before = this.#rules.get(alert.id);
    this.remove(alert.id);
    if (!alert.is_active) return;
    const goesOn = incident !== null && before?.rule.incident?.id === incident.id;
    const watched: WatchedRule = { rule, quietSince: goesOn ? before.quietSince : null };
    this.#rules.set(alert.id, watched);
    for (const [sets, key] of this.#places(rule)) {
      const set = sets.get(key);
      if (set) set.add(watched);
      else sets.set(key, new Set([watched]));
    }
  }

  remove(alertId: string): void {
    const watched = this.#rules.get(alertId);
    if (!watched) return;
    this.#rules.delete(alertId);
    for (const [sets, key] of this.#places(watched.rule)) {
      const set = sets.get(key);
      set?.delete(watched);
      if (set?.size === 0) sets.delete(key);
    }
  }

  /** Those that may say something else after commits that touched this. */
  concerned(touched: Touched): Set<WatchedRule> {
    const found = new Set<WatchedRule>();
    const add = (sets: ReadonlyMap<string, ReadonlySet<WatchedRule>>, keys: readonly string[]): void => {
      for (const key of keys) for (const watched of sets.get(key) ?? []) found.add(watched);
    };
    add(this.#byAgent, touched.agents);
    add(this.#onServices, touched.spansOf);
    add(this.#onMetrics, touched.pointsOf);
    return found;
  }

  #places({ userId, alert }: AlertRule): [Map<string, Set<WatchedRule>>, string][] {
    const target: [Map<string, Set<WatchedRule>>, string] =
      alert.agent_id === null ? [this.#onServices, userId] : [this.#byAgent, alert.agent_id];
    const readsMetrics = conditionsOf(alert).some(({ source }) => source === 'infra');
    return readsMetrics ? [target, [this.#onMetrics, userId]] : [target];
  }
}
