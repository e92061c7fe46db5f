import { Type, type Static } from 'typebox';
import { HttpProblem, type Route } from '../../../component/http.js';
import type { Operation } from '../../../component/operation.js';
import { invariant } from '../../../signal/checked.js';
import { parseTime } from '../../../signal/time.js';
import type {
  ChangedDelivery,
  DeliveryFilter,
  DeliveryCursor,
  ListedDelivery,
} from '../../../storage/contracts/deliveries.js';
import { SUBJECT_KINDS } from '../../../storage/contracts/events.js';
import type { ApiContext } from '../../support/api-context.js';
import { count, nullable, time, uuid } from '../../support/fields.js';
import { requireRole } from '../../support/organization-role.js';
import { pageParameters } from '../../support/paging.js';
import { encodeMomentCursor, decodeMomentCursor } from '../../support/moment-cursor.js';
import { serializeListedDelivery, statusSchema, summarySchema } from './webhook-deliveries.js';
import { noEndpoint, organizationParams, WEBHOOKS } from './webhook-places.js';

const listedSchema = Type.Object(
  {
    ...summarySchema.properties,
    endpoint_id: uuid(),
    subject: nullable(
      Type.Object(
        { kind: Type.Enum(SUBJECT_KINDS), id: Type.String() },
        { title: 'EventSubject', description: 'What the event is about. Null: that is not known.' },
      ),
    ),
  },
  { title: 'ListedDelivery' },
);

const DELIVERIES = `${WEBHOOKS}/deliveries`;

const listAllDeliveries = {
  id: 'listOrganizationDeliveries',
  method: 'GET',
  path: DELIVERIES,
  tag: 'webhooks',
  summary: 'List deliveries to all webhook endpoints of an organization, newest first',
  description:
    'Only so many deliveries are looked at for an answer: with a filter there may be few items, or none, and yet a `next_cursor` by which to go on.',
  access: 'read',
  params: organizationParams,
  query: Type.Object({
    status: Type.Optional(statusSchema),
    event_type: Type.Optional(Type.String({ maxLength: 100 })),
    endpoint_id: Type.Optional(uuid()),
    trace_id: Type.Optional(
      uuid('Those whose event is about this trace, or about an alert that fired for it.'),
    ),
    page_size: pageParameters.page_size,
    cursor: Type.Optional(
      Type.String({ maxLength: 200, description: 'The `next_cursor` of an answer to the same list.' }),
    ),
  }),
  responses: {
    200: Type.Object(
      {
        items: Type.Array(listedSchema),
        next_cursor: nullable(
          Type.String({ description: 'Cursor of the next page; null on the last page.' }),
        ),
      },
      { title: 'ListedDeliveryPage' },
    ),
  },
  errors: [404],
} satisfies Operation;

/** Maximum number of deliveries retried by one request. */
const MOST_RETRIED = 10_000;

const retryDeliveries = {
  id: 'retryWebhookDeliveries',
  method: 'POST',
  path: `${DELIVERIES}/retry`,
  tag: 'webhooks',
  summary: 'Retry many deliveries to a webhook endpoint, for example after an outage',
  description: `Retries up to ${MOST_RETRIED} deliveries, the oldest first; repeat the request if \`has_more\` is true. Retries that are already queued are skipped, so repeating a request does not send a delivery twice. Deliveries of all organizations are sent in turn. A paused endpoint is a conflict: activate it first.`,
  access: 'manage',
  audit: ['deliveries.retried'],
  params: organizationParams,
  body: Type.Object(
    {
      endpoint_id: uuid(),
      status: Type.Enum(['failed', 'pending'], {
        default: 'failed',
        description: '`failed`: retry failed deliveries; `pending`: attempt waiting deliveries now.',
      }),
      since: time('Those that were queued at or after.'),
    },
    { title: 'WebhookRetry', additionalProperties: false },
  ),
  responses: {
    202: Type.Object(
      { queued: count('Number of deliveries to retry.'), has_more: Type.Boolean() },
      { title: 'QueuedWebhookRetries' },
    ),
  },
  errors: [404, 409],
} satisfies Operation;

/** Routes for deliveries to all webhook endpoints of an organization: any member may read and retry them. */
export function organizationDeliveryRoutes({
  routes,
  control: { organizations, deliveries },
  audit,
}: Pick<ApiContext, 'routes' | 'control' | 'audit'>): readonly Route[] {
  return [
    routes.route(listAllDeliveries).to(async ({ identity, params: { org_slug: slug }, query }) => {
      await requireRole(organizations, identity, slug, 'member');
      const after = query.cursor === undefined ? null : placeOf(query.cursor);
      const page = await deliveries.follow(slug, filterOf(query), { after, limit: query.page_size });
      return {
        status: 200,
        json: {
          items: page.items.map(serializeListed),
          next_cursor: page.next && encodeMomentCursor({ at: page.next.created_at, id: page.next.id }),
        },
      };
    }),
    routes.route(retryDeliveries).to(async ({ params: { org_slug: slug }, body, ...by }) => {
      await requireRole(organizations, by.identity, slug, 'member');
      const { endpoint_id, status, since } = body;
      const from = invariant(parseTime(since), 'time that was checked');
      const wanted = { endpointId: endpoint_id, status, since: from, limit: MOST_RETRIED };
      const outcome = await deliveries.retrySome(slug, wanted);
      if (outcome === null) throw noEndpoint();
      if (outcome === 'paused') throw isPaused();
      audit(by, 'deliveries.retried', { slug, endpoint_id, queued: outcome.queued });
      return { status: 202, json: { queued: outcome.queued, has_more: outcome.hasMore } };
    }),
  ];
}

function serializeListed({ endpoint_id, subject, ...delivery }: ListedDelivery) {
  return { ...serializeListedDelivery(delivery), endpoint_id, subject };
}

/** As streams show one, which are of several organizations. */
export function serializeChanged({ org_slug, ...delivery }: ChangedDelivery) {
  return { org_slug, ...serializeListed(delivery) };
}

function filterOf({
  status,
  event_type,
  endpoint_id,
  trace_id,
}: Static<(typeof listAllDeliveries)['query']>): DeliveryFilter {
  return {
    ...(status === undefined ? {} : { status }),
    ...(event_type === undefined ? {} : { eventType: event_type }),
    ...(endpoint_id === undefined ? {} : { endpointId: endpoint_id }),
    ...(trace_id === undefined ? {} : { traceId: trace_id }),
  };
}

function isPaused(): HttpProblem {
  return new HttpProblem(409, 'conflict', 'The endpoint is paused: activate it first.');
}

function placeOf(cursor: string): DeliveryCursor {
  const { at, id } = decodeMomentCursor(cursor);
  return { created_at: at, id };
}
