import type { components } from '../../api/generated/schema.js';
import { formatDuration } from '../../format/duration.js';
import { formatMoney, formatPercentage } from '../../format/number.js';

type Schemas = components['schemas'];
export type Rule = Schemas['AlertRule'];
export type RuleType = Rule['type'];
type Condition = Pick<Schemas['TriedCondition'], 'type' | 'threshold' | 'metric_name' | 'operator' | 'value'>;

const HOUR_MS = 3_600_000;

export const TYPES: Readonly<Record<RuleType, string>> = {
  failure_rate: 'Failure rate',
  latency_threshold: 'Latency (p95)',
  cost_threshold: 'Daily cost',
  inactivity: 'Inactivity',
  score_threshold: 'Mean score',
  composite: 'Multiple conditions',
};

/** Types whose values cover a window. */
export const WINDOWED: ReadonlySet<RuleType> = new Set([
  'failure_rate',
  'latency_threshold',
  'score_threshold',
  'composite',
]);

/** The windows that the API allows, in minutes. */
export const WINDOWS: Readonly<Record<string, string>> = {
  '5': 'Last 5 minutes',
  '15': 'Last 15 minutes',
  '30': 'Last 30 minutes',
  '60': 'Last hour',
  '180': 'Last 3 hours',
  '360': 'Last 6 hours',
  '720': 'Last 12 hours',
  '1440': 'Last 24 hours',
};

export const CHANNELS = { email: 'E-mail', webhook: 'Webhook', both: 'E-mail and webhook' } as const;

export const OPERATORS = { gt: 'above', gte: 'at least', lt: 'below', lte: 'at most' } as const;

/** A value in the unit of its type: `12.5%`, `4.52 s`, `$0.20`, `2 h 05 m`. */
export function formatFound(type: string, value: number): string {
  switch (type) {
    case 'failure_rate':
      return formatPercentage(value * 100);
    case 'latency_threshold':
      return formatDuration(value);
    case 'cost_threshold':
      return formatMoney(value);
    case 'inactivity':
      return formatDuration(value * HOUR_MS);
    case 'composite':
      return value === 1 ? 'met' : 'not met';
    default:
      return String(Number(value.toPrecision(6)));
  }
}

/** `Failure rate above 15%`. */
export function formatCondition({ type, threshold, metric_name, operator, value }: Condition): string {
  if (type === 'metric_threshold')
    return `${metric_name ?? ''} ${OPERATORS[operator ?? 'gt']} ${formatFound(type, value ?? 0)}`;
  const limit = formatFound(type, threshold ?? 0);
  return type === 'inactivity' ? `No activity for ${limit}` : `${TYPES[type]} above ${limit}`;
}

/** The name of a rule, or else its condition. */
export function ruleName(rule: Rule): string {
  return rule.name ?? formatRule(rule);
}

/** The condition of a rule in one line. */
export function formatRule({
  type,
  threshold,
  composite_config: config,
  score_config: score = null,
}: Pick<Rule, 'type' | 'threshold' | 'composite_config'> & Partial<Pick<Rule, 'score_config'>>): string {
  if (score !== null) return `Mean of ${score.score_name} ${score.direction} ${formatFound(type, threshold)}`;
  if (type !== 'composite') return formatCondition({ type, threshold });
  const conditions = (config?.conditions ?? []) as readonly Condition[];
  return conditions.map(formatCondition).join(config?.operator === 'or' ? ' or ' : ' and ');
}
