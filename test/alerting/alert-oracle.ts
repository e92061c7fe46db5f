import type { Alert, AlertCondition, RunCondition } from '../../src/storage/contracts/alerts.js';

/** The state of a run after its last message. Times in microseconds, money in nano-USD. */
export interface KnownRun {
  readonly agent: string;
  readonly status: 'running' | 'completed' | 'failed' | 'timed_out';
  readonly success: boolean | null;
  readonly started: number;
  readonly ended: number | null;
  readonly durationMs: number | null;
  readonly cost: number | null;
  /** Time of the last message. */
  readonly lastSeen: number;
  /** Increases with every change of any run and with every point. */
  readonly change: number;
}

export interface KnownPoint {
  readonly metric: string;
  readonly series: string;
  readonly at: number;
  readonly value: number;
  readonly change: number;
}

export interface Known {
  readonly runs: readonly KnownRun[];
  readonly points: readonly KnownPoint[];
}

/** The expected state of one alert. */
export interface Expected {
  readonly events: { fired_at: number; value: number | null; resolved_at: number | null }[];
  /** The evidence of its last firing, by condition. */
  evidence: (number | { readonly day: number; readonly cost: number } | null)[];
  isFiring: boolean;
  falseSince: number | null;
  falses: number;
}

/** Effects of the daemon's downtime. */
interface Gap {
  /** It has been back for less than five minutes. */
  readonly inGrace: boolean;
  /** It was down at the end of yesterday, and this is its first evaluation. */
  readonly isDayMissed: boolean;
}

interface Judged {
  readonly value: number | null;
  readonly met: boolean;
  readonly evidence: Expected['evidence'][number];
  /** It can fire again without new evidence. */
  readonly isTimeless: boolean;
}

const MINUTE = 60_000_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export function newExpected(): Expected {
  return { events: [], evidence: [], isFiring: false, falseSince: null, falses: 0 };
}

/** Evaluates one alert over all data, by the rules in `src/alerting/README.md` alone. @param gap effects of downtime */
export function expectAt(
  now: number,
  alert: Alert,
  agent: string,
  known: Known,
  expected: Expected,
  gap: Gap,
): void {
  const last = expected.events.at(-1)?.fired_at ?? null;
  const conditions: readonly AlertCondition[] =
    alert.type === 'composite'
      ? (alert.composite_config?.conditions ?? [])
      : [{ type: alert.type as RunCondition['type'], source: 'ai', threshold: alert.threshold }];
  const judged = conditions.map((condition, i) =>
    judge(now, condition, agent, known, expected.evidence[i] ?? null, gap),
  );
  const isMet =
    alert.composite_config?.operator === 'or'
      ? judged.some(({ met }) => met)
      : judged.every(({ met }) => met);
  if (!isMet) {
    expected.falses++;
    expected.falseSince ??= now;
    const event = expected.events.at(-1);
    if (expected.isFiring && expected.falses >= 2 && now - expected.falseSince >= 5 * MINUTE) {
      expected.isFiring = false;
      for (const one of expected.events) one.resolved_at ??= now;
      if (event === undefined) throw new Error('it was firing without an event');
    }
    return;
  }
  expected.falses = 0;
  expected.falseSince = null;
  const isCool = last === null || now - last >= alert.cooldown_minutes * MINUTE;
  const isNew =
    last === null ||
    judged.some(
      ({ met, isTimeless, evidence }, i) => met && (isTimeless || isNewer(evidence, expected.evidence[i])),
    );
  if (!isCool || !isNew) return;
  const value = alert.type === 'composite' ? null : (judged[0]?.value ?? null);
  expected.events.push({ fired_at: now, value, resolved_at: null });
  expected.evidence = judged.map(({ evidence }) => evidence);
  expected.isFiring = true;
}

function isNewer(now: Judged['evidence'], before: Judged['evidence'] | undefined): boolean {
  if (now === null) return false;
  if (before === null || before === undefined) return true;
  if (typeof now === 'number') return typeof before === 'number' && now > before;
  return (
    typeof before === 'object' && (now.day > before.day || (now.day === before.day && now.cost > before.cost))
  );
}

