import { Type, type Static } from 'typebox';
import type { HttpProblem, Route } from '../../../component/http.js';
import type { Operation } from '../../../component/operation.js';
import { formatTime } from '../../../signal/time.js';
import {
  DELIVERY_STATUSES,
  type DeliveryAttempt,
  type DeliveryDetail,
  type DeliveryQueue,
  type DeliverySummary,
} from '../../../storage/contracts/deliveries.js';
import type { Organizations } from '../../../storage/contracts/accounts.js';
import { removedMeanwhile } from '../../../storage/contracts/errors.js';
import type { ApiContext } from '../../support/api-context.js';
import { count, jsonObject, nullable, time, uuid } from '../../support/fields.js';
import { notFound } from '../../support/not-found.js';
import { requireRole } from '../../support/organization-role.js';
import { longList, pagesFrom } from '../../support/long-body.js';
import { pageParameters, pageRange, pageSchema, serializePage } from '../../support/paging.js';
import { ENDPOINT, endpointParams, noEndpoint, organizationParams, WEBHOOKS } from './webhook-places.js';

const DELIVERY = `${WEBHOOKS}/deliveries/{delivery_id}`;

const deliveryParams = Type.Object({ ...organizationParams.properties, delivery_id: uuid() });

/** The status of a delivery. */
export const statusSchema = Type.Enum(DELIVERY_STATUSES, {
  description:
    '`pending`: an attempt will follow, or waits for the endpoint to be active; `success`: an attempt was answered with 2xx; `failed`: no attempt will follow.',
});

/** A delivery in a list. */
export const summarySchema = Type.Object(
  {
    id: uuid(),
    event_type: Type.String(),
    status: statusSchema,
    created_at: time('When it was queued.'),
    attempt_count: count('Number of attempts.'),
  },
  { title: 'WebhookDelivery' },
);

const attemptSchema = Type.Object(
  {
    attempt_number: Type.Integer({ minimum: 1 }),
    http_status_code: nullable(Type.Integer({ description: 'Null: no response, or not yet.' })),
    response_body: Type.String({ description: 'The first 16 KiB of the answer.' }),
    duration_ms: nullable(
      Type.Number({ description: 'Null: still running, or the daemon ended meanwhile.' }),
    ),
    attempted_at: time(),
    error_message: nullable(Type.String({ description: 'Error, if not clear from the status.' })),
  },
  { title: 'WebhookAttempt' },
);

const detailSchema = Type.Object(
  {
    id: uuid(),
    event_type: Type.String(),
    status: statusSchema,
    request_body: jsonObject('What is sent: every attempt has the same bytes.'),
    created_at: time('When it was queued.'),
    attempts: Type.Array(attemptSchema, { description: 'In their order.' }),
  },
  { title: 'WebhookDeliveryDetail' },
);

const listDeliveries = {
  id: 'listWebhookDeliveries',
  method: 'GET',
  path: `${ENDPOINT}/deliveries`,
  tag: 'webhooks',
  summary: 'List deliveries to a webhook endpoint, newest first',
  access: 'read',
  params: endpointParams,
  query: Type.Object(pageParameters),
  responses: { 200: pageSchema(summarySchema, 'WebhookDeliveryPage') },
  errors: [404],
} satisfies Operation;

const readDelivery = {
  id: 'readWebhookDelivery',
  method: 'GET',
  path: DELIVERY,
  tag: 'webhooks',
  summary: 'Get a webhook delivery with its body and all its attempts',
  access: 'read',
  params: deliveryParams,
  responses: { 200: detailSchema },
  errors: [404],
} satisfies Operation;

const retryDelivery = {
  id: 'retryWebhookDelivery',
  method: 'POST',
  path: `${DELIVERY}/retry`,
  tag: 'webhooks',
  summary: 'Retry a webhook delivery',
  description:
    'Works for any status and adds to scheduled attempts. Nothing is sent while the endpoint is paused.',
  access: 'manage',
  audit: ['delivery.retried'],
  params: deliveryParams,
  responses: {
    202: Type.Object({ queued: Type.Literal(true), delivery_id: uuid() }, { title: 'QueuedWebhookRetry' }),
  },
  errors: [404],
} satisfies Operation;

