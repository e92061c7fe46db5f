import type { Micros } from '../signal/time.js';
import type { MetricFigures, TargetFigures } from '../storage/alert-figures.js';
import type { AlertEvidence, EvidenceOfCost, EvidenceOfRows } from '../storage/alert-store.js';
import type { AlertCondition, MetricCondition, MetricOperator } from '../storage/alert-conditions.js';
import type { Moment } from './moment.js';
import { MICROS_PER_HOUR } from '../signal/time-units.js';

/** What is known of an alert's target. */
export interface Scene {
  readonly figures: TargetFigures;
  /** The newest points of a metric's series, as far as they are about the target. */
  readonly metric: (name: string) => MetricFigures;
  /** What the alert looked at when it last fired, by condition. */
  readonly known: AlertEvidence | null;
}

/** What a condition finds. */
export interface Finding {
  /** In the unit of the threshold; null where nothing is known. */
  readonly value: number | null;
  /** Never of what is not known. */
  readonly met: boolean;
  /** Runs, spans or series that the value is made of. */
  readonly samples: number;
  readonly evidence: EvidenceOfRows | EvidenceOfCost | null;
  /** What was looked at. */
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
      return judgeFailures(condition.threshold, scene, moment);
    case 'latency_threshold':
      return judgeLatency(condition.threshold, scene, moment);
    case 'cost_threshold':
      return judgeCost(condition.threshold, scene.known?.[index] ?? null, scene, moment);
    case 'inactivity':
      return judgeInactivity(condition.threshold, scene, moment);
    case 'metric_threshold':
      return judgeMetric(condition, scene, moment);
  }
}

function judgeFailures(threshold: number, { figures }: Scene, moment: Moment): Finding {
  const { finished, failed, seq } = figures.window ?? { finished: 0, failed: 0, seq: 0 };
  const isKnown = finished > 0 && finished >= moment.minSamples;
  return inWindow(isKnown ? failed / finished : null, threshold, finished, seq, moment);
}

function judgeLatency(threshold: number, { figures }: Scene, moment: Moment): Finding {
  const { timed, p95_ms, seq } = figures.window ?? { timed: 0, p95_ms: null, seq: 0 };
  return inWindow(timed >= moment.minSamples ? p95_ms : null, threshold, timed, seq, moment);
}

function inWindow(
  value: number | null,
  threshold: number,
  samples: number,
  seq: number,
  moment: Moment,
): Finding {
  return {
    value,
    met: value !== null && value > threshold,
    samples,
    evidence: { seq },
    from: moment.windowStart,
    to: moment.now,
  };
}

/** Today counts; yesterday does where it is open, unless the alert has fired knowing the cost of it, or of a later day. */
function judgeCost(threshold: number, known: AlertEvidence[number], scene: Scene, moment: Moment): Finding {
  const [, yesterday] = moment.days;
  const today = judgeDay(threshold, scene, moment, 0);
  if (today.met || !yesterday) return today;
  if (known !== null && 'day' in known && known.day >= yesterday.from) return today;
  const late = judgeDay(threshold, scene, moment, 1);
  return late.met ? late : today;
}

function judgeDay(threshold: number, { figures }: Scene, moment: Moment, index: 0 | 1): Finding {
  const day = moment.days[index] ?? moment.days[0];
  const { cost, priced } = figures.costs[index] ?? { cost: 0, priced: 0 };
  // The nearest double of either decimal: what is equal as written is equal as a number, which a sum of doubles is not.
  const value = priced > 0 ? cost : null;
  return {
    value,
    met: value !== null && value > threshold,
    samples: priced,
    evidence: { day: day.from, cost },
    from: day.from,
    to: Math.min(day.to, moment.now),
  };
}

function judgeInactivity(threshold: number, { figures }: Scene, moment: Moment): Finding {
  const activeAt = moment.knowsActivity ? figures.activeAt : null;
  // A clock that was put back makes nobody active in the future.
  const from = Math.min(activeAt ?? moment.now, moment.now);
  const value = activeAt === null ? null : (moment.now - from) / MICROS_PER_HOUR;
  return {
    value,
    met: value !== null && value > threshold,
    samples: activeAt === null ? 0 : 1,
    evidence: null,
    from,
    to: moment.now,
  };
}

/** One series is enough. The value told is that of the series that satisfies most, or comes nearest to it. */
function judgeMetric(condition: MetricCondition, scene: Scene, moment: Moment): Finding {
  const { series, min, max, seq } = scene.metric(condition.metric_name);
  const { operator } = condition;
  const value = operator === 'gt' || operator === 'gte' ? max : min;
  return {
    value,
    met: value !== null && satisfies(value, operator, condition.value),
    samples: series,
    evidence: { seq },
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
