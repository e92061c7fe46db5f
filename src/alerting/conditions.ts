import type { Micros } from '../signal/time.js';
import type {
  AlertCondition,
  Looked,
  MetricCondition,
  MetricStats,
  MetricOperator,
  TargetStats,
  WindowStats,
} from '../storage/contracts/alerts.js';
import type { EvidenceOfCost, Known } from './evidence.js';
import type { Moment } from './moment.js';
import { MICROS_PER_HOUR } from '../signal/time-units.js';

/** What is known of an alert's target. */
export interface Scene {
  readonly stats: TargetStats;
  /** The newest points of a metric's series, as far as they concern the target. */
  readonly metric: (name: string) => MetricStats;
  /** What the alert looked at when it last fired. */
  readonly known: Known | null;
  /** Whether a condition now looks at something else than when the alert last fired. */
  readonly isNews: (looked: Looked, condition: number) => boolean;
}

/** What a condition finds. */
export interface Finding {
  /** In the unit of the threshold; null where nothing is known. */
  readonly value: number | null;
  /** Never true where nothing is known. */
  readonly met: boolean;
  /** The number of runs, spans or series from which the value was made. */
  readonly samples: number;
  readonly evidence: Known[number];
  /** Whether it rests on something that the last firing did not know. */
  readonly isNews: boolean;
  /** The time that was looked at. */
  readonly from: Micros;
  readonly to: Micros;
}

/** Judges a condition of an alert by what is known at a moment. @param index of the condition in the alert */
export function judgeCondition(
  condition: AlertCondition,
  index: number,
  scene: Scene,
  moment: Moment,
): Finding {
  switch (condition.type) {
    case 'failure_rate':
      return judgeFailures(condition.threshold, index, scene, moment);
    case 'latency_threshold':
      return judgeLatency(condition.threshold, index, scene, moment);
    case 'cost_threshold':
      return judgeCost(condition.threshold, costKnown(scene.known?.[index]), scene, moment);
    case 'inactivity':
      return judgeInactivity(condition.threshold, scene, moment);
    case 'metric_threshold':
      return judgeMetric(condition, index, scene, moment);
  }
}

function judgeFailures(threshold: number, index: number, scene: Scene, moment: Moment): Finding {
  const { window } = scene.stats;
  const { finished, failed } = window ?? { finished: 0, failed: 0 };
  const isKnown = finished > 0 && finished >= moment.minSamples;
  const found = { value: isKnown ? failed / finished : null, samples: finished, window };
  return inWindow(found, threshold, index, scene, moment);
}

function judgeLatency(threshold: number, index: number, scene: Scene, moment: Moment): Finding {
  const { window } = scene.stats;
  const { timed, p95_ms } = window ?? { timed: 0, p95_ms: null };
  const found = { value: timed >= moment.minSamples ? p95_ms : null, samples: timed, window };
  return inWindow(found, threshold, index, scene, moment);
}

function inWindow(
  found: { readonly value: number | null; readonly samples: number; readonly window: WindowStats | null },
  threshold: number,
  index: number,
  scene: Scene,
  moment: Moment,
): Finding {
  const { value, samples, window } = found;
  return {
    value,
    met: value !== null && value > threshold,
    samples,
    evidence: window?.evidence ?? null,
    isNews: window !== null && scene.isNews(window, index),
    from: moment.windowStart,
    to: moment.now,
  };
}

function costKnown(known: Known[number] | undefined): EvidenceOfCost | null {
  return typeof known === 'object' ? known : null;
}

/**
 * Today counts; so does yesterday where it is still open, unless the alert has fired knowing the cost of that day, or of a later
 * one.
 */
function judgeCost(threshold: number, known: EvidenceOfCost | null, scene: Scene, moment: Moment): Finding {
  const [, yesterday] = moment.days;
  const today = judgeDay(threshold, known, scene, moment, 0);
  if (today.met || !yesterday) return today;
  if (known !== null && known.day >= yesterday.from) return today;
  const late = judgeDay(threshold, known, scene, moment, 1);
  return late.met ? late : today;
}

function judgeDay(
  threshold: number,
  known: EvidenceOfCost | null,
  { stats }: Scene,
  moment: Moment,
  index: 0 | 1,
): Finding {
  const day = moment.days[index] ?? moment.days[0];
  const { cost, priced } = stats.costs[index] ?? { cost: 0, priced: 0 };
  // Both as the double nearest to the decimal: what is equal as written is then equal as a number, which a sum of doubles is not.
  const value = priced > 0 ? cost : null;
  return {
    value,
    met: value !== null && value > threshold,
    samples: priced,
    evidence: { day: day.from, cost },
    isNews: known === null || day.from > known.day || (day.from === known.day && cost > known.cost),
    from: day.from,
    to: Math.min(day.to, moment.now),
  };
}

function judgeInactivity(threshold: number, { stats }: Scene, moment: Moment): Finding {
  const activeAt = moment.knowsActivity ? stats.activeAt : null;
  // A clock that was put back must not make anybody active in the future.
  const from = Math.min(activeAt ?? moment.now, moment.now);
  const value = activeAt === null ? null : (moment.now - from) / MICROS_PER_HOUR;
  return {
    value,
    met: value !== null && value > threshold,
    samples: activeAt === null ? 0 : 1,
    evidence: null,
    // No rows tell that nothing happens: the longer that lasts, the more it deserves a reminder.
    isNews: true,
    from,
    to: moment.now,
  };
}

/**
 * One series is enough. The reported value is that of the series that meets the condition most clearly, or comes nearest to it.
 */
function judgeMetric(condition: MetricCondition, index: number, scene: Scene, moment: Moment): Finding {
  const stats = scene.metric(condition.metric_name);
  const { series, min, max, evidence } = stats;
  const { operator } = condition;
  const value = operator === 'gt' || operator === 'gte' ? max : min;
  return {
    value,
    met: value !== null && satisfies(value, operator, condition.value),
    samples: series,
    evidence,
    isNews: scene.isNews(stats, index),
    from: moment.pointsStart,
    to: moment.now,
  };
}

function satisfies(value: number, operator: MetricOperator, limit: number): boolean {
  switch (operator) {
    case 'gt':
      return value > limit;
    case 'gte':
      return value >= limit;
    case 'lt':
      return value < limit;
    case 'lte':
      return value <= limit;
  }
}
