import { Type, type Static } from 'typebox';
import type { FieldError } from '../../../component/http.js';
import type { AddressPolicy } from '../../../delivery/senders/webhook/address-policy.js';
import { validationProblem } from '../../../http/field-errors.js';
import { invariant } from '../../../signal/checked.js';
import { storableName } from '../../../signal/names.js';
import type { Alert, AlertCondition, AlertType, CompositeConfig } from '../../../storage/contracts/alerts.js';
import {
  alertChannel,
  alertType,
  compositeSchema,
  scoreConfigSchema,
  MAX_THRESHOLDS,
  newAlertChannel,
  type ConditionJson,
} from './alert-schema.js';
import { uuid } from '../../support/fields.js';
import { targetFault, targetUrl } from '../../support/target-url.js';

const MAX_SERVICE_LENGTH = 1024;
/** A year. */
const MAX_COOLDOWN_MINUTES = 525_600;
const DEFAULT_COOLDOWN_MINUTES = 60;

const threshold = Type.Number({
  description: `Never negative, except for \`score_threshold\`. \`failure_rate\`: a share from 0 to 1 (which no rate exceeds), \`inactivity\`: hours, up to ${MAX_THRESHOLDS.inactivity}, \`cost_threshold\`: US dollars a day, up to ${MAX_THRESHOLDS.cost_threshold}, \`latency_threshold\`: milliseconds, up to ${MAX_THRESHOLDS.latency_threshold}. \`score_threshold\`: a mean of scores. It is required for these types. An alert fires when it is exceeded; \`score_config\` may say \`below\`. \`composite\` does not use it.`,
});
const cooldown = { minimum: 0, maximum: MAX_COOLDOWN_MINUTES };

const { properties: scoreFields } = scoreConfigSchema;
const newScoreConfig = Type.Object(
  { ...scoreFields, min_samples: Type.Integer({ ...scoreFields.min_samples, default: 1 }) },
  { title: 'NewAlertScore', additionalProperties: false },
);

export const newAlertSchema = Type.Object(
  {
    agent_id: Type.Optional(uuid('Agent whose runs are evaluated; set this or `target_service`.')),
    target_service: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: MAX_SERVICE_LENGTH,
        format: 'not-blank',
        description: 'Id of the service map node whose spans are evaluated. It may not exist yet.',
      }),
    ),
    type: alertType,
    threshold: Type.Optional(threshold),
    cooldown_minutes: Type.Number({
      ...cooldown,
      default: DEFAULT_COOLDOWN_MINUTES,
      description: 'Minimum time between two firings.',
    }),
    channel: newAlertChannel,
    webhook_url: Type.Optional(targetUrl),
    composite_config: Type.Optional(compositeSchema),
    score_config: Type.Optional(newScoreConfig),
  },
  {
    title: 'NewAlert',
    additionalProperties: false,
    description:
      'Either `agent_id` or `target_service` is given. `threshold` is required except for `composite`, which needs `composite_config` instead; other types have none. `score_threshold` needs `agent_id` and `score_config`; other types have none. `webhook_url` is required for the channels `webhook` and `both`.',
    documented: { allOf: documentedRules() },
  },
);

/** The rules between the fields of a new alert, as far as JSON Schema can express them. */
function documentedRules(): readonly object[] {
  return [
    {
      oneOf: [
        {
          required: ['agent_id'],
          properties: { agent_id: { type: 'string' }, target_service: { type: 'null' } },
        },
        {
          required: ['target_service'],
          properties: { agent_id: { type: 'null' }, target_service: { type: 'string' } },
        },
      ],
    },
    {
      anyOf: [
        {
          required: ['composite_config'],
          properties: {
            type: { const: 'composite' },
            composite_config: { type: 'object' },
            score_config: { type: 'null' },
          },
        },
        {
          required: ['agent_id', 'threshold', 'score_config'],
          properties: {
            type: { const: 'score_threshold' },
            threshold: { type: 'number' },
            score_config: { type: 'object' },
            composite_config: { type: 'null' },
          },
        },
        ...Object.entries(MAX_THRESHOLDS).map(([type, maximum]) => ({
          required: ['threshold'],
          properties: {
            type: { const: type },
            threshold: { type: 'number', minimum: 0, maximum },
            composite_config: { type: 'null' },
            score_config: { type: 'null' },
          },
        })),
      ],
    },
    {
      anyOf: [
        { properties: { channel: { enum: ['email', null] } } },
        { required: ['webhook_url'], properties: { webhook_url: { type: 'string' } } },
      ],
    },
  ];
}

export const alertChangeSchema = Type.Object(
  {
    threshold: Type.Optional(threshold),
    cooldown_minutes: Type.Optional(Type.Number(cooldown)),
    is_active: Type.Optional(Type.Boolean({ description: 'Pausing an alert ends its incident.' })),
    channel: Type.Optional(alertChannel),
    webhook_url: Type.Optional(targetUrl),
  },
  { title: 'AlertChange', additionalProperties: false },
);

/** The fields of a new alert that the sender sets. */
type AlertDefinition = Omit<Alert, 'id' | 'agent_name' | 'is_active' | 'last_fired_at' | 'created_at'>;

/**
 * Checks the rules between the fields of a new alert.
 *
 * @throws HttpProblem 422 with all violated rules
 */
