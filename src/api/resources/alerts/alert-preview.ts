import { Type } from 'typebox';
import { previewAlert } from '../../../alerting/preview.js';
import { tryAlert } from '../../../alerting/try-alert.js';
import type { Route } from '../../../component/http.js';
import type { Operation } from '../../../component/operation.js';
import { MICROS_PER_MINUTE, MS_PER_MINUTE } from '../../../signal/time-units.js';
import { formatTime } from '../../../signal/time.js';
import type { Alert, AlertRule } from '../../../storage/contracts/alerts.js';
import { newAlertSchema, readNewAlert } from './alert-body.js';
import { ALERTS } from './alert-places.js';
import { alertTestSchema, publishedSettings, serializeTrial, shownSettings } from './alert-test.js';
import type { ApiContext } from '../../support/api-context.js';
import { nullable, formatNullableTime, time } from '../../support/fields.js';
import { notFound } from '../../support/not-found.js';

const MOST_HOURS = 168;
const MOST_POINTS = 480;
/** Each point of a metric is a query of its own. */
const MOST_COMPOSITE_POINTS = 120;
/** A run is in as many windows at most. */
const MOST_WINDOWS = 60;

const previewBody = Type.Object(
  {
    alert: newAlertSchema,
    hours: Type.Integer({
      minimum: 1,
      maximum: MOST_HOURS,
      default: 24,
      description: 'How far to look back.',
    }),
  },
  { title: 'AlertPreviewRequest', additionalProperties: false },
);

const point = Type.Array(nullable(Type.Number()), { minItems: 2, maxItems: 2 });

const previewAlertOperation = {
  id: 'previewAlert',
  method: 'POST',
  path: `${ALERTS}/preview`,
  tag: 'alerts',
  summary: 'Preview an alert on past data before creating it',
  description: `Evaluates the alert at up to ${MOST_POINTS} moments, with the rules of real evaluations and the data known now: late spans count as if they had arrived in time. It may have been met unnoticed between two moments. Nothing fires and nothing is stored.`,
  access: 'read',
  audit: { none: 'Changes nothing: evaluates a rule on past data.' },
  body: previewBody,
  responses: {
    200: Type.Object(
      {
        now: alertTestSchema,
        points: Type.Array(point, {
          description:
            'Milliseconds since 1970 and the value in the unit of the threshold, oldest first. Null: no data. For `composite`, 1 if its conditions were met, otherwise 0.',
        }),
        conditions: Type.Array(Type.Array(nullable(Type.Number())), {
          description: 'Values of each condition at each point, in order.',
        }),
        firings: Type.Array(
          Type.Object(
            {
              fired_at: time(),
              value: nullable(Type.Number()),
              resolved_at: nullable(time('Null: it would still be open.')),
            },
            { title: 'PreviewedFiring' },
          ),
          { description: 'Times at which it would have fired, considering its cooldown, oldest first.' },
        ),
        step_seconds: Type.Number({ description: 'Interval between points.' }),
      },
      { title: 'AlertPreview' },
    ),
  },
  errors: [404],
} satisfies Operation;

/** The route for previewing an alert on past data. */
export function alertPreviewRoutes({
  routes,
  control: { settings },
  telemetry,
  targets,
  clock,
}: Pick<
  ApiContext<'agents' | 'stats' | 'identity' | 'past'>,
  'routes' | 'control' | 'telemetry' | 'targets' | 'clock'
>): readonly Route[] {
  return [
    routes.route(previewAlertOperation).to(async ({ identity, body, request }) => {
      const { userId } = identity;
      const wanted = readNewAlert(body.alert, await targets());
      const { agent_id } = wanted;
      const agent = agent_id === null ? null : await telemetry.agents.read(userId, agent_id, request.abort);
      if (agent_id !== null && agent === null) throw notFound('agent');
      const now = clock.now();
      const alert: Alert = {
        id: '',
        ...wanted,
        agent_name: agent?.name ?? null,
        is_active: true,
        last_fired_at: null,
        created_at: now,
      };
      const rule: AlertRule = { userId, alert, incident: null, evidence: null };
      const published = await publishedSettings(settings, now);
      const minutes = body.hours * 60;
      const isComposite = alert.type === 'composite';
      const most = isComposite ? MOST_COMPOSITE_POINTS : MOST_POINTS;
      const window = alert.window_minutes ?? published.settings.windowMs / MS_PER_MINUTE;
      const wantedStep = Math.max(1, minutes / most, window / MOST_WINDOWS);
      const count = Math.max(1, Math.floor(minutes / Math.round(wantedStep)));
      const step = Math.round(minutes / count) * MICROS_PER_MINUTE;
      const moments = { now, step, count: count + 1 };
      const { points, firings } = await previewAlert(
        telemetry.past,
        rule,
        published.settings,
        moments,
        request.abort,
      );
      const source = await telemetry.identity();
      const trial = await tryAlert({ stats: telemetry.stats, source }, rule, published.settings, now);
      return {
        status: 200,
        json: {
          now: { ...serializeTrial(trial), ...shownSettings(published) },
          points: points.map(({ at, value, verdict }) => [
            Math.round(at / 1000),
            isComposite ? observedFor(verdict) : value,
          ]),
          conditions: (points[0]?.observed ?? []).map((_, index) =>
            points.map(({ observed }) => observed[index] ?? null),
          ),
          firings: firings.map(({ firedAt, value, resolvedAt }) => ({
            fired_at: formatTime(firedAt),
            value,
            resolved_at: formatNullableTime(resolvedAt),
          })),
          step_seconds: step / 1_000_000,
        },
      };
    }),
  ];
}

function observedFor(verdict: 'met' | 'not_met' | 'no_data'): number | null {
  return { met: 1, not_met: 0, no_data: null }[verdict];
}
