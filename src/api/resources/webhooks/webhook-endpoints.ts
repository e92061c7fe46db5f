import { Type, type Static } from 'typebox';
import { grants } from '../../../auth/scopes.js';
import { HttpProblem, type Route } from '../../../component/http.js';
import type { Operation } from '../../../component/operation.js';
import type { AddressPolicy } from '../../../delivery/senders/webhook/address-policy.js';
import { generateSecret } from '../../../delivery/senders/webhook/signature.js';
import { validationProblem } from '../../../http/field-errors.js';
import { uuidV7 } from '../../../signal/ids.js';
import { formatTime } from '../../../signal/time.js';
import { maskTarget, sealOwner, type WebhookEndpoint } from '../../../storage/contracts/deliveries.js';
import type { ApiContext } from '../../support/api-context.js';
import { targetHost } from '../../support/audit.js';
import { count, time, uuid } from '../../support/fields.js';
import { noOrganization, requireRole } from '../../support/organization-role.js';
import { targetFault, targetUrl } from '../../support/target-url.js';
import { ENDPOINT, endpointParams, ENDPOINTS, noEndpoint, organizationParams } from './webhook-places.js';

const MAX_NAME_LENGTH = 200;
const MAX_EVENT_TYPES = 100;
const MAX_EVENT_TYPE_LENGTH = 100;
/** Each event may become this many deliveries. */
const MAX_ENDPOINTS = 100;

const name = Type.String({ maxLength: MAX_NAME_LENGTH });
const eventTypes = Type.Array(
  Type.String({ pattern: '^(\\*|[a-z0-9_.]+)$', maxLength: MAX_EVENT_TYPE_LENGTH }),
  {
    minItems: 1,
    maxItems: MAX_EVENT_TYPES,
    uniqueItems: true,
    description: 'Event types such as `trace.failed`; `*` for all.',
  },
);
const secret = Type.String({
  description:
    'Secret that signs requests to the endpoint: `whsec_` and the base64 of 32 bytes. Shown in this response only.',
});

const createdFields = {
  id: uuid(),
  url: Type.String({
    description:
      'Complete for admins of the organization with the scope `manage`. Others see `https://hooks.example.com/…`, because path and query often contain a token.',
  }),
  name: Type.String(),
  event_types: Type.Array(Type.String()),
  is_active: Type.Boolean({ description: 'Whether events are sent to it.' }),
  created_at: time(),
};

const endpointSchema = Type.Object(
  {
    ...createdFields,
    consecutive_failures: count('Failed attempts since the last success; 0 again when it is activated.'),
  },
  { title: 'WebhookEndpoint' },
);

const createdSchema = Type.Object({ ...createdFields, secret }, { title: 'CreatedWebhookEndpoint' });

const createEndpoint = {
  id: 'createWebhookEndpoint',
  method: 'POST',
  path: ENDPOINTS,
  tag: 'webhooks',
  summary: 'Create a webhook endpoint',
  description: `Needs the role \`admin\` in the organization, which can have ${MAX_ENDPOINTS} endpoints; one more is a conflict.`,
  access: 'manage',
  audit: ['endpoint.created'],
  params: organizationParams,
  body: Type.Object(
    {
      url: targetUrl,
      name: Type.String({ maxLength: MAX_NAME_LENGTH, default: '' }),
      event_types: eventTypes,
    },
    { title: 'NewWebhookEndpoint', additionalProperties: false },
  ),
  responses: { 201: createdSchema },
  errors: [404, 409],
} satisfies Operation;

const listEndpoints = {
  id: 'listWebhookEndpoints',
  method: 'GET',
  path: ENDPOINTS,
  tag: 'webhooks',
  summary: 'List webhook endpoints of an organization, newest first',
  access: 'read',
  params: organizationParams,
  responses: { 200: Type.Array(endpointSchema) },
  errors: [404],
} satisfies Operation;