interface ShownFrom extends Pick<ApiContext, 'routes' | 'audit'> {
  readonly control: {
    readonly organizations: Organizations;
    readonly deliveries: Pick<DeliveryQueue, 'list' | 'read' | 'readAttempts' | 'retry'>;
  };
}

/** Routes for deliveries to webhook endpoints: any member of the organization may read and retry them. */
export function webhookDeliveryRoutes({
  routes,
  control: { organizations, deliveries },
  audit,
}: ShownFrom): readonly Route[] {
  return [
    routes.route(listDeliveries).to(async ({ identity, params: { org_slug: slug, endpoint_id }, query }) => {
      await requireRole(organizations, identity, slug, 'member');
      const page = await deliveries.list(slug, endpoint_id, pageRange(query));
      if (!page) throw noEndpoint();
      return { status: 200, json: serializePage(page.items.map(serializeListedDelivery), page.count, query) };
    }),
    routes.route(readDelivery).to(async ({ identity, params: { org_slug: slug, delivery_id } }) => {
      await requireRole(organizations, identity, slug, 'member');
      const delivery = await deliveries.read(slug, delivery_id);
      if (!delivery) throw noDelivery();
      const further = delivery.hasMoreAttempts ? furtherAttempts(deliveries, slug, delivery) : undefined;
      return { status: 200, encoded: await serializeDetail(delivery, further) };
    }),
    routes.route(retryDelivery).to(async ({ params: { org_slug: slug, delivery_id }, ...by }) => {
      await requireRole(organizations, by.identity, slug, 'member');
      if (!(await deliveries.retry(slug, delivery_id))) throw noDelivery();
      audit(by, 'delivery.retried', { slug, delivery_id });
      return { status: 202, json: { queued: true, delivery_id } };
    }),
  ];
}

/** Reads the remaining attempts of a delivery. If the delivery is removed meanwhile, this must fail rather than end as if complete. */
async function* furtherAttempts(
  deliveries: Pick<DeliveryQueue, 'readAttempts'>,
  slug: string,
  { id, attempts }: DeliveryDetail,
): AsyncGenerator<readonly DeliveryAttempt[]> {
  for (let last = attempts.at(-1)?.attempt_number ?? 0; ;) {
    const some = await deliveries.readAttempts(slug, id, last);
    if (some === null) throw removedMeanwhile({ what: 'delivery', list: 'attempts' });
    const newest = some.at(-1);
    if (newest === undefined) return;
    yield some;
    last = newest.attempt_number;
  }
}

function noDelivery(): HttpProblem {
  return notFound('webhook delivery');
}

/** A delivery in a list, as the API prints it. */
export function serializeListedDelivery(delivery: DeliverySummary): Static<typeof summarySchema> {
  const { id, event_type, status, created_at, attempt_count } = delivery;
  return { id, event_type, status, created_at: formatTime(created_at), attempt_count };
}

/** Inserts the body unchanged: parsing and reserializing it would change texts such as `1.0`. */
async function serializeDetail(
  delivery: DeliveryDetail,
  further: AsyncIterable<readonly DeliveryAttempt[]> | undefined,
): Promise<Uint8Array | AsyncIterable<Uint8Array>> {
  const { id, event_type, status, body, created_at, attempts } = delivery;
  const head = JSON.stringify({ id, event_type, status });
  const queued = JSON.stringify({ created_at: formatTime(created_at) });
  return await longList(
    `${head.slice(0, -1)},"request_body":${body},${queued.slice(1, -1)},"attempts":[`,
    pagesFrom(attempts, further),
    serializeAttempt,
    ']}',
  );
}

function serializeAttempt(attempt: DeliveryAttempt): Static<typeof attemptSchema> {
  const { attempt_number, http_status_code, response_body, duration_ms, attempted_at, error_message } =
    attempt;
  return {
    attempt_number,
    http_status_code,
    response_body,
    duration_ms,
    attempted_at: formatTime(attempted_at),
    error_message,
  };
}
