import { Type } from 'typebox';
import { HttpProblem, type Route } from '../../../component/http.js';
import type { Operation } from '../../../component/operation.js';
import { validationProblem } from '../../../http/field-errors.js';
import { uuidV7 } from '../../../signal/ids.js';
import type { Alert } from '../../../storage/contracts/alerts.js';
import { alertChangeSchema, checkChange, lacksUrl, newAlertSchema, readNewAlert } from './alert-body.js';
import { ALERT, alertParams, ALERTS, noAlert } from './alert-places.js';
import { alertSchema, serializeAlert } from './alert-schema.js';
import { ROW_BYTES } from '../../../storage/contracts/telemetry-writer.js';
import type { ApiContext } from '../../support/api-context.js';
import { targetHost } from '../../support/audit.js';
import { longArray } from '../../support/long-body.js';
import { notFound } from '../../support/not-found.js';

/** Maximum per user: all of them are evaluated every half minute. */
const MAX_ALERTS = 1000;

export const listAlerts = {
  id: 'listAlerts',
  method: 'GET',
  path: ALERTS,
  tag: 'alerts',
  summary: 'List alerts, newest first',
  access: 'read',
  responses: { 200: Type.Array(alertSchema) },
} satisfies Operation;

const createAlert = {
  id: 'createAlert',
  method: 'POST',
  path: ALERTS,
  tag: 'alerts',
  summary: 'Create an alert for an agent, all agents or a service',
  description: `Returns 404 if the agent does not exist, and 409 if the user already has ${MAX_ALERTS} alerts.`,
  access: 'manage',
  audit: ['alert.created'],
  body: newAlertSchema,
  responses: { 201: alertSchema },
  errors: [404, 409],
} satisfies Operation;

const readAlert = {
  id: 'readAlert',
  method: 'GET',
  path: ALERT,
  tag: 'alerts',
  summary: 'Get an alert',
  access: 'read',
  params: alertParams,
  responses: { 200: alertSchema },
  errors: [404],
} satisfies Operation;

const updateAlert = {
  id: 'updateAlert',
  method: 'PATCH',
  path: ALERT,
  tag: 'alerts',
  summary: 'Change, pause or reactivate an alert',
  description:
    'Absent fields are unchanged; target, type and conditions cannot be changed. The alert is evaluated immediately, and its cooldown continues.',
  access: 'manage',
  audit: ['alert.changed'],
  params: alertParams,
  body: alertChangeSchema,
  responses: { 200: alertSchema },
  errors: [404],
} satisfies Operation;

const deleteAlert = {
  id: 'deleteAlert',
  method: 'DELETE',
  path: ALERT,
  tag: 'alerts',
  summary: 'Delete an alert with its firings permanently',
  access: 'manage',
  audit: ['alert.deleted'],
  params: alertParams,
  responses: { 204: null },
  errors: [404],
} satisfies Operation;

/** The routes under `/alerts` about the rules themselves. */
export function alertRoutes({
  routes,
  control: { alerts },
  telemetry,
  targets,
  audit,
  takeStorage,
  clock,
}: Pick<
  ApiContext<'agents'>,
  'routes' | 'control' | 'telemetry' | 'targets' | 'audit' | 'takeStorage' | 'clock'
>): readonly Route[] {
  /** @throws HttpProblem 404 if the user has no such agent */
  const nameOf = async (userId: string, agentId: string, abort: AbortSignal): Promise<string> => {
    const agent = await telemetry.agents.read(userId, agentId, abort);
    if (agent === null) throw notFound('agent');
    return agent.name;
  };
  return [
    routes.route(listAlerts).to(async ({ identity }) => ({
      status: 200,
      encoded: await longArray(await alerts.list(identity.userId), (rule) =>
        serializeAlert(rule, identity.scopes),
      ),
    })),
    routes.route(createAlert).to(async ({ body, request, identity, address }) => {
      const settings = readNewAlert(body, await targets());
      await takeStorage(identity.userId, ROW_BYTES.alert);
      const agent_name =
        settings.agent_id === null ? null : await nameOf(identity.userId, settings.agent_id, request.abort);
      const now = clock.now();
      const alert: Alert = {
        id: uuidV7(Math.floor(now / 1000)),
        ...settings,
        agent_name,
        is_active: true,
        last_fired_at: null,
        created_at: now,
      };
      const outcome = await alerts.create(identity.userId, alert, MAX_ALERTS);
      if (outcome === 'unknown') throw notFound('user');
      if (outcome === 'full') throw tooManyAlerts();
      const { id: alert_id, type, channel, webhook_url: url } = alert;
      const host = url === null ? {} : { host: targetHost(url) };
      audit({ identity, address }, 'alert.created', { alert_id, type, channel, ...host });
      return { status: 201, json: serializeAlert({ alert, incident: null }, identity.scopes) };
    }),
    routes.route(readAlert).to(async ({ identity, params }) => {
      const rule = await alerts.read(identity.userId, params.alert_id);
      if (!rule) throw noAlert();
      return { status: 200, json: serializeAlert(rule, identity.scopes) };
    }),
    routes.route(updateAlert).to(async ({ identity, address, params, body }) => {
      const known = await alerts.read(identity.userId, params.alert_id);
      if (!known) throw noAlert();
      checkChange(body, known.alert.type, await targets());
      const changed = await alerts.update(identity.userId, params.alert_id, body, clock.now());
      if (changed === 'lacks_webhook_url') throw validationProblem('body', [lacksUrl(body.channel)]);
      if (!changed) throw noAlert();
      const { webhook_url: url, ...others } = body;
      const host = url === undefined ? {} : { host: targetHost(url) };
      audit({ identity, address }, 'alert.changed', { ...params, ...others, ...host });
      return { status: 200, json: serializeAlert(changed, identity.scopes) };
    }),
    routes.route(deleteAlert).to(async ({ identity, address, params }) => {
      if (!(await alerts.delete(identity.userId, params.alert_id))) throw noAlert();
      audit({ identity, address }, 'alert.deleted', { ...params });
      return { status: 204 };
    }),
  ];
}

function tooManyAlerts(): HttpProblem {
  return new HttpProblem(
    409,
    'conflict',
    `There are ${MAX_ALERTS} alerts, which is the limit for a user: delete one first.`,
  );
}