const updateEndpoint = {
  id: 'updateWebhookEndpoint',
  method: 'PATCH',
  path: ENDPOINT,
  tag: 'webhooks',
  summary: 'Change, pause or reactivate a webhook endpoint',
  description:
    'Absent fields are unchanged. When a paused endpoint is activated, held deliveries that are due are spread over a minute; those queued more than 96 hours ago have failed. Needs the role `admin` in the organization.',
  access: 'manage',
  audit: ['endpoint.changed'],
  params: endpointParams,
  body: Type.Object(
    {
      url: Type.Optional(targetUrl),
      name: Type.Optional(name),
      event_types: Type.Optional(eventTypes),
      is_active: Type.Optional(Type.Boolean()),
    },
    { title: 'WebhookEndpointChange', additionalProperties: false },
  ),
  responses: { 200: endpointSchema },
  errors: [404],
} satisfies Operation;

const deleteEndpoint = {
  id: 'deleteWebhookEndpoint',
  method: 'DELETE',
  path: ENDPOINT,
  tag: 'webhooks',
  summary: 'Delete a webhook endpoint permanently',
  description: 'Needs the role `admin` in the organization.',
  access: 'manage',
  audit: ['endpoint.deleted'],
  params: endpointParams,
  responses: { 204: null },
  errors: [404],
} satisfies Operation;

const rotateSecret = {
  id: 'rotateWebhookSecret',
  method: 'POST',
  path: `${ENDPOINT}/rotate-secret`,
  tag: 'webhooks',
  summary: 'Rotate the secret of a webhook endpoint',
  description:
    'The previous secret is no longer used, so a request in flight fails verification. Needs the role `admin` in the organization.',
  access: 'manage',
  audit: ['webhook_secret.rotated'],
  params: endpointParams,
  responses: { 200: Type.Object({ id: uuid(), secret }, { title: 'RotatedWebhookSecret' }) },
  errors: [404],
} satisfies Operation;

const testEndpoint = {
  id: 'testWebhookEndpoint',
  method: 'POST',
  path: `${ENDPOINT}/test`,
  tag: 'webhooks',
  summary: 'Send an event of type `webhook.test` to a webhook endpoint',
  description:
    'Sent regardless of its subscriptions. The delivery is listed when this responds, and shows the result. A paused endpoint is a conflict. Needs the role `admin` in the organization.',
  access: 'manage',
  audit: { none: 'Changes nothing; the deliveries of the endpoint list the test.' },
  params: endpointParams,
  responses: {
    202: Type.Object({ queued: Type.Literal(true), delivery_id: uuid() }, { title: 'QueuedWebhookTest' }),
  },
  errors: [404, 409],
} satisfies Operation;

