import type {
  MetricFigures,
  Observed,
  Observing,
  Target,
  TargetFigures,
  WantedFigures,
  WantedMetric,
} from '../storage/alert-figures.js';
import type { AlertRule } from '../storage/alert-store.js';
import type { Scene } from './conditions.js';
import type { Moment } from './moment.js';
import { conditionsOf } from './verdict.js';

const NOTHING: TargetFigures = { window: null, costs: [], activeAt: null };
const NO_SERIES: MetricFigures = { series: 0, min: null, max: null, seq: 0 };

/** What a rule is about. */
export function targetOf({ userId, alert }: AlertRule): Target {
  return alert.agent_id === null
    ? { userId, service: alert.target_service ?? '' }
    : { userId, agentId: alert.agent_id };
}

/**
 * Puts rules together that ask the store at once; those of one target unless they ask for very many metrics.
 *
 * @param most how many targets and metrics are asked for at once; the metrics of the last target, fewer, may go beyond
 */
export function* portionsOf<Watched extends { readonly rule: AlertRule }>(
  watched: Iterable<Watched>,
  most: number,
): Generator<{ readonly inquiry: Inquiry; readonly rules: readonly Watched[] }> {
  const byTarget = new Map<string, Watched[]>();
  for (const one of watched) {
    const key = keyOf(one.rule);
    const others = byTarget.get(key);
    if (others) others.push(one);
    else byTarget.set(key, [one]);
  }
  let inquiry = new Inquiry();
  let rules: Watched[] = [];
  for (const ofTarget of byTarget.values()) {
    for (const one of ofTarget) {
      if (inquiry.metrics >= most) {
        yield { inquiry, rules };
        inquiry = new Inquiry();
        rules = [];
      }
      inquiry.add(one.rule);
      rules.push(one);
    }
    if (inquiry.size < most) continue;
    yield { inquiry, rules };
    inquiry = new Inquiry();
    rules = [];
  }
  if (rules.length > 0) yield { inquiry, rules };
}

/** Gathers what rules want to know, each thing once, and tells each rule what came of it. */
export class Inquiry {
  readonly #targets = new Map<string, { readonly at: number; readonly wanted: Wanted }>();
  readonly #metrics = new Map<string, { readonly at: number; readonly wanted: WantedMetric }>();

  /** How many things are asked for. */
  get size(): number {
    return this.#targets.size + this.#metrics.size;
  }

  /** How many of them are metrics. */
  get metrics(): number {
    return this.#metrics.size;
  }

  add(rule: AlertRule): void {
    const key = keyOf(rule);
    let target = this.#targets.get(key);
    if (!target) {
      const wanted = { target: targetOf(rule), runs: false, cost: false, activity: false };
      target = { at: this.#targets.size, wanted };
      this.#targets.set(key, target);
    }
    for (const condition of conditionsOf(rule.alert)) {
      if (condition.type === 'metric_threshold') this.#addMetric(rule, condition.metric_name);
      else if (condition.type === 'cost_threshold') target.wanted.cost = true;
      else if (condition.type === 'inactivity') target.wanted.activity = true;
      else target.wanted.runs = true;
    }
  }

  request({ now, windowStart, pointsStart, days }: Moment): Observing {
    return {
      now,
      windowStart,
      pointsStart,
      days: days.filter((day) => day !== undefined),
      targets: [...this.#targets.values()].map(({ wanted }): WantedFigures => wanted),
      metrics: [...this.#metrics.values()].map(({ wanted }) => wanted),
    };
  }

  /** @param observed the answer to {@link request} @param rule one of those that were added */
  scene(observed: Observed, rule: AlertRule): Scene {
    return {
      figures: observed.targets[this.#targets.get(keyOf(rule))?.at ?? -1] ?? NOTHING,
      metric: (name) => observed.metrics[this.#metrics.get(metricKey(rule, name))?.at ?? -1] ?? NO_SERIES,
      known: rule.evidence,
    };
  }

  #addMetric(rule: AlertRule, name: string): void {
    const key = metricKey(rule, name);
    if (this.#metrics.has(key)) return;
    const wanted = { userId: rule.userId, name, service: serviceOf(rule) };
    this.#metrics.set(key, { at: this.#metrics.size, wanted });
  }
}

interface Wanted extends WantedFigures {
  runs: boolean;
  cost: boolean;
  activity: boolean;
}

function serviceOf({ alert }: AlertRule): string | null {
  return alert.agent_id === null ? alert.target_service : null;
}

/** Ids of users and agents are UUIDs: no service's name makes a key that is another's. */
function keyOf({ userId, alert }: AlertRule): string {
  return alert.agent_id === null ? `${userId}/${alert.target_service ?? ''}` : `${userId}#${alert.agent_id}`;
}

/** A list, because names of metrics and of services may hold anything. */
function metricKey(rule: AlertRule, name: string): string {
  return JSON.stringify([rule.userId, serviceOf(rule), name]);
}
