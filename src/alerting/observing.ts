import { itemAt, invariant } from '../signal/checked.js';
import type {
  AlertRule,
  Evidence,
  Observed,
  Observing,
  Target,
  WantedStats,
  WantedMetric,
  WantedScore,
} from '../storage/contracts/alerts.js';
import type { Scene } from './conditions.js';
import type { Known } from './evidence.js';
import { momentOf, type Moment } from './moment.js';
import { conditionsOf } from './verdict.js';

/** A rule with its evidence from the telemetry store. */
export interface InquiringRule {
  readonly rule: AlertRule;
  readonly known: Known | null;
}

export function targetOf({ userId, alert }: AlertRule): Target {
  if (alert.agent_id !== null) return { userId, agentId: alert.agent_id };
  return alert.target_service === null
    ? { userId, isAllAgents: true }
    : { userId, service: alert.target_service };
}

/**
 * Groups rules into queries to the store. Rules of one window and target stay together unless they need very many metrics.
 *
 * @param most maximum number of targets and metrics in one query; the metrics of the last target, if fewer, may exceed it
 */
export function* portionsOf<Watched extends InquiringRule>(
  watched: Iterable<Watched>,
  most: number,
): Generator<{ readonly inquiry: Inquiry; readonly rules: readonly Watched[] }> {
  const byWindow = groupedBy(watched, ({ rule }) => rule.alert.window_minutes);
  for (const rules of byWindow.values()) yield* portionsOfWindow(rules, most);
}

function groupedBy<Item, Key>(items: Iterable<Item>, keyOf: (item: Item) => Key): ReadonlyMap<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const key = keyOf(item);
    const others = groups.get(key);
    if (others) others.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

function* portionsOfWindow<Watched extends InquiringRule>(
  watched: readonly Watched[],
  most: number,
): Generator<{ readonly inquiry: Inquiry; readonly rules: readonly Watched[] }> {
  const byTarget = groupedBy(watched, ({ rule }) => keyOf(rule));
  let inquiry = new Inquiry();
  let rules: Watched[] = [];
  for (const ofTarget of byTarget.values()) {
    for (const one of ofTarget) {
      if (inquiry.metrics >= most) {
        yield { inquiry, rules };
        inquiry = new Inquiry();
        rules = [];
      }
      inquiry.add(one);
      rules.push(one);
    }
    if (inquiry.size < most) continue;
    yield { inquiry, rules };
    inquiry = new Inquiry();
    rules = [];
  }
  if (rules.length > 0) yield { inquiry, rules };
}

/** Collects the queries of rules with the same window, removes duplicates, and distributes the answers. */
export class Inquiry {
  #window: number | null = null;
  readonly #targets = new Map<string, Asked<Wanted>>();
  readonly #metrics = new Map<string, Asked<WantedMetric>>();
  readonly #scores = new Map<string, Asked<WantedScore>>();

  /** The number of queried targets, metrics and scores. */
  get size(): number {
    return this.#targets.size + this.metrics;
  }

  /** The number of queried metrics and scores. */
  get metrics(): number {
    return this.#metrics.size + this.#scores.size;
  }