/** The routes under `/org/{org_slug}/webhooks/endpoints` about the endpoints themselves. */
export function webhookEndpointRoutes({
  routes,
  control: { endpoints, organizations },
  targets,
  secrets,
  audit,
  clock,
}: Pick<ApiContext, 'routes' | 'control' | 'targets' | 'secrets' | 'audit' | 'clock'>): readonly Route[] {
  return [
    routes.route(createEndpoint).to(async ({ params: { org_slug: slug }, body, ...by }) => {
      await requireRole(organizations, by.identity, slug, 'admin');
      refuseTarget(body.url, await targets());
      const now = clock.now();
      const endpoint: WebhookEndpoint = {
        id: uuidV7(Math.floor(now / 1000)),
        ...body,
        is_active: true,
        consecutive_failures: 0,
        created_at: now,
      };
      const made = await makeSecret(endpoint.id);
      const stored = { ...endpoint, sealed_secret: made.sealed };
      const outcome = await endpoints.create(slug, stored, MAX_ENDPOINTS);
      if (outcome === 'unknown') throw noOrganization();
      if (outcome === 'full') throw tooManyEndpoints();
      audit(by, 'endpoint.created', { slug, endpoint_id: endpoint.id, host: targetHost(endpoint.url) });
      return { status: 201, json: { ...serializeCreated(endpoint), secret: made.secret } };
    }),
    routes.route(listEndpoints).to(async ({ identity, params: { org_slug: slug } }) => {
      const role = await requireRole(organizations, identity, slug, 'member');
      const maySee = role === 'admin' && grants(identity.scopes, 'manage');
      const shown = (endpoint: WebhookEndpoint): WebhookEndpoint =>
        maySee ? endpoint : { ...endpoint, url: maskTarget(endpoint.url) };
      const json = (await endpoints.list(slug)).map((endpoint) => serializeEndpoint(shown(endpoint)));
      return { status: 200, json };
    }),
    routes.route(updateEndpoint).to(async ({ params: { org_slug: slug, endpoint_id }, body, ...by }) => {
      await requireRole(organizations, by.identity, slug, 'admin');
      if (body.url !== undefined) refuseTarget(body.url, await targets());
      const endpoint = await endpoints.update(slug, endpoint_id, body, clock.now());
      if (!endpoint) throw noEndpoint();
      const { url, ...others } = body;
      const host = url === undefined ? {} : { host: targetHost(url) };
      audit(by, 'endpoint.changed', { slug, endpoint_id, ...others, ...host });
      return { status: 200, json: serializeEndpoint(endpoint) };
    }),
    routes.route(deleteEndpoint).to(async ({ params: { org_slug: slug, endpoint_id }, ...by }) => {
      await requireRole(organizations, by.identity, slug, 'admin');
      if (!(await endpoints.delete(slug, endpoint_id))) throw noEndpoint();
      audit(by, 'endpoint.deleted', { slug, endpoint_id });
      return { status: 204 };
    }),
    routes.route(rotateSecret).to(async ({ params: { org_slug: slug, endpoint_id }, ...by }) => {
      await requireRole(organizations, by.identity, slug, 'admin');
      const { secret: fresh, sealed } = await makeSecret(endpoint_id);
      if (!(await endpoints.rotateSecret(slug, endpoint_id, sealed))) throw noEndpoint();
      audit(by, 'webhook_secret.rotated', { slug, endpoint_id });
      return { status: 200, json: { id: endpoint_id, secret: fresh } };
    }),
    routes.route(testEndpoint).to(async ({ identity, params: { org_slug: slug, endpoint_id } }) => {
      await requireRole(organizations, identity, slug, 'admin');
      const outcome = await endpoints.test(slug, endpoint_id, clock.now());
      if (outcome === null) throw noEndpoint();
      if (outcome === 'paused') throw isPaused();
      return { status: 202, json: { queued: true, delivery_id: outcome.deliveryId } };
    }),
  ];

  async function makeSecret(endpointId: string) {
    const fresh = generateSecret();
    return { secret: fresh, sealed: await secrets.seal(fresh, sealOwner(endpointId)) };
  }
}

/** @throws HttpProblem 422 at `/url` */
function refuseTarget(target: string, policy: AddressPolicy): void {
  const fault = targetFault(target, policy);
  if (fault !== null) throw validationProblem('body', [{ field: '/url', message: fault }]);
}

function tooManyEndpoints(): HttpProblem {
  return new HttpProblem(
    409,
    'conflict',
    `The organization has ${MAX_ENDPOINTS} webhook endpoints, which is the limit: delete one first.`,
  );
}

function isPaused(): HttpProblem {
  return new HttpProblem(409, 'conflict', 'The webhook endpoint is paused: activate it first (is_active).');
}

function serializeEndpoint(endpoint: WebhookEndpoint): Static<typeof endpointSchema> {
  return { ...serializeCreated(endpoint), consecutive_failures: endpoint.consecutive_failures };
}

function serializeCreated(endpoint: WebhookEndpoint): Omit<Static<typeof createdSchema>, 'secret'> {
  return {
    id: endpoint.id,
    url: endpoint.url,
    name: endpoint.name,
    event_types: [...endpoint.event_types],
    is_active: endpoint.is_active,
    created_at: formatTime(endpoint.created_at),
  };
}
