import { Type, type Static } from 'typebox';
import { testFiring, tryAlert, type AlertTrial } from '../../../alerting/try-alert.js';
import type { Route } from '../../../component/http.js';
import type { Operation } from '../../../component/operation.js';
import { formatTime, type Micros } from '../../../signal/time.js';
import { MS_PER_HOUR } from '../../../signal/time-units.js';
import type { AlertingSettings, SettingsBoard } from '../../../storage/contracts/coordination.js';
import { ALERT_TYPES } from '../../../storage/contracts/alerts.js';
import { ROW_BYTES } from '../../../storage/contracts/telemetry-writer.js';
import { ALERT, alertParams, noAlert } from './alert-places.js';
import { conditionSource, metricOperator, scoreDirection } from './alert-schema.js';
import type { ApiContext } from '../../support/api-context.js';
import { firingSchema, serializeFiring } from './alert-firings.js';
import { count, nullable, time } from '../../support/fields.js';

/** The settings of an exporter `alerts` with an empty configuration. */
const DEFAULT_SETTINGS: AlertingSettings = { windowMs: MS_PER_HOUR, minSamples: 1, timezone: 'UTC' };

/** A condition and its result. */
export const triedConditionSchema = Type.Object(
  {
    type: Type.Enum([...ALERT_TYPES.filter((type) => type !== 'composite'), 'metric_threshold']),
    source: conditionSource,
    threshold: Type.Optional(Type.Number()),
    metric_name: Type.Optional(Type.String()),
    operator: Type.Optional(metricOperator),
    value: Type.Optional(Type.Number()),
    score_name: Type.Optional(Type.String()),
    direction: Type.Optional(scoreDirection),
    observed: nullable(Type.Number({ description: 'In the unit of the threshold. Null: no data.' })),
    met: Type.Boolean(),
  },
  { title: 'TriedCondition' },
);

/** The evaluated time range. */
export const windowSchema = Type.Object({ from: time(), to: time() }, { title: 'AlertWindow' });

export const alertTestSchema = Type.Object(
  {
    value: nullable(
      Type.Number({ description: 'Measured value. Null: no data, or the alert is `composite`.' }),
    ),
    threshold: Type.Number(),
    unit: nullable(
      Type.Enum(['ratio', 'hours', 'usd', 'ms', 'score'], { description: 'Null for `composite`.' }),
    ),
    sample_count: count('Runs, spans, series or scores that were evaluated.'),
    verdict: Type.Enum(['met', 'not_met', 'no_data'], {
      description: 'An alert fires only for `met`, never for `no_data`.',
    }),
    window: windowSchema,
    conditions: Type.Array(triedConditionSchema, {
      description: 'One, unless the alert is `composite`.',
    }),
    is_evaluated: Type.Boolean({
      description:
        'Whether this daemon evaluates alerts: false if no pipeline has an exporter `alerts`. The default window is used then.',
    }),
    can_mail: Type.Boolean({
      description:
        'Whether a daemon that evaluates alerts has a mail server (`smtp.host`). If not, e-mail notices are skipped.',
    }),
  },
  { title: 'AlertTest' },
);

export const testAlert = {
  id: 'testAlert',
  method: 'POST',
  path: `${ALERT}/test`,
  tag: 'alerts',
  summary: 'Evaluate an alert now',
  description:
    'Nothing fires and nothing is stored, whether the alert is active or not. Its cooldown and earlier firings are ignored.',
  access: 'read',
  audit: { none: 'Changes nothing and sends no notice.' },
  params: alertParams,
  responses: {
    200: alertTestSchema,
  },
  errors: [404],
} satisfies Operation;

const sendAlertTest = {
  id: 'sendAlertTest',
  method: 'POST',
  path: `${ALERT}/send-test`,
  tag: 'alerts',
  summary: 'Send a test notification of an alert through its channels',
  description:
    'Sends what a firing would send, with the current values and `is_test: true` in `data`. The firing is listed with the result of each notice. Incident, cooldown and webhook subscriptions are not affected.',
  access: 'manage',
  audit: ['alert.tested'],
  params: alertParams,
  responses: { 202: firingSchema },
  errors: [404],
} satisfies Operation;

/** The routes for evaluating an alert and for testing its notification. */
export function alertTestRoutes({
  routes,
  control: { alerts, settings },
  telemetry,
  audit,
  takeStorage,
  clock,
}: Pick<
  ApiContext<'stats' | 'identity'>,
  'routes' | 'control' | 'telemetry' | 'audit' | 'takeStorage' | 'clock'
>): readonly Route[] {
  return [
    routes.route(sendAlertTest).to(async ({ identity, address, params }) => {
      const rule = await alerts.read(identity.userId, params.alert_id);
      if (!rule) throw noAlert();
      await takeStorage(identity.userId, ROW_BYTES.alert);
      const now = clock.now();
      const published = await publishedSettings(settings, now);
      const source = await telemetry.identity();
      const firing = await testFiring({ stats: telemetry.stats, source }, rule, published.settings, now);
      const recorded = await alerts.recordTest(identity.userId, firing);
      if (!recorded) throw noAlert();
      audit({ identity, address }, 'alert.tested', { ...params, channel: rule.alert.channel });
      return { status: 202, json: serializeFiring(recorded) };
    }),
    routes.route(testAlert).to(async ({ identity, params }) => {
      const rule = await alerts.read(identity.userId, params.alert_id);
      if (!rule) throw noAlert();
      const now = clock.now();
      const published = await publishedSettings(settings, now);
      const source = await telemetry.identity();
      const trial = await tryAlert({ stats: telemetry.stats, source }, rule, published.settings, now);
      return { status: 200, json: { ...serializeTrial(trial), ...shownSettings(published) } };
    }),
  ];
}

/** What the processes that evaluate alerts publish. */
interface Published {
  readonly settings: AlertingSettings;
  /** Whether any process evaluates alerts. */
  readonly isEvaluated: boolean;
  readonly canMail: boolean;
}

/** The alerting settings in use. */
export async function publishedSettings(
  settings: Pick<SettingsBoard, 'all'>,
  now: Micros,
): Promise<Published> {
  const all = await settings.all(now);
  const published = all.find(({ alerting }) => alerting !== undefined)?.alerting;
  return {
    settings: published ?? DEFAULT_SETTINGS,
    isEvaluated: published !== undefined,
    canMail: all.some(({ canMail }) => canMail === true),
  };
}

export function shownSettings({ isEvaluated, canMail }: Published) {
  return { is_evaluated: isEvaluated, can_mail: canMail };
}

export function serializeTrial(
  trial: AlertTrial,
): Omit<Static<(typeof testAlert.responses)[200]>, 'is_evaluated' | 'can_mail'> {
  const { value, threshold, unit, sample_count, verdict, window, conditions } = trial;
  return {
    value,
    threshold,
    unit,
    sample_count,
    verdict,
    window: { from: formatTime(window.from), to: formatTime(window.to) },
    conditions: [...conditions],
  };
}