  add({ rule, known }: InquiringRule): void {
    const key = keyOf(rule);
    this.#window = rule.alert.window_minutes;
    let target = this.#targets.get(key);
    if (!target) {
      const wanted = { target: targetOf(rule), runs: false, cost: false, activity: false };
      target = { at: this.#targets.size, wanted, since: new Map() };
      this.#targets.set(key, target);
    }
    for (const [index, condition] of conditionsOf(rule.alert).entries()) {
      const before = known?.[index];
      if (condition.type === 'metric_threshold') this.#addMetric(rule, condition.metric_name, before);
      else if (condition.type === 'score_threshold') this.#addScore(rule, condition.score_name, before);
      else if (condition.type === 'cost_threshold') target.wanted.cost = true;
      else if (condition.type === 'inactivity') target.wanted.activity = true;
      else {
        target.wanted.runs = true;
        note(target, before);
      }
    }
  }

  request(moment: Moment): Observing {
    const { now, windowStart, pointsStart, days } = momentOf(
      { window_minutes: this.#window, min_samples: null },
      moment,
    );
    return {
      now,
      windowStart,
      pointsStart,
      days: days.filter((day) => day !== undefined),
      targets: [...this.#targets.values()].map(toWanted),
      metrics: [...this.#metrics.values()].map(toWanted),
      ...(this.#scores.size > 0 && { scores: [...this.#scores.values()].map(toWanted) }),
    };
  }

  /**
   * @param observed the answer to {@link request}
   * @param inquiring one of the rules that were added
   */
  scene(observed: Observed, { rule, known }: InquiringRule): Scene {
    const target = invariant(this.#targets.get(keyOf(rule)), 'target of a rule');
    const metricOf = (name: string): Asked<WantedMetric> =>
      invariant(this.#metrics.get(metricKey(rule, name)), 'metric of a rule');
    const scoreOf = (name: string): Asked<WantedScore> =>
      invariant(this.#scores.get(scoreKey(rule, name)), 'score of a rule');
    const conditions = conditionsOf(rule.alert);
    return {
      stats: itemAt(observed.targets, target.at),
      metric: (name) => itemAt(observed.metrics, metricOf(name).at),
      score: (name) => itemAt(observed.scores ?? [], scoreOf(name).at),
      known,
      isNew: (looked, index) => {
        const condition = conditions[index];
        const asked =
          condition?.type === 'metric_threshold'
            ? metricOf(condition.metric_name)
            : condition?.type === 'score_threshold'
              ? scoreOf(condition.score_name)
              : target;
        const before = known?.[index];
        const place = typeof before === 'string' ? asked.since.get(before) : undefined;
        return place === undefined || looked.isNew[place] !== false;
      },
    };
  }

  #addMetric(rule: AlertRule, name: string, before: Known[number] | undefined): void {
    const key = metricKey(rule, name);
    let metric = this.#metrics.get(key);
    if (!metric) {
      const wanted = { userId: rule.userId, name, service: rule.alert.target_service };
      metric = { at: this.#metrics.size, wanted, since: new Map() };
      this.#metrics.set(key, metric);
    }
    note(metric, before);
  }

  #addScore(rule: AlertRule, name: string, before: Known[number] | undefined): void {
    const key = scoreKey(rule, name);
    let score = this.#scores.get(key);
    if (!score) {
      const wanted = { userId: rule.userId, agentId: rule.alert.agent_id, name };
      score = { at: this.#scores.size, wanted, since: new Map() };
      this.#scores.set(key, score);
    }
    note(score, before);
  }
}

/** A query shared by all rules that need it. */
interface Asked<Wants> {
  readonly at: number;
  readonly wanted: Wants;
  /** Evidence of rules, with its position in the query. */
  readonly since: Map<Evidence, number>;
}

interface Wanted extends WantedStats {
  runs: boolean;
  cost: boolean;
  activity: boolean;
}

function note({ since }: Asked<unknown>, known: Known[number] | undefined): void {
  if (typeof known === 'string' && !since.has(known)) since.set(known, since.size);
}

function toWanted<Wants extends object>({ wanted, since }: Asked<Wants>): Wants & { since: Evidence[] } {
  return { ...wanted, since: [...since.keys()] };
}

/** JSON, because names of services may contain anything. */
function keyOf({ userId, alert }: AlertRule): string {
  return JSON.stringify([userId, alert.agent_id, alert.target_service]);
}

/** JSON, because names of metrics and services may contain anything. */
function metricKey(rule: AlertRule, name: string): string {
  return JSON.stringify([rule.userId, rule.alert.target_service, name]);
}

function scoreKey({ userId, alert }: AlertRule, name: string): string {
  return JSON.stringify([userId, alert.agent_id, name]);
}
