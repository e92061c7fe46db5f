import { Type, type Static } from 'typebox';
import type { ShownCondition } from '../../../alerting/shown-condition.js';
import type { Route } from '../../../component/http.js';
import type { Operation } from '../../../component/operation.js';
import { validationProblem } from '../../../http/field-errors.js';
import { parseTime } from '../../../signal/time.js';
import type { AlertEvent, AlertEventFilter } from '../../../storage/contracts/alerts.js';
import type { ApiContext } from '../../support/api-context.js';
import { count, nullable, time, uuid } from '../../support/fields.js';
import { pageParameters, pageRange, pageSchema, serializePage } from '../../support/paging.js';
import { firingSchema, serializeFiring } from './alert-firings.js';
import { alertType } from './alert-schema.js';
import { triedConditionSchema, windowSchema } from './alert-test.js';

const eventSchema = Type.Object(
  {
    ...firingSchema.properties,
    alert_id: uuid(),
    name: nullable(Type.String({ description: 'Current name of the alert.' })),
    type: alertType,
    target: Type.Object(
      {
        kind: Type.Enum(['agent', 'all_agents', 'service']),
        id: Type.String({
          description: 'The UUID of an agent, or the name of a service; empty for all agents.',
        }),
        name: Type.String(),
      },
      { title: 'AlertTarget' },
    ),
    window: nullable(windowSchema),
    sample_count: nullable(count('Runs, spans or series that were evaluated.')),
    conditions: Type.Array(triedConditionSchema, {
      description: 'Results of the conditions. One, unless the alert is `composite`.',
    }),
    trace_ids: Type.Array(uuid(), {
      description:
        'Up to 20 runs that best explain the firing: failed, slowest or most expensive first. Empty for inactivity and metrics, and for firings before this was recorded.',
    }),
  },
  { title: 'FiredAlert' },
);

export const listAllEvents = {
  id: 'listFiredAlerts',
  method: 'GET',
  path: '/api/v1/dashboard/alert-events',
  tag: 'alerts',
  summary: 'List firings of all alerts, newest first, with the runs that explain them',
  access: 'read',
  query: Type.Object({
    start_time: Type.Optional(time('Fired at or after.')),
    end_time: Type.Optional(time('Fired before.')),
    alert_id: Type.Optional(uuid('Firings of this alert.')),
    agent_id: Type.Optional(uuid('Firings of alerts about this agent.')),
    trace_id: Type.Optional(uuid('Firings explained by this trace.')),
    ...pageParameters,
  }),
  responses: { 200: pageSchema(eventSchema, 'FiredAlertPage') },
} satisfies Operation;

/** `/dashboard/alert-events` */
export function alertEventRoutes({
  routes,
  control: { alerts },
}: Pick<ApiContext, 'routes' | 'control'>): readonly Route[] {
  return [
    routes.route(listAllEvents).to(async ({ identity, query }) => {
      const page = await alerts.listEvents(identity.userId, filterOf(query), pageRange(query));
      return { status: 200, json: serializePage(page.items.map(serializeEvent), page.count, query) };
    }),
  ];
}

/** @throws HttpProblem 422 if the time range is empty */
function filterOf({
  start_time,
  end_time,
  alert_id,
  agent_id,
  trace_id,
}: Static<(typeof listAllEvents)['query']>): AlertEventFilter {
  const from = start_time === undefined ? undefined : parseTime(start_time);
  const to = end_time === undefined ? undefined : parseTime(end_time);
  if (from !== undefined && to !== undefined && from >= to)
    throw validationProblem('query', [{ field: 'start_time', message: 'must be before end_time' }]);
  return {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(alert_id === undefined ? {} : { alertId: alert_id }),
    ...(agent_id === undefined ? {} : { agentId: agent_id }),
    ...(trace_id === undefined ? {} : { traceId: trace_id }),
  };
}

/** Fields of the event `alert.fired`; older versions may have fewer. */
interface NotifiedTarget {
  readonly window?: { readonly from: string; readonly to: string };
  readonly sample_count?: number;
  readonly conditions?: readonly ShownCondition[];
}

function serializeEvent(event: AlertEvent): Static<typeof eventSchema> {
  const { data } = JSON.parse(event.body) as { readonly data: NotifiedTarget };
  return {
    ...serializeFiring(event),
    alert_id: event.alert_id,
    name: event.name,
    type: event.type,
    target: targetOf(event),
    window: data.window ?? null,
    sample_count: data.sample_count ?? null,
    conditions: [...(data.conditions ?? [])],
    trace_ids: [...event.trace_ids],
  };
}

function targetOf({
  agent_id,
  agent_name,
  target_service: service,
}: AlertEvent): Static<typeof eventSchema>['target'] {
  if (agent_id !== null) return { kind: 'agent', id: agent_id, name: agent_name ?? '' };
  return service === null
    ? { kind: 'all_agents', id: '', name: 'all agents' }
    : { kind: 'service', id: service, name: service };
}
