import { Type, type Static } from 'typebox';
import { grants } from '../../../auth/scopes.js';
import type { Scope } from '../../../component/identity.js';
import { formatTime } from '../../../signal/time.js';
import {
  ALERT_CHANNELS,
  ALERT_TYPES,
  type AlertType,
  type CompositeConfig,
  type ListedRule,
  METRIC_OPERATORS,
  SCORE_DIRECTIONS,
} from '../../../storage/contracts/alerts.js';
import { maskTarget } from '../../../storage/contracts/deliveries.js';
import { nullable, formatNullableTime, time, uuid } from '../../support/fields.js';

/** The largest threshold of each type: a share, ten years of hours, the largest amount of money, a year of milliseconds. */
export const MAX_THRESHOLDS = {
  failure_rate: 1,
  inactivity: 87_600,
  cost_threshold: 999_999_999,
  latency_threshold: 31_536_000_000,
} as const satisfies Record<Exclude<AlertType, 'composite' | 'score_threshold'>, number>;

const MIN_CONDITIONS = 2;
const MAX_CONDITIONS = 10;
const MAX_METRIC_NAME_LENGTH = 1024;
export const MAX_SAMPLES = 1_000_000;

/** Conditions of composite alerts: those about runs, and the one about metrics. */
const CONDITION_TYPES = ['failure_rate', 'inactivity', 'cost_threshold', 'metric_threshold'] as const;

export const alertType = Type.Enum(ALERT_TYPES);
export const conditionSource = Type.Enum(['ai', 'infra'], {
  description: '`ai`: runs of the agent, or spans of the service; `infra`: metrics.',
});
export const metricOperator = Type.Enum(METRIC_OPERATORS);
const CHANNELS =
  "`email` goes to the account's address, `webhook` is a POST to `webhook_url`, `both` is both of them.";
export const alertChannel = Type.Enum(ALERT_CHANNELS, { description: CHANNELS });
export const newAlertChannel = Type.Enum(ALERT_CHANNELS, { default: 'email', description: CHANNELS });

/** The fields of each type of condition, as far as JSON Schema can express them. */
function conditionKinds(): readonly object[] {
  const isNone = { type: 'null' };
  const ofMetrics = {
    required: ['type', 'source', 'metric_name', 'operator', 'value'],
    properties: {
      type: { const: 'metric_threshold' },
      source: { const: 'infra' },
      threshold: isNone,
      metric_name: { type: 'string' },
      operator: { type: 'string' },
      value: { type: 'number' },
    },
  };
  const ofRuns = (['failure_rate', 'inactivity', 'cost_threshold'] as const).map((type) => ({
    required: ['type', 'source', 'threshold'],
    properties: {
      type: { const: type },
      source: { const: 'ai' },
      threshold: { type: 'number', minimum: 0, maximum: MAX_THRESHOLDS[type] },
      metric_name: isNone,
      operator: isNone,
      value: isNone,
    },
  }));
  return [ofMetrics, ...ofRuns];
}

const conditionSchema = Type.Object(
  {
    type: Type.Enum(CONDITION_TYPES),
    source: conditionSource,
    threshold: Type.Optional(
      Type.Number({
        description:
          'Required for `failure_rate`, `inactivity` and `cost_threshold`, with the same meaning as for an alert.',
      }),
    ),
    metric_name: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_METRIC_NAME_LENGTH,
        description: 'Required for `metric_threshold`, as are `operator` and `value`.',
      }),
    ),
    operator: Type.Optional(metricOperator),
    value: Type.Optional(
      Type.Number({
        description: 'The value with which the newest point of any series of the metric is compared.',
      }),
    ),
  },
  {
    title: 'AlertCondition',
    additionalProperties: false,
    description:
      '`metric_threshold` has source `infra`, the others have `ai`. Fields of other types are refused.',
    documented: { anyOf: conditionKinds() },
  },
);

