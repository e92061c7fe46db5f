import type { components } from '../../api/generated/schema.js';
import { WINDOWED, type Rule, type RuleType } from './labels.js';

/**
 * `NewAlert` of the API. The daemon checks dependencies between fields, which the generated types cannot
 * express.
 */
export type NewRule = Readonly<Record<string, unknown>>;

/** A condition as entered in the form. */
export interface ConditionDraft {
  readonly type: 'failure_rate' | 'inactivity' | 'cost_threshold' | 'metric_threshold';
  readonly limit: string;
  readonly metric: string;
  readonly operator: 'gt' | 'gte' | 'lt' | 'lte';
}

/** A rule as entered in the form, in display units. */
export interface Draft {
  readonly agent: string;
  readonly service: string;
  readonly of: 'agent' | 'all' | 'service';
  readonly name: string;
  /** Minutes; empty for the default of the daemon, as is the next field. */
  readonly window: string;
  readonly minimum: string;
  readonly type: RuleType;
  readonly limit: string;
  readonly cooldown: string;
  readonly channel: Rule['channel'];
  readonly url: string;
  readonly operator: 'and' | 'or';
  readonly conditions: readonly ConditionDraft[];
  /** The name of the scores, whether they are too low or too high, and how many are needed. */
  readonly score: string;
  readonly direction: 'below' | 'above';
  readonly samples: string;
}

/** Factors from the units of the API to those of the form: percentages and seconds. */
const FACTORS: Readonly<Record<string, number>> = { failure_rate: 100, latency_threshold: 1 / 1000 };

/** Labels and hints of thresholds. */
export const LIMITS: Readonly<Record<string, { readonly label: string; readonly hint: string }>> = {
  failure_rate: { label: 'Threshold (%)', hint: 'Share of the runs that ended in the window' },
  latency_threshold: { label: 'Threshold (seconds)', hint: 'p95 duration of the runs in the window' },
  cost_threshold: { label: 'Threshold (USD per day)', hint: 'Total cost of all runs of the day so far' },
  inactivity: { label: 'Threshold (hours)', hint: 'Time since the last activity' },
  score_threshold: { label: 'Threshold', hint: 'Mean of the scores given in the window' },
  metric_threshold: { label: 'Threshold', hint: 'Compared with the newest point of each series' },
};

/** Undefined for invalid numbers, so that the daemon reports the problem. */
function numberOf(text: string): number | undefined {
  const value = text.trim() === '' ? NaN : Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** @returns the threshold in API units; undefined for an invalid number */
export function limitOf(type: string, text: string): number | undefined {
  const value = numberOf(text);
  return value === undefined ? undefined : Number((value / (FACTORS[type] ?? 1)).toPrecision(12));
}

/** The threshold of a rule in form units. */
export function limitText(type: string, limit: number): string {
  return String(Number((limit * (FACTORS[type] ?? 1)).toPrecision(12)));
}

/** The request body; null while required input is missing. */
export function toNewRule(draft: Draft): NewRule | null {
  const { of, agent, service, type } = draft;
  if ((of === 'agent' && agent === '') || (of === 'service' && service.trim() === '')) return null;
  const conditions = draft.conditions.map(toCondition);
  const limit = limitOf(type, draft.limit);
  return {
    ...(draft.name.trim() === '' ? {} : { name: draft.name.trim() }),
    ...(of === 'agent'
      ? { agent_id: agent }
      : of === 'all'
        ? { all_agents: true }
        : { target_service: service.trim() }),
    type,
    ...toWindow(type, draft),
    ...(type === 'composite'
      ? { composite_config: { operator: draft.operator, conditions } }
      : limit === undefined
        ? {}
        : { threshold: limit }),
    ...(type === 'score_threshold' && { score_config: toScore(draft) }),
    cooldown_minutes: numberOf(draft.cooldown) ?? 60,
    channel: draft.channel,
    ...(draft.channel === 'email' || draft.url.trim() === '' ? {} : { webhook_url: draft.url.trim() }),
  };
}

type Minutes = NonNullable<components['schemas']['NewAlert']['window_minutes']>;

/** The window and the minimum of runs, as far as a type has them; null for the default of the daemon. */
export function toWindow(type: RuleType, { window, minimum }: Pick<Draft, 'window' | 'minimum'>) {
  if (!WINDOWED.has(type)) return {};
  return {
    window_minutes: window === '' ? null : (Number(window) as Minutes),
    ...(type !== 'score_threshold' && {
      // The daemon reports what is not a number.
      min_samples: minimum.trim() === '' ? null : ((numberOf(minimum) ?? minimum) as number),
    }),
  };
}

function toScore({ score, direction, samples }: Draft): object {
  return { score_name: score.trim(), direction, min_samples: numberOf(samples) ?? 1 };
}

function toCondition({ type, limit, metric, operator }: ConditionDraft): object {
  const value = limitOf(type, limit);
  const given = value === undefined ? {} : { [type === 'metric_threshold' ? 'value' : 'threshold']: value };
  return type === 'metric_threshold'
    ? { type, source: 'infra', metric_name: metric.trim(), operator, ...given }
    : { type, source: 'ai', ...given };
}

/** A rule for the preview, which needs no real channel. */
export function toTried(rule: NewRule): NewRule {
  return { ...rule, channel: 'email', webhook_url: undefined };
}

/** An existing rule as a new one. */
export function fromRule(rule: Rule): NewRule {
  const { agent_id, all_agents, target_service, type, threshold, composite_config, score_config } = rule;
  const { cooldown_minutes, window_minutes, min_samples } = rule;
  return {
    ...(all_agents ? { all_agents } : agent_id === null ? { target_service } : { agent_id }),
    ...(window_minutes !== null && { window_minutes }),
    ...(min_samples !== null && { min_samples }),
    type,
    ...(type === 'composite' ? { composite_config } : { threshold }),
    ...(score_config !== null && { score_config }),
    cooldown_minutes,
    channel: 'email',
  };
}

/** Problems by field name; `/alert/threshold` and `/threshold` are the same. */
export function problemsOf(
  fields: readonly components['schemas']['FieldError'][],
): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    fields.map(({ field, message }) => [field.replace(/^\/alert(?=\/)/, '').slice(1), `It ${message}.`]),
  );
}