export function readNewAlert(body: Static<typeof newAlertSchema>, policy: AddressPolicy): AlertDefinition {
  const { agent_id, target_service, type, channel, webhook_url, composite_config, score_config } = body;
  const errors = [
    ...targetErrors(body),
    ...thresholdErrors(body),
    ...urlErrors(webhook_url, policy),
    ...compositeErrors(body),
    ...scoreErrors(body),
  ];
  if (channel !== 'email' && webhook_url === undefined) errors.push(lacksUrl(channel));
  refuse(errors);
  return {
    agent_id: agent_id?.toLowerCase() ?? null,
    target_service: target_service ?? null,
    type,
    threshold: type === 'composite' ? 0 : invariant(body.threshold, 'threshold'),
    cooldown_minutes: body.cooldown_minutes,
    channel,
    webhook_url: webhook_url ?? null,
    composite_config: composite_config === undefined ? null : readComposite(composite_config),
    score_config:
      score_config === undefined
        ? null
        : { ...score_config, score_name: storableName(score_config.score_name) },
  };
}

/**
 * Checks the parts of a change that depend only on the type of the alert.
 *
 * @throws HttpProblem 422 with all violated rules
 */
export function checkChange(
  { threshold: changed, webhook_url }: Static<typeof alertChangeSchema>,
  type: AlertType,
  policy: AddressPolicy,
): void {
  const errors = urlErrors(webhook_url, policy);
  if (changed !== undefined)
    errors.push(
      ...(type === 'composite'
        ? [{ field: '/threshold', message: 'is not used by a composite alert, and cannot be changed' }]
        : rangeErrors('/threshold', type, changed)),
    );
  refuse(errors);
}

/** The error for an alert with a webhook channel but without a URL. */
export function lacksUrl(channel = 'webhook or both'): FieldError {
  return { field: '/webhook_url', message: `is required for channel ${channel}` };
}

function refuse(errors: readonly FieldError[]): void {
  if (errors.length > 0) throw validationProblem('body', errors);
}

function targetErrors({ agent_id, target_service }: Static<typeof newAlertSchema>): FieldError[] {
  if (agent_id === undefined && target_service === undefined)
    return [{ field: '/agent_id', message: 'is required if target_service is not set' }];
  if (agent_id !== undefined && target_service !== undefined)
    return [{ field: '/target_service', message: 'must be absent if agent_id is set' }];
  return [];
}

function thresholdErrors({ type, threshold: given }: Static<typeof newAlertSchema>): FieldError[] {
  if (type === 'composite') return [];
  if (given === undefined) return [{ field: '/threshold', message: `is required for type ${type}` }];
  return rangeErrors('/threshold', type, given);
}

function rangeErrors(
  field: string,
  type: keyof typeof MAX_THRESHOLDS | 'score_threshold',
  value: number,
): FieldError[] {
  if (type === 'score_threshold') return [];
  const maximum = MAX_THRESHOLDS[type];
  return value >= 0 && value <= maximum
    ? []
    : [{ field, message: `must be from 0 to ${maximum} for type ${type}` }];
}

function urlErrors(url: string | undefined, policy: AddressPolicy): FieldError[] {
  const fault = url === undefined ? null : targetFault(url, policy);
  return fault === null ? [] : [{ field: '/webhook_url', message: fault }];
}

function compositeErrors({ type, composite_config: config }: Static<typeof newAlertSchema>): FieldError[] {
  const field = '/composite_config';
  if (type !== 'composite')
    return config === undefined ? [] : [{ field, message: 'is for type composite only' }];
  if (config === undefined) return [{ field, message: 'is required for type composite' }];
  const place = `${field}/conditions`;
  const errors = config.conditions.flatMap((condition, index) =>
    conditionErrors(condition, `${place}/${index}`),
  );
  for (const source of ['ai', 'infra'])
    if (!config.conditions.some((condition) => condition.source === source))
      errors.push({ field: place, message: `must have at least one condition with source ${source}` });
  return errors;
}

function scoreErrors({ type, score_config, target_service }: Static<typeof newAlertSchema>): FieldError[] {
  if (type !== 'score_threshold')
    return score_config === undefined
      ? []
      : [{ field: '/score_config', message: 'is for type score_threshold only' }];
  const errors: FieldError[] = [];
  if (score_config === undefined)
    errors.push({ field: '/score_config', message: 'is required for type score_threshold' });
  if (target_service !== undefined)
    errors.push({
      field: '/target_service',
      message: 'must be absent for type score_threshold: set agent_id',
    });
  return errors;
}

const METRIC_FIELDS = ['metric_name', 'operator', 'value'] as const;

function conditionErrors(condition: ConditionJson, place: string): FieldError[] {
  const { type, source } = condition;
  const isOfMetrics = type === 'metric_threshold';
  const right = isOfMetrics ? 'infra' : 'ai';
  const [needed, foreign] = isOfMetrics
    ? [METRIC_FIELDS, ['threshold'] as const]
    : [['threshold'] as const, METRIC_FIELDS];
  const errors: FieldError[] = [];
  if (source !== right)
    errors.push({ field: `${place}/source`, message: `must be ${right} for type ${type}` });
  for (const name of needed)
    if (condition[name] === undefined)
      errors.push({ field: `${place}/${name}`, message: `is required for type ${type}` });
  for (const name of foreign)
    if (condition[name] !== undefined)
      errors.push({ field: `${place}/${name}`, message: `is not a field of type ${type}` });
  if (!isOfMetrics && condition.threshold !== undefined)
    errors.push(...rangeErrors(`${place}/threshold`, type, condition.threshold));
  return errors;
}

/** @param config with conditions that have no errors */
function readComposite({ operator, conditions }: Static<typeof compositeSchema>): CompositeConfig {
  return { operator, conditions: conditions.map(readCondition) };
}

function readCondition({
  type,
  threshold: limit = 0,
  metric_name = '',
  operator = 'gt',
  value = 0,
}: ConditionJson): AlertCondition {
  return type === 'metric_threshold'
    ? { type, source: 'infra', metric_name, operator, value }
    : { type, source: 'ai', threshold: limit };
}