export const compositeSchema = Type.Object(
  {
    operator: Type.Enum(['and', 'or'], {
      description: 'Whether all conditions must be met, or any. A condition without data is not met.',
    }),
    conditions: Type.Array(conditionSchema, {
      minItems: MIN_CONDITIONS,
      maxItems: MAX_CONDITIONS,
      description: 'At least one with source `ai` and one with source `infra`.',
      documented: {
        allOf: ['ai', 'infra'].map((source) => ({
          contains: { type: 'object', properties: { source: { const: source } }, required: ['source'] },
        })),
      },
    }),
  },
  { title: 'AlertComposition', additionalProperties: false },
);

export const scoreDirection = Type.Enum(SCORE_DIRECTIONS, {
  description: 'Whether the alert fires when the mean is below or above the threshold.',
});

export const scoreConfigSchema = Type.Object(
  {
    score_name: Type.String({
      minLength: 1,
      maxLength: MAX_METRIC_NAME_LENGTH,
      format: 'not-blank',
      description: 'Name of the scores, exactly.',
    }),
    direction: scoreDirection,
    min_samples: Type.Integer({
      minimum: 1,
      maximum: MAX_SAMPLES,
      description: 'Number of scores with a value that the window needs; fewer count as no data.',
    }),
  },
  {
    title: 'AlertScore',
    additionalProperties: false,
    description:
      'Scores of runs of the agent, of their spans and responses, given within the window; the alert compares their mean.',
  },
);

/** A condition as sent, before rules across fields are checked. */
export type ConditionJson = Static<typeof conditionSchema>;

export const alertSchema = Type.Object(
  {
    id: uuid(),
    name: nullable(Type.String()),
    agent_id: nullable(uuid()),
    agent_name: nullable(Type.String()),
    all_agents: Type.Boolean({ description: 'Whether it evaluates the runs of all agents together.' }),
    type: alertType,
    threshold: Type.Number({ description: '0 for `composite`, which does not use it.' }),
    cooldown_minutes: Type.Number(),
    window_minutes: nullable(
      Type.Integer({ description: 'Null: the window of the exporter `alerts`, 60 minutes by default.' }),
    ),
    min_samples: nullable(
      Type.Integer({
        description:
          'Null: `min_samples` of the exporter `alerts`, 1 by default; unused for costs, inactivity and scores (`score_config`).',
      }),
    ),
    is_active: Type.Boolean({ description: 'Whether it is evaluated.' }),
    is_firing: Type.Boolean({
      description: 'Whether it has fired and its conditions are still met. False while it is paused.',
    }),
    channel: alertChannel,
    webhook_url: nullable(
      Type.String({
        description:
          'Complete for keys with the scope `manage`; others see only scheme and host, because path and query often contain a token.',
      }),
    ),
    composite_config: nullable(compositeSchema),
    score_config: nullable(scoreConfigSchema),
    target_service: nullable(Type.String()),
    last_fired_at: nullable(time()),
    created_at: time(),
  },
  { title: 'AlertRule' },
);

export type AlertJson = Static<typeof alertSchema>;

/** @param scopes of the caller */
export function serializeAlert({ alert, incident }: ListedRule, scopes: readonly Scope[]): AlertJson {
  const { webhook_url: url } = alert;
  return {
    id: alert.id,
    name: alert.name,
    agent_id: alert.agent_id,
    agent_name: alert.agent_name,
    all_agents: alert.agent_id === null && alert.target_service === null,
    type: alert.type,
    threshold: alert.threshold,
    cooldown_minutes: alert.cooldown_minutes,
    window_minutes: alert.window_minutes,
    min_samples: alert.min_samples,
    is_active: alert.is_active,
    is_firing: incident !== null,
    channel: alert.channel,
    webhook_url: url !== null && !grants(scopes, 'manage') ? maskTarget(url) : url,
    composite_config: alert.composite_config && serializeComposite(alert.composite_config),
    score_config: alert.score_config && { ...alert.score_config },
    target_service: alert.target_service,
    last_fired_at: formatNullableTime(alert.last_fired_at),
    created_at: formatTime(alert.created_at),
  };
}

function serializeComposite({ operator, conditions }: CompositeConfig): Static<typeof compositeSchema> {
  return { operator, conditions: conditions.map((condition) => ({ ...condition }) as ConditionJson) };
}
