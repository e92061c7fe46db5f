import { Type, type Static } from 'typebox';
import type { Route } from '../../../component/http.js';
import type { Operation } from '../../../component/operation.js';
import { formatTime } from '../../../signal/time.js';
import {
  type AlertFiring,
  type AlertNotification,
  NOTIFICATION_STATUSES,
  type NotificationAttempt,
} from '../../../storage/contracts/alerts.js';
import { ALERT, alertParams, noAlert } from './alert-places.js';
import type { ApiContext } from '../../support/api-context.js';
import { nullable, formatNullableTime, time, uuid } from '../../support/fields.js';
import { pageParameters, pageRange, pageSchema, serializePage } from '../../support/paging.js';

const attemptSchema = Type.Object(
  {
    attempt_number: Type.Integer({ minimum: 1 }),
    attempted_at: time(),
    status_code: nullable(Type.Integer({ description: 'HTTP or SMTP status. Null: no response.' })),
    duration_ms: Type.Number(),
    error_message: nullable(Type.String({ description: 'Null after success.' })),
  },
  { title: 'NotificationAttempt' },
);

const notificationSchema = Type.Object(
  {
    channel: Type.Enum(['email', 'webhook']),
    status: Type.Enum(NOTIFICATION_STATUSES, {
      description:
        '`pending`: an attempt will follow; `sent`; `failed`: no attempt will follow; `skipped`: none was made; `suppressed`: none was made, because 60 notices of the alert were sent within an hour.',
    }),
    detail: nullable(
      Type.String({
        description:
          'Reason for skipping (`smtp_not_configured`, `too_many_emails`, `too_many_notices`), or result of the last attempt.',
      }),
    ),
    attempts: Type.Array(attemptSchema, { description: 'In order.' }),
  },
  { title: 'AlertNotification' },
);

const firingFields = {
  id: uuid(),
  fired_at: time(),
  value: nullable(
    Type.Number({ description: 'Measured value, in the unit of the threshold. Null for `composite`.' }),
  ),
  threshold: Type.Number({ description: 'Threshold at the time of the firing.' }),
  resolved_at: nullable(time('End of the incident. Null: not yet, or unknown.')),
  is_test: Type.Boolean({ description: 'Whether it was requested by `sendAlertTest`.' }),
  notifications: Type.Array(notificationSchema),
};

/** A firing of any alert. */
export const firingSchema = Type.Object(firingFields, { title: 'AlertEvent' });

const listAlertEvents = {
  id: 'listAlertEvents',
  method: 'GET',
  path: `${ALERT}/events`,
  tag: 'alerts',
  summary: 'List firings of an alert, newest first, with their notices',
  access: 'read',
  params: alertParams,
  query: Type.Object(pageParameters),
  responses: { 200: pageSchema(firingSchema, 'AlertEventPage') },
  errors: [404],
} satisfies Operation;

/** The route that lists firings of one alert. */
export function alertFiringRoutes({
  routes,
  control: { alerts },
}: Pick<ApiContext, 'routes' | 'control'>): readonly Route[] {
  return [
    routes.route(listAlertEvents).to(async ({ identity, params, query }) => {
      const page = await alerts.listFirings(identity.userId, params.alert_id, pageRange(query));
      if (!page) throw noAlert();
      return { status: 200, json: serializePage(page.items.map(serializeFiring), page.count, query) };
    }),
  ];
}

/** A firing in its API form. */
export function serializeFiring(firing: AlertFiring): Static<typeof firingSchema> {
  return {
    id: firing.id,
    fired_at: formatTime(firing.fired_at),
    value: firing.value,
    threshold: firing.threshold,
    resolved_at: formatNullableTime(firing.resolved_at),
    is_test: firing.is_test,
    notifications: firing.notifications.map(serializeNotification),
  };
}

function serializeNotification(notification: AlertNotification): Static<typeof notificationSchema> {
  const { channel, status, detail, attempts } = notification;
  return { channel, status, detail, attempts: attempts.map(serializeAttempt) };
}

function serializeAttempt(attempt: NotificationAttempt): Static<typeof attemptSchema> {
  const { attempt_number, attempted_at, status_code, duration_ms, error_message } = attempt;
  return { attempt_number, attempted_at: formatTime(attempted_at), status_code, duration_ms, error_message };
}
