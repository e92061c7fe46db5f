import type { Micros } from '../signal/time.js';
import type {
  AlertCondition,
  Looked,
  MetricCondition,
  MetricStats,
  MetricOperator,
  ScoreCondition,
  ScoreStats,
  TargetStats,
  WindowStats,
} from '../storage/contracts/alerts.js';
import type { EvidenceOfCost, Known } from './evidence.js';
import type { Moment } from './moment.js';
import { MICROS_PER_HOUR } from '../signal/time-units.js';

/** State of an alert's target. */
export interface Scene {
  readonly stats: TargetStats;
  /** Stats of the newest point of each series of a metric, limited to the target. */
  readonly metric: (name: string) => MetricStats;
  /** Stats of the scores of a name, limited to the target. */
  readonly score: (name: string) => ScoreStats;
  /** Evidence of the alert's last firing. */
  readonly known: Known | null;
  /** Whether a condition uses newer data than the last firing. */
  readonly isNew: (looked: Looked, condition: number) => boolean;
}

/** The result of a condition. */
export interface Finding {
  /** In the unit of the threshold; null without data. */
  readonly value: number | null;
  /** Always false without data. */
  readonly met: boolean;
  /** The number of runs, spans or series from which the value was made. */
  readonly samples: number;
  readonly evidence: Known[number];
  /** Whether the result rests on evidence newer than the last firing. */
  readonly isNew: boolean;
  /** Start of the evaluated time range. */
  readonly from: Micros;
  readonly to: Micros;
}

/** Evaluates a condition of an alert at a moment. @param index of the condition in the alert */
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
    case 'score_threshold':
      return judgeScore(condition, index, scene, moment);
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
    isNew: window !== null && scene.isNew(window, index),
    from: moment.windowStart,
    to: moment.now,
  };
}

function costKnown(known: Known[number] | undefined): EvidenceOfCost | null {
  return typeof known === 'object' ? known : null;
}

/** Evaluates today; else yesterday, if it is still open and the alert has not fired for it or a later day. */
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
  // Both are the double nearest to the decimal value, so values that are written the same compare equal. A sum of doubles would not.
  const value = priced > 0 ? cost : null;
  return {
    value,
    met: value !== null && value > threshold,
    samples: priced,
    evidence: { day: day.from, cost },
    isNew: known === null || day.from > known.day || (day.from === known.day && cost > known.cost),
    from: day.from,
    to: Math.min(day.to, moment.now),
  };
}

function judgeInactivity(threshold: number, { stats }: Scene, moment: Moment): Finding {
  const activeAt = moment.knowsActivity ? stats.activeAt : null;
  // If the clock was set back, the last activity must not be in the future.
  const from = Math.min(activeAt ?? moment.now, moment.now);
  const value = activeAt === null ? null : (moment.now - from) / MICROS_PER_HOUR;
  return {
    value,
    met: value !== null && value > threshold,
    samples: activeAt === null ? 0 : 1,
    evidence: null,
    // Silence produces no newer evidence, and yet its reminders must be sent.
    isNew: true,
    from,
    to: moment.now,
  };
}

/** One matching series is enough. Reports the series that meets the condition most clearly, or comes closest to it. */
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
    isNew: scene.isNew(stats, index),
    from: moment.pointsStart,
    to: moment.now,
  };
}

function judgeScore(condition: ScoreCondition, index: number, scene: Scene, moment: Moment): Finding {
  const stats = scene.score(condition.score_name);
  const { values, mean, evidence } = stats;
  const value = values >= condition.min_samples ? mean : null;
  const { direction, threshold } = condition;
  return {
    value,
    met: value !== null && (direction === 'below' ? value < threshold : value > threshold),
    samples: values,
    evidence,
    isNew: scene.isNew(stats, index),
    from: moment.windowStart,
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
