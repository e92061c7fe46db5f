import type { Micros } from '../signal/time.js';
import type { AlertRule, DecidedFiring } from '../storage/contracts/alerts.js';
import { firedBy, knownBy, type Known } from './evidence.js';
import { agentKey, type TakenTouched } from './touched.js';
import { conditionsOf } from './verdict.js';

/** An evaluated rule. A change replaces it by a new object. */
export interface WatchedRule {
  rule: AlertRule;
  /** Evidence of its last firing, from the telemetry store that evaluates it. */
  known: Known | null;
  /** Whether its last firing came from that telemetry. */
  isOurs: boolean;
  /** Since when the conditions of its incident are no longer met. */
  quietSince: Micros | null;
}

/** The active rules, indexed by the data that affects them. */
export class RuleIndex {
  readonly #source: string;
  readonly #rules = new Map<string, WatchedRule>();
  /** By {@link agentKey}. */
  readonly #byAgent = new Map<string, Set<WatchedRule>>();
  /** Rules about all agents, by user. */
  readonly #byUser = new Map<string, Set<WatchedRule>>();
  /** Rules about services, by user. */
  readonly #onServices = new Map<string, Set<WatchedRule>>();
  /** Rules with conditions on metrics, by user. */
  readonly #onMetrics = new Map<string, Set<WatchedRule>>();

  /** @param source the identity of the telemetry store that evaluates rules */
  constructor(source: string) {
    this.#source = source;
  }

  get size(): number {
    return this.#rules.size;
  }

  get(alertId: string): WatchedRule | undefined {
    return this.#rules.get(alertId);
  }

  /** Whether a rule has not been replaced. */
  has(watched: WatchedRule): boolean {
    return this.#rules.get(watched.rule.alert.id) === watched;
  }

  all(): WatchedRule[] {
    return [...this.#rules.values()];
  }

  /** Adds or replaces a rule; inactive ones are left out. */
  put(rule: AlertRule): void {
    const { alert, incident } = rule;
    const before = this.#rules.get(alert.id);
    this.remove(alert.id);
    if (!alert.is_active) return;
    const goesOn = incident !== null && before?.rule.incident?.id === incident.id;
    const quietSince = goesOn ? before.quietSince : null;
    const watched: WatchedRule = { rule, ...this.#evidenceOf(rule), quietSince };
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

  /** Records a firing of a rule. */
  fired(watched: WatchedRule, { firedAt, incident, evidence }: DecidedFiring): void {
    const { rule } = watched;
    watched.rule = { ...rule, alert: { ...rule.alert, last_fired_at: firedAt }, incident, evidence };
    Object.assign(watched, this.#evidenceOf(watched.rule));
  }

  /** Rules whose result the touched data may change. */
  concerned(touched: TakenTouched): Iterable<WatchedRule> {
    if (touched.isAll) return this.all();
    const found = new Set<WatchedRule>();
    const add = (sets: ReadonlyMap<string, ReadonlySet<WatchedRule>>, keys: readonly string[]): void => {
      for (const key of keys) for (const watched of sets.get(key) ?? []) found.add(watched);
    };
    add(this.#byAgent, touched.agents);
    add(this.#byUser, touched.runsOf);
    add(this.#onServices, touched.spansOf);
    add(this.#onMetrics, touched.pointsOf);
    return found;
  }

  #evidenceOf({ evidence }: AlertRule): Pick<WatchedRule, 'known' | 'isOurs'> {
    return { known: knownBy(evidence, this.#source), isOurs: firedBy(evidence, this.#source) };
  }

  #places({ userId, alert }: AlertRule): [Map<string, Set<WatchedRule>>, string][] {
    const ofUser = alert.target_service === null ? this.#byUser : this.#onServices;
    const target: [Map<string, Set<WatchedRule>>, string] =
      alert.agent_id === null ? [ofUser, userId] : [this.#byAgent, agentKey(userId, alert.agent_name ?? '')];
    const readsMetrics = conditionsOf(alert).some(({ source }) => source === 'infra');
    return readsMetrics ? [target, [this.#onMetrics, userId]] : [target];
  }
}
