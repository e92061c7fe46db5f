import { Type, type Static } from 'typebox';
import type { FieldError } from '../../../component/http.js';
import type { AddressPolicy } from '../../../delivery/senders/webhook/address-policy.js';
import { validationProblem } from '../../../http/field-errors.js';
import { invariant } from '../../../signal/checked.js';
import { storableName } from '../../../signal/names.js';
import {
  ALERT_WINDOWS,
  type Alert,
  type AlertCondition,
  type AlertType,
  type CompositeConfig,
} from '../../../storage/contracts/alerts.js';
import {
  alertChannel,
  alertType,
  compositeSchema,
  scoreConfigSchema,
  MAX_SAMPLES,
  MAX_THRESHOLDS,
  newAlertChannel,
  type ConditionJson,
} from './alert-schema.js';
import { uuid } from '../../support/fields.js';
import { targetFault, targetUrl } from '../../support/target-url.js';

const MAX_NAME_LENGTH = 200;
const MAX_SERVICE_LENGTH = 1024;
/** A year. */
const MAX_COOLDOWN_MINUTES = 525_600;
const DEFAULT_COOLDOWN_MINUTES = 60;

const threshold = Type.Number({
  description: `Never negative, except for \`score_threshold\`. \`failure_rate\`: a share from 0 to 1 (which no rate exceeds), \`inactivity\`: hours, up to ${MAX_THRESHOLDS.inactivity}, \`cost_threshold\`: US dollars a day, up to ${MAX_THRESHOLDS.cost_threshold}, \`latency_threshold\`: milliseconds, up to ${MAX_THRESHOLDS.latency_threshold}. \`score_threshold\`: a mean of scores. It is required for these types. An alert fires when it is exceeded; \`score_config\` may say \`below\`. \`composite\` does not use it.`,
});
const cooldown = { minimum: 0, maximum: MAX_COOLDOWN_MINUTES };
const NOT_ALL = { enum: [false, null] };
/** Types whose values cover a window. */
const WINDOWED: ReadonlySet<AlertType> = new Set([
  'failure_rate',
  'latency_threshold',
  'score_threshold',
  'composite',
]);
const windowFields = {
  window_minutes: Type.Optional(
    Type.Enum(ALERT_WINDOWS, {
      description:
        'Minutes before now whose runs or scores are evaluated. Absent: the window of the exporter `alerts`, 60 by default. Not for `cost_threshold` and `inactivity`.',
    }),
  ),
  min_samples: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_SAMPLES,
      description:
        'Runs (of a service: spans) that the window needs; fewer count as no data. Absent: as in the exporter `alerts`, 1 by default. For `failure_rate`, `latency_threshold` and `composite`.',
    }),
  ),
};

const { properties: scoreFields } = scoreConfigSchema;
const newScoreConfig = Type.Object(
  { ...scoreFields, min_samples: Type.Integer({ ...scoreFields.min_samples, default: 1 }) },
  { title: 'NewAlertScore', additionalProperties: false },
);

export const newAlertSchema = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        maxLength: MAX_NAME_LENGTH,
        format: 'not-blank',
        description: 'Shown in lists, e-mails and events.',
      }),
    ),
    agent_id: Type.Optional(
      uuid('Agent whose runs are evaluated; set this, `target_service` or `all_agents`.'),
    ),
    all_agents: Type.Optional(
      Type.Boolean({ description: 'Whether the runs of all agents are evaluated, as if they were of one.' }),
    ),
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
    ...windowFields,
    channel: newAlertChannel,
    webhook_url: Type.Optional(targetUrl),
    composite_config: Type.Optional(compositeSchema),
    score_config: Type.Optional(newScoreConfig),
  },
  {
    title: 'NewAlert',
    additionalProperties: false,
    description:
      'One of `agent_id`, `target_service` and `all_agents` is given. `threshold` is required except for `composite`, which needs `composite_config` instead; other types have none. `score_threshold` needs `score_config` and no `target_service`; other types have no `score_config`. `webhook_url` is required for the channels `webhook` and `both`.',
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
          properties: { agent_id: { type: 'string' }, target_service: { type: 'null' }, all_agents: NOT_ALL },
        },
        {
          required: ['target_service'],
          properties: { agent_id: { type: 'null' }, target_service: { type: 'string' }, all_agents: NOT_ALL },
        },
        {
          required: ['all_agents'],
          properties: {
            agent_id: { type: 'null' },
            target_service: { type: 'null' },
            all_agents: { const: true },
          },
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
          required: ['threshold', 'score_config'],
          properties: {
            type: { const: 'score_threshold' },
            target_service: { type: 'null' },
            min_samples: { type: 'null' },
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
            ...(!WINDOWED.has(type as AlertType) && {
              window_minutes: { type: 'null' },
              min_samples: { type: 'null' },
            }),
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
    name: Type.Optional(Type.String({ maxLength: MAX_NAME_LENGTH, description: 'Blank: no name.' })),
    threshold: Type.Optional(threshold),
    cooldown_minutes: Type.Optional(Type.Number(cooldown)),
    window_minutes: Type.Optional(
      Type.Enum([0, ...ALERT_WINDOWS], { description: '0: the window of the exporter `alerts`.' }),
    ),
    min_samples: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: MAX_SAMPLES,
        description: '0: the minimum of the exporter `alerts`.',
      }),
    ),
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
    ...windowErrors(body, type),
    ...compositeErrors(body),
    ...scoreErrors(body),
  ];
  if (channel !== 'email' && webhook_url === undefined) errors.push(lacksUrl(channel));
  refuse(errors);
  return {
    name: body.name?.trim() ?? null,
    agent_id: agent_id?.toLowerCase() ?? null,
    target_service: target_service ?? null,
    type,
    threshold: type === 'composite' ? 0 : invariant(body.threshold, 'threshold'),
    cooldown_minutes: body.cooldown_minutes,
    window_minutes: body.window_minutes ?? null,
    min_samples: body.min_samples ?? null,
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
  change: Static<typeof alertChangeSchema>,
  type: AlertType,
  policy: AddressPolicy,
): void {
  const { threshold: changed, webhook_url } = change;
  const errors = [...urlErrors(webhook_url, policy), ...windowErrors(change, type)];
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

function targetErrors({ agent_id, target_service, all_agents }: Static<typeof newAlertSchema>): FieldError[] {
  if (all_agents === true)
    return Object.entries({ agent_id, target_service }).flatMap(([name, value]) =>
      value === undefined ? [] : [{ field: `/${name}`, message: 'must be absent if all_agents is true' }],
    );
  if (agent_id === undefined && target_service === undefined)
    return [{ field: '/agent_id', message: 'is required if neither target_service nor all_agents is set' }];
  if (agent_id !== undefined && target_service !== undefined)
    return [{ field: '/target_service', message: 'must be absent if agent_id is set' }];
  return [];
}

function windowErrors(
  { window_minutes = 0, min_samples = 0 }: Pick<Static<typeof alertChangeSchema>, keyof typeof windowFields>,
  type: AlertType,
): FieldError[] {
  const errors: FieldError[] = [];
  if (window_minutes !== 0 && !WINDOWED.has(type))
    errors.push({ field: '/window_minutes', message: `is not used by type ${type}` });
  if (min_samples !== 0 && (!WINDOWED.has(type) || type === 'score_threshold'))
    errors.push({
      field: '/min_samples',
      message:
        type === 'score_threshold'
          ? 'is in score_config for type score_threshold'
          : `is not used by type ${type}`,
    });
  return errors;
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
      message: 'must be absent for type score_threshold: set agent_id or all_agents',
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