function judge(
  now: number,
  condition: AlertCondition,
  agent: string,
  known: Known,
  before: Judged['evidence'],
  { inGrace, isDayMissed }: Gap,
): Judged {
  const own = known.runs.filter((run) => run.agent === agent);
  switch (condition.type) {
    case 'score_threshold':
      throw new Error('the oracle has no scores');
    case 'failure_rate': {
      const finished = own.filter((run) => isInWindow(run, now));
      const failed = finished.filter(
        ({ success, status }) => success === false || (success === null && status !== 'completed'),
      );
      const value = finished.length === 0 ? null : failed.length / finished.length;
      return simple(value, condition.threshold, newest(finished));
    }
    case 'latency_threshold': {
      const finished = own.filter((run) => isInWindow(run, now));
      const durations = finished.flatMap(({ durationMs }) => durationMs ?? []).sort((a, b) => a - b);
      return simple(p95(durations), condition.threshold, newest(finished));
    }
    case 'cost_threshold': {
      const today = Math.floor(now / DAY) * DAY;
      const spent = costOf(own, today, now + 1);
      const yesterday = costOf(own, today - DAY, today);
      const isKnown = before !== null && typeof before === 'object' && before.day >= today - DAY;
      const isOpen = (isDayMissed || now - today < HOUR) && !isKnown;
      const limit = condition.threshold * 1e9;
      if (spent !== null && spent > limit) {
        return {
          value: spent / 1e9,
          met: true,
          evidence: { day: today, cost: spent / 1e9 },
          isTimeless: false,
        };
      }
      if (isOpen && yesterday !== null && yesterday > limit) {
        const evidence = { day: today - DAY, cost: yesterday / 1e9 };
        return { value: yesterday / 1e9, met: true, evidence, isTimeless: false };
      }
      const value = spent === null ? null : spent / 1e9;
      return { value, met: false, evidence: { day: today, cost: (spent ?? 0) / 1e9 }, isTimeless: false };
    }
    case 'inactivity': {
      const times = own.map(({ started, ended, lastSeen }) =>
        Math.min(Math.max(started, ended ?? started), lastSeen),
      );
      if (times.length === 0 || inGrace) return { value: null, met: false, evidence: null, isTimeless: true };
      const hours = (now - Math.max(...times)) / HOUR;
      return { value: hours, met: hours > condition.threshold, evidence: null, isTimeless: true };
    }
    case 'metric_threshold': {
      const recent = known.points.filter(
        ({ metric, at }) => metric === condition.metric_name && at > now - 5 * MINUTE && at <= now,
      );
      const series = new Map<string, KnownPoint>();
      for (const point of recent) {
        const other = series.get(point.series);
        if (other === undefined || point.at >= other.at) series.set(point.series, point);
      }
      const met = [...series.values()].some(({ value }) =>
        condition.operator === 'gt'
          ? value > condition.value
          : condition.operator === 'lt'
            ? value < condition.value
            : condition.operator === 'gte'
              ? value >= condition.value
              : value <= condition.value,
      );
      const changes = [...series.values()].map(({ change }) => change);
      return {
        value: null,
        met,
        evidence: changes.length === 0 ? null : Math.max(...changes),
        isTimeless: false,
      };
    }
  }
}

function simple(value: number | null, threshold: number, evidence: number | null): Judged {
  return { value, met: value !== null && value > threshold, evidence, isTimeless: false };
}

function isInWindow({ status, started, ended, lastSeen }: KnownRun, now: number): boolean {
  const at = Math.min(ended ?? started, lastSeen);
  return status !== 'running' && at > now - HOUR && at <= now;
}

function newest(runs: readonly KnownRun[]): number | null {
  return runs.length === 0 ? null : Math.max(...runs.map(({ change }) => change));
}

function costOf(runs: readonly KnownRun[], from: number, to: number): number | null {
  const costs = runs.flatMap(({ started, cost }) =>
    started >= from && started < to && cost !== null ? cost : [],
  );
  return costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0);
}

/** Linear interpolation between order statistics. */
function p95(sorted: readonly number[]): number | null {
  if (sorted.length === 0) return null;
  const rank = (sorted.length - 1) * 0.95;
  const lower = sorted[Math.floor(rank)] ?? 0;
  const upper = sorted[Math.ceil(rank)] ?? 0;
  return lower + (upper - lower) * (rank - Math.floor(rank));
}
